/* spawn.c - starts one worker.
 *
 *   descriptors: 0 nothing  1 stdout file  2 stderr file  3 its socket  4 its page; no others
 *   environment: the keeper's, overridden by the step's, then by TMPDIR, TIDEMILL_WORKER and
 *                TIDEMILL_KEEPER
 *
 *  (1) All descendants of a worker have its marker in their environment, whatever their session:
 *      deadlines.c recognises them by it. The worker's number makes the markers of one keeper
 *      different. Inside another worker the outer marker follows, so that the outer keeper
 *      recognises its own. Markers begin with the job's directory and the keeper's incarnation, so
 *      that the next keeper, or the supervisor, finds survivors of a killed keeper
 *      (worker_mark.h).
 *  (2) We make a new temp_dir with mode 0700, in a folder that nobody else can enter (temp.c). The
 *      worker makes memory_dir, in such a folder.
 *  (3) The page says START before the process exists, so that a worker that dies at once is known
 *      to have been starting.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/node_own.h"
#include "base/check.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/shared_memory.h"

static bool has_same_name(const char *a, const char *b)
{
  size_t n = strcspn(a, "=");
  return strncmp(a, b, n) == 0 && b[n] == '=';
}

static void set_variable(char **all, size_t *len, char *entry)
{
  size_t i = 0;
  while (i < *len && !has_same_name(entry, all[i]))
    i++;
  if (!strchr(entry, '=')) {
    if (i < *len)
      all[i] = all[--*len];
    return;
  }
  all[i] = entry;
  *len += i == *len;
}

char **tm_keeper_environment(char *const *own, char *const *more, size_t more_len,
                             char *const *last, size_t last_len)
{
  size_t own_len = 0, len = 0;
  while (own[own_len])
    own_len++;
  char **all = tm_xcalloc(own_len + more_len + last_len + 1, sizeof *all);
  for (; len < own_len; len++)
    all[len] = own[len];
  for (size_t i = 0; i < more_len; i++)
    set_variable(all, &len, more[i]);
  for (size_t i = 0; i < last_len; i++)
    set_variable(all, &len, last[i]);
  tm_require(len <= own_len + more_len + last_len);
  all[len] = NULL; /* behind it are some of those that were removed */
  return all;
}

/* Keeps (1). */
char *tm_keeper_marker(const struct tm_node_step *s, const char *name, uint32_t number)
{
  const char *outer = getenv(TM_ENV_WORKER);
  char *mark = tm_incarnation_mark(s->job_dir, &s->incarnation);
  char *marker =
      tm_xprintf("%s%s:%u%s%s", mark, name, number, outer ? "," : "", outer ? outer : "");
  free(mark);
  return marker;
}

char *tm_keeper_launch_marker(const char *job_dir, const struct tm_incarnation *i, bool is_kept,
                              uint32_t number)
{
  const char *outer = getenv(TM_ENV_WORKER);
  char *mark = tm_launch_mark(job_dir, i, is_kept, number);
  char *marker = tm_xprintf("%s%s%s", mark, outer ? "," : "", outer ? outer : "");
  free(mark);
  return marker;
}

/* Keeps (2). First removes leftovers of an earlier worker of this name. */
static int make_temp_dir(struct tm_keeper *k, const struct tm_node_step *s, const char *path,
                         struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  int rc = tm_keeper_base_hold(k, s, path, err);
  if (rc == 0)
    rc = tm_tree_remove_forced(path, err);
  if (rc < 0)
    return rc;
  rc = fs->mkdir(fs->self, path, 0700);
  return rc < 0 ? tm_err_system(err, rc, "cannot make the folder '%s'", path) : 0;
}

/* The job of another machine does not know the path here. To free(). */
static char *program_of(const struct tm_node_step *s)
{
  char *own = s->worker_argv[0][0] ? NULL : tm_process_program();

  return own ? own : tm_xstrdup(s->worker_argv[0]);
}

