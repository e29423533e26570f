/* log.c - see log.h.
 *
 * Single tries are logged here only at DEBUG: there may be millions, and each has its row in
 * processed_mini-batches.csv and, if it failed, its place in user/error.txt. Lines are written at
 * each tick, so that readers who follow the file see them soon.
 */
#include "report/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/result.h"

int tm_log_open(struct tm_log *l, const struct tm_fs *fs, const char *logs_dir, enum tm_level level,
                struct tm_err *err)
{
  tm_require(logs_dir);
  char *path = tm_path_join(logs_dir, "sys/master_role.txt");
  int rc;
  *l = (struct tm_log) { .fs = fs, .pid = getpid(), .level = level };
  l->system_path = tm_path_join(logs_dir, "sys/error/supervisor.txt");
  rc = tm_log_file_open(&l->master, fs, path, err);
  free(path);
  return rc;
}

int tm_log_close(struct tm_log *l, struct tm_err *err)
{
  int system = tm_log_file_close(&l->system, err);
  int master = tm_log_file_close(&l->master, err);
  free(l->system_path);
  l->system_path = NULL;
  return master < 0 ? master : system;
}

void tm_log_add(struct tm_log *l, int64_t wall_ns, enum tm_level level, const char *message)
{
  tm_require(message);
  if (level >= l->level)
    tm_log_add_line(&l->master.text, wall_ns, level, l->pid, "supervisor", message);
}

static int add_system(struct tm_log *l, const struct tm_event *e, struct tm_err *err)
{
  int rc = l->system.path ? 0 : tm_log_file_open(&l->system, l->fs, l->system_path, err);
  tm_log_add_line(&l->system.text, e->wall_ns, e->level, l->pid, "supervisor", e->text);
  return rc;
}

static void add_begin(struct tm_buf *text, const struct tm_event *e)
{
  const struct tm_step_view *s = e->step;
  tm_buf_printf(text, "step '%s' %s: script '%s', ", s->name,
                s->is_kept           ? "is kept, nothing is run"
                : e->job->is_resumed ? "continues"
                                     : "starts",
                s->script_name);
  tm_step_view_add_workers(text, s);
}

static void add_end(struct tm_buf *text, const struct tm_step_view *s)
{
  const struct tm_counts *c = &s->counts;
  tm_buf_printf(text,
                "step '%s' is %s: %" PRId64 " %s, %" PRId64 " succeeded, %" PRId64
                " failed; %" PRId64 " %s, %" PRId64 " succeeded, %" PRId64 " failed",
                s->name, tm_verdict_name(s->verdict), c->created,
                tm_text_counted(c->created, "mini-batch", "mini-batches"), c->succeeded, c->failed,
                c->items, tm_text_counted(c->items, "item", "items"), c->items_succeeded,
                c->items_failed);
  tm_result_add_uncounted(text, c->uncounted);
  if (c->errors + c->timeouts + c->lost > 0) {
    tm_buf_add_str(text, "; failed tries: ");
    tm_result_add_tries(text, c);
  }
  if (*s->cause)
    tm_buf_printf(text, "; cause: %s", s->cause);
}

static void add_worker(struct tm_buf *text, const struct tm_event *e)
{
  tm_buf_printf(text, "%s (node %s, pid %" PRId64 ") ", e->worker, e->node_id, e->pid);
  switch (e->kind) {
  case TM_EVENT_WORKER_STARTED: tm_buf_add_str(text, "started"); break;
  case TM_EVENT_WORKER_READY: tm_buf_add_str(text, "is ready"); break;
  case TM_EVENT_INIT_FAILED:
  case TM_EVENT_SHUTDOWN_FAILED:
    tm_buf_printf(text, "%s failed: %s%s%s", tm_event_failed(e), e->script_where,
                  *e->script_where ? ": " : "", e->message);
    break;
  default: tm_buf_printf(text, "ended: %s", e->text); break;
  }
}

static void add_mini_batch(struct tm_buf *text, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  tm_buf_printf(text, "mini-batch %" PRIu64 ", try %" PRIu32, a->index, a->try);
  if (a->part_first > 0)
    tm_buf_printf(text, ", its items from %" PRId64 " on", a->part_first);
  if (e->kind == TM_EVENT_HANDED_OUT) {
    tm_buf_printf(text, ": handed to %s, ", e->worker);
    tm_attempt_add_input(text, a);
    return;
  }
  tm_buf_printf(text, ": %s, by %s in %.3f s: ", tm_status_name(a->status), e->worker,
                (double)a->total_ns / (double)TM_S);
  if (a->is_uncounted)
    tm_buf_add_str(text, "its rows were not counted, ");
  else
    tm_buf_printf(text, "%" PRId64 " %s, ", a->items, tm_text_counted(a->items, "item", "items"));
  tm_buf_printf(text, "%" PRId64 " succeeded, %" PRId64 " failed", a->succeeded, a->failed);
  int64_t left = tm_attempt_left(a);
  if (left > 0)
    tm_buf_printf(text, ", %" PRId64 " to be tried again", left);
}

static enum tm_level level_of(const struct tm_event *e)
{
  switch (e->kind) {
  case TM_EVENT_WORKER_ENDED:
  case TM_EVENT_NODE:
  case TM_EVENT_MESSAGE: return e->level;
  case TM_EVENT_INIT_FAILED: return TM_ERROR;
  case TM_EVENT_SHUTDOWN_FAILED: return TM_WARNING;
  case TM_EVENT_HANDED_OUT:
  case TM_EVENT_TRY_ENDED: return TM_DEBUG;
  case TM_EVENT_STEP_ENDED: return e->step->verdict == TM_FAILED ? TM_ERROR : TM_INFO;
  default: return TM_INFO;
  }
}

int tm_log_add_event(struct tm_log *l, const struct tm_event *e, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = 0;
  switch (e->kind) {
  case TM_EVENT_STEP_STARTED: add_begin(&text, e); break;
  case TM_EVENT_STEP_ENDED: add_end(&text, e->step); break;
  case TM_EVENT_WORKER_STARTED:
  case TM_EVENT_WORKER_READY:
  case TM_EVENT_WORKER_ENDED:
  case TM_EVENT_INIT_FAILED:
  case TM_EVENT_SHUTDOWN_FAILED: add_worker(&text, e); break;
  case TM_EVENT_HANDED_OUT:
  case TM_EVENT_TRY_ENDED: add_mini_batch(&text, e); break;
  case TM_EVENT_NODE:
  case TM_EVENT_MESSAGE:
    tm_buf_add_str(&text, e->text);
    if (e->level >= TM_ERROR)
      rc = add_system(l, e, err);
    break;
  default: break;
  }
  if (text.len > 0)
    tm_log_add(l, e->wall_ns, level_of(e), text.data);
  tm_buf_release(&text);
  return rc;
}

int tm_log_flush(struct tm_log *l, struct tm_err *err)
{
  int system = tm_log_file_flush(&l->system, err);
  int master = tm_log_file_flush(&l->master, err);
  return master < 0 ? master : system;
}
