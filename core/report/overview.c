/* overview.c - see overview.h.
 *
 * The clock is that of the events: it decides the day, and when ten seconds have passed. Lines are
 * written at once: one per ten seconds costs nothing, and readers who follow the file see them
 * immediately.
 */
#include "report/overview.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "report/result.h"

#define LINE_NS (10 * TM_S)
#define DAY_NS  (24 * 3600 * TM_S)
#define DATE    8 /* bytes: 20260131 */

static const char prefix[] = "job_progress_overview.";

/* The newest file of a day: "job_progress_overview.20260131-235958.txt". */
struct newest {
  char stamp[16]; /* 20260131-235958, or only the day */
  bool is_found;
};

static int on_name(void *data, const char *name, int type)
{
  struct newest *n = data;
  size_t at = sizeof(prefix) - 1, len = sizeof(n->stamp) - 1;
  (void)type;
  if (strncmp(name, prefix, at) != 0 || strlen(name) != at + len + 4 ||
      strcmp(name + at + len, ".txt") != 0 || memcmp(name + at, n->stamp, DATE) != 0)
    return 0;
  if (!n->is_found || memcmp(name + at, n->stamp, len) > 0)
    memcpy(n->stamp, name + at, len);
  n->is_found = true;
  return 0;
}

/* An existing name is used again on its day. */
static char *find_name(const char *logs_dir, int64_t wall_ns)
{
  struct newest n = { .is_found = false };
  struct tm_buf stamp = TM_BUF_NONE;
  tm_time_compact(&stamp, wall_ns);
  memcpy(n.stamp, stamp.data, sizeof(n.stamp) - 1);
  (void)tm_dir_read(logs_dir, on_name, &n); /* missing in a new job */
  tm_buf_release(&stamp);
  return tm_xprintf("%s%s.txt", prefix, n.stamp);
}

/* Points job_progress_overview.txt to `name`; by a rename, so that it exists all the time. */
static int link_newest(const struct tm_overview *v, const char *name, struct tm_err *err)
{
  const struct tm_fs *fs = v->fs;
  char *path = tm_path_join(v->logs_dir, "job_progress_overview.txt");
  char *tmp = tm_xprintf("%s.tmp", path);
  int rc;
  (void)fs->unlink(fs->self, tmp);
  rc = fs->symlink(fs->self, name, tmp);
  if (rc >= 0)
    rc = fs->rename(fs->self, tmp, path);
  if (rc < 0)
    tm_err_system(err, rc, "cannot link '%s'", path);
  free(path);
  free(tmp);
  return rc < 0 ? rc : 0;
}

static void add(struct tm_overview *v, const struct tm_event *e, enum tm_level level,
                const char *text)
{
  if (level >= v->level)
    tm_log_add_line(&v->file.text, e->wall_ns, level, v->pid, "supervisor", text);
}

/* The numbers behind the sentence, for DEBUG. */
static void add_counts(struct tm_overview *v, const struct tm_event *e, const struct tm_counts *c)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_printf(&text,
                "mini-batches: %" PRId64 " created%s, %" PRId64 " waiting, %" PRId64
                " at workers, %" PRId64 " succeeded, %" PRId64 " failed; failed tries: ",
                c->created, c->all_created ? " in all" : " so far",
                c->created - c->running - c->succeeded - c->failed, c->running, c->succeeded,
                c->failed);
  tm_result_add_tries(&text, c);
  add(v, e, TM_DEBUG, text.data);
  tm_buf_release(&text);
}

static void add_first(struct tm_overview *v, const struct tm_event *e,
                      const struct tm_step_view *step, const char *words)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_printf(&text, "step '%s' of '%s' %s; job: %s", step->name, e->job->name, words,
                e->job->dir);
  add(v, e, TM_INFO, text.data);
  tm_buf_release(&text);
}

static int open_file(struct tm_overview *v, const struct tm_event *e,
                     const struct tm_step_view *step, const char *words, struct tm_err *err)
{
  char *name = find_name(v->logs_dir, e->wall_ns);
  char *path = tm_path_join(v->logs_dir, name);
  int rc = tm_log_file_open(&v->file, v->fs, path, err);
  v->day = e->wall_ns / DAY_NS;
  add_first(v, e, step, words);
  if (rc == 0)
    rc = tm_log_file_flush(&v->file, err);
  if (rc == 0)
    rc = link_newest(v, name, err);
  free(path);
  free(name);
  return rc;
}

int tm_overview_open(struct tm_overview *v, const struct tm_fs *fs, const struct tm_event *e,
                     const struct tm_step_view *step, struct tm_err *err)
{
  tm_require(step && step->logs_dir);
  *v = (struct tm_overview) { .fs = fs,
                              .logs_dir = tm_xstrdup(step->logs_dir),
                              .logged_ns = e->mono_ns,
                              .pid = getpid(),
                              .level = step->logging_level };
  return open_file(v, e, step, e->job->is_resumed ? "continues" : "starts", err);
}

static int turn(struct tm_overview *v, const struct tm_event *e, const struct tm_step_view *step,
                struct tm_err *err)
{
  int rc = tm_log_file_close(&v->file, err);
  int opened = open_file(v, e, step, "continues from the day before", rc < 0 ? NULL : err);
  return rc < 0 ? rc : opened;
}

int tm_overview_tick(struct tm_overview *v, const struct tm_event *e,
                     const struct tm_step_view *step, const struct tm_progress *p,
                     struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = 0, flushed;
  if (!v->logs_dir || e->mono_ns - v->logged_ns < LINE_NS)
    return 0;
  v->logged_ns = e->mono_ns;
  if (e->wall_ns / DAY_NS > v->day) /* after a clock was set back, the file stays */
    rc = turn(v, e, step, err);
  tm_progress_add_overview(&text, p);
  add(v, e, TM_INFO, text.data);
  add_counts(v, e, &step->counts);
  flushed = tm_log_file_flush(&v->file, rc < 0 ? NULL : err);
  tm_buf_release(&text);
  return rc < 0 ? rc : flushed;
}

int tm_overview_end(struct tm_overview *v, const struct tm_event *e, const struct tm_progress *p,
                    const struct tm_buf *result, struct tm_err *err)
{
  tm_require(e->step && v->logs_dir);
  struct tm_buf line = TM_BUF_NONE;
  const char *at = tm_buf_str(result);
  enum tm_level level = e->step->verdict == TM_FAILED ? TM_ERROR : TM_INFO;
  tm_progress_add_overview(&line, p);
  add(v, e, TM_INFO, line.data);
  add_counts(v, e, &e->step->counts);
  while (*at) {
    size_t n = strcspn(at, "\n");
    tm_buf_clear(&line);
    tm_buf_add(&line, at, n);
    if (n > 0)
      add(v, e, level, line.data);
    at += n + (at[n] == '\n');
  }
  tm_buf_release(&line);
  return tm_log_file_flush(&v->file, err);
}

int tm_overview_close(struct tm_overview *v, struct tm_err *err)
{
  int rc = tm_log_file_close(&v->file, err);
  free(v->logs_dir);
  v->logs_dir = NULL;
  return rc;
}
