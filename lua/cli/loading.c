/* loading.c - see loading.h.
 *
 * A thread waits for the limit. An alarm would interrupt system calls of the file. An exit handler
 * cannot be removed, so its data live until the end, and say whether a file is running.
 */
#include "cli/loading.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "cli/cli.h"

#define LIMIT_S 10

struct tm_loading {
  char *what;      /* NULL: the file has ended */
  const char *yet; /* what has not happened: "there is no job" */
  pthread_mutex_t lock;
  pthread_cond_t ended;
  pthread_t thread;
  bool has_thread;
};

static void on_exit_within(int status, void *data)
{
  struct tm_loading *l = data;
  if (!l->what) {
    free(l); /* an exit handler cannot be taken back, so it lives until here */
    return;
  }
  fflush(stdout);
  tm_cli_say(
      "%s ended the program with status %d (os.exit), and %s; a pipeline file ends with: return "
      "tidemill.Pipeline { name = ..., steps = { ... } }",
      l->what, status, l->yet);
}

static void *watch(void *data)
{
  struct tm_loading *l = data;
  struct timespec until;
  int rc = 0;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += LIMIT_S;
  pthread_mutex_lock(&l->lock);
  while (l->what && rc == 0)
    rc = pthread_cond_timedwait(&l->ended, &l->lock, &until);
  if (l->what)
    tm_cli_say("%s has been running for %d s, and %s yet: does it loop, or wait? Ctrl-C ends it",
               l->what, LIMIT_S, l->yet);
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

/* Without a thread there is only no message. */
static void start_thread(struct tm_loading *l)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  l->has_thread = pthread_create(&l->thread, NULL, watch, l) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct tm_loading *tm_loading_begin(const char *file, const char *yet)
{
  struct tm_loading *l = TM_NEW(struct tm_loading);
  pthread_condattr_t attributes;
  l->what = tm_xprintf("'%s'", file);
  l->yet = yet;
  pthread_mutex_init(&l->lock, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&l->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  on_exit(on_exit_within, l);
  start_thread(l);
  return l;
}

void tm_loading_end(struct tm_loading *l)
{
  if (!l)
    return;
  char *what = l->what;
  pthread_mutex_lock(&l->lock);
  l->what = NULL;
  pthread_cond_signal(&l->ended);
  pthread_mutex_unlock(&l->lock);
  if (l->has_thread)
    pthread_join(l->thread, NULL);
  pthread_cond_destroy(&l->ended);
  pthread_mutex_destroy(&l->lock);
  free(what);
}

int tm_loading_file(struct tidemill_pipeline **out, struct tidemill_runtime *rt, const char *file,
                    struct tm_err *err)
{
  struct tm_loading *l = tm_loading_begin(file, "there is no job");
  int rc = tidemill_pipeline_load(out, rt, file, err);
  tm_loading_end(l);
  return rc;
}

int tm_loading_job(const struct tm_cli *cli, struct tidemill_pipeline **out,
                   struct tidemill_runtime *rt, const char *job, struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE; /* loading the job reports the same error */
  struct tidemill_record *record = NULL;
  struct tm_loading *l = NULL;
  if (tm_cli_open_record(cli, &record, job, &unheard) >= 0 && *tidemill_record_info(record)->file)
    l = tm_loading_begin(tidemill_record_info(record)->file, "the job has not been resumed");
  int rc = tidemill_pipeline_load_job(out, rt, job, err);
  tm_loading_end(l);
  tidemill_record_close(record);
  return rc;
}
