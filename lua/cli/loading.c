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
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/terminal/signals.h"

#define LIMIT_S 10

struct tm_loading {
  char *what;      /* NULL: the file has ended */
  const char *yet; /* what has not happened: "there is no job" */
  enum tm_loading_kind kind;
  pthread_mutex_t lock;
  pthread_cond_t ended;
  pthread_t thread;
  bool has_thread;
  volatile bool has_said; /* that it runs for long */
  char *interrupted;      /* the words after Ctrl-C: a handler cannot make them */
};

static const char *const endings[] = {
  [TM_LOADING_PIPELINE] = "a pipeline file ends with: return tidemill.Pipeline { name = ..., steps "
                          "= { ... } }",
  [TM_LOADING_PARAMETERS] = "a file of parameters ends with: return { NAME = VALUE }",
};

static void on_exit_within(int status, void *data)
{
  struct tm_loading *l = data;
  if (!l->what) {
    free(l); /* an exit handler cannot be taken back, so it lives until here */
    return;
  }
  fflush(stdout);
  tm_cli_say("%s ended the program with status %d (os.exit), and %s; %s", l->what, status, l->yet,
             endings[l->kind]);
  if (status == 0)
    _exit(2);
}

static void on_ctrl_c(int signal, void *data)
{
  const struct tm_loading *l = data;
  if (!l->has_said)
    (void)!write(STDERR_FILENO, l->interrupted, strlen(l->interrupted));
  tm_signals_surrender(SIGINT);
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
  if (l->what) {
    l->has_said = true;
    tm_cli_say("%s has been running for %d s, and %s yet: does it loop, or wait? Ctrl-C ends it",
               l->what, LIMIT_S, l->yet);
  }
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

struct tm_loading *tm_loading_begin(enum tm_loading_kind kind, const char *file, const char *yet)
{
  struct tm_loading *l = TM_NEW(struct tm_loading);
  pthread_condattr_t attributes;
  l->what = tm_xprintf("'%s'", file);
  l->yet = yet;
  l->kind = kind;
  pthread_mutex_init(&l->lock, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&l->ended, &attributes);
  pthread_condattr_destroy(&attributes);
  on_exit(on_exit_within, l);
  l->interrupted = tm_xprintf("tidemill: interrupted while %s ran, and %s\n", l->what, yet);
  if (!tm_signals_is_ignored(SIGINT))
    tm_signals_catch(SIGINT, on_ctrl_c, l);
  start_thread(l);
  return l;
}

struct tm_loading *tm_loading_begin_job(const struct tm_cli *cli, const char *job, const char *yet)
{
  struct tm_err unheard = TM_ERR_NONE; /* loading the job reports the same error */
  struct tidemill_record *record = NULL;
  struct tm_loading *l = NULL;
  if (tm_cli_open_record(cli, &record, job, &unheard) >= 0 && *tidemill_record_info(record)->file)
    l = tm_loading_begin(TM_LOADING_PIPELINE, tidemill_record_info(record)->file, yet);
  tidemill_record_close(record);
  return l;
}

void tm_loading_end(struct tm_loading *l)
{
  if (!l)
    return;
  char *what = l->what;
  tm_require(what); /* it ends once */
  tm_signals_release();
  pthread_mutex_lock(&l->lock);
  l->what = NULL;
  pthread_cond_signal(&l->ended);
  pthread_mutex_unlock(&l->lock);
  if (l->has_thread)
    pthread_join(l->thread, NULL);
  pthread_cond_destroy(&l->ended);
  pthread_mutex_destroy(&l->lock);
  free(l->interrupted);
  free(what);
}

int tm_loading_file(struct tidemill_pipeline **out, struct tidemill_runtime *rt, const char *file,
                    struct tm_err *err)
{
  struct tm_loading *l = tm_loading_begin(TM_LOADING_PIPELINE, file, "there is no job");
  int rc = tidemill_pipeline_load(out, rt, file, err);
  tm_loading_end(l);
  return rc;
}

int tm_loading_job(const struct tm_cli *cli, struct tidemill_pipeline **out,
                   struct tidemill_runtime *rt, const char *job, struct tm_err *err)
{
  struct tm_loading *l = tm_loading_begin_job(cli, job, "the job has not been resumed");
  int rc = tidemill_pipeline_load_job(out, rt, job, err);
  tm_loading_end(l);
  return rc;
}