static pid_t start_process(struct tm_keeper *k, struct tm_keeper_worker *w, int channel, int page,
                           struct tm_err *err)
{
  const struct tm_node_step *s = &w->step->s;
  int fds[] = { -1, tm_keeper_log_open_output(k, w, "stdout"),
                tm_keeper_log_open_output(k, w, "stderr"), channel, page };
  char *visible = tm_keeper_give_gpu(k, w);
  char *last[] = { tm_xprintf("TMPDIR=%s", w->temp_dir), tm_xprintf(TM_ENV_WORKER "=%s", w->marker),
                   tm_xprintf(TM_ENV_KEEPER "=%ld", (long)getpid()),
                   tm_xprintf(TM_ENV_GPU "%s%s", w->gpu ? "=" : "", w->gpu ? w->gpu : ""),
                   visible };
  size_t last_len = TM_COUNT_OF(last) - (last[TM_COUNT_OF(last) - 1] == NULL);
  char **env = tm_keeper_environment(environ, s->environment, s->environment_len, last, last_len);
  char *program = program_of(s), *first = s->worker_argv[0];
  struct tm_spawn spawn = { .program = program,
                            .argv = s->worker_argv,
                            .env = env,
                            .cwd = *s->cwd ? s->cwd : NULL,
                            .fds = fds,
                            .fds_len = TM_COUNT_OF(fds) };
  s->worker_argv[0] = program;
  pid_t pid = make_temp_dir(k, s, w->temp_dir, err) < 0 ? -1 : tm_process_start(&spawn, err);
  s->worker_argv[0] = first;
  free(program);
  free(env);
  for (size_t i = 0; i < TM_COUNT_OF(last); i++)
    free(last[i]);
  tm_fs_close(tm_fs_real(), fds[1]);
  tm_fs_close(tm_fs_real(), fds[2]);
  return pid;
}

int tm_keeper_spawn(struct tm_keeper *k, struct tm_keeper_worker *w, int *fd, struct tm_err *err)
{
  int pair[2] = { -1, -1 }, page = -1;
  tm_require(w->step && w->name && !w->page && w->state == TM_KEEPER_LIVES);
  w->marker = tm_keeper_marker(&w->step->s, w->name, w->number);
  w->temp_dir = tm_xprintf("%s-%s", w->step->s.temp_base, w->name);
  if (*w->step->s.memory_base) {
    w->memory_dir = tm_xprintf("%s-%s", w->step->s.memory_base, w->name);
    tm_tree_remove_forced(w->memory_dir, NULL);
    /* if it cannot be made, the worker does without */
    tm_keeper_base_hold(k, &w->step->s, w->memory_dir, NULL);
  }
  if ((page = tm_shared_memory_new(w->name, sizeof *w->page, err)) < 0)
    goto fail;
  if (!(w->page = tm_shared_memory_map(page, sizeof *w->page, err)) ||
      tm_channel_pair(pair, err) < 0)
    goto fail;
  w->started_ns = tm_clock_mono_ns();
  tm_page_set(w->page, TM_PHASE_START, w->started_ns, 0, 0, 0); /* keeps (3) */
  w->pid = start_process(k, w, pair[1], page, err);
  if (w->pid < 0)
    goto fail;
  tm_fs_close(tm_fs_real(), page);
  tm_fs_close(tm_fs_real(), pair[1]);
  *fd = pair[0];
  tm_keeper_log(w->step, TM_DEBUG, "%s: working directory '%s', folder for temporary files '%s'",
                w->name, w->step->s.cwd, w->temp_dir);
  return 0;
fail:
  tm_tree_remove_forced(w->temp_dir, NULL);
  tm_fs_close(tm_fs_real(), page);
  tm_fs_close(tm_fs_real(), pair[0]);
  tm_fs_close(tm_fs_real(), pair[1]);
  return err->code;
}

void tm_keeper_worker_free(struct tm_keeper_worker *w)
{
  if (!w)
    return;
  tm_shared_memory_unmap(w->page, sizeof *w->page);
  free(w->name);
  free(w->marker);
  free(w->temp_dir);
  free(w->memory_dir);
  free(w->gpu);
  free(w);
}
