/* step_report.c - see step_report.h.
 *
 *   TRY_ENDED -> tries, worker logs, summary, errors      (collected; written at ticks and the end)
 *                log: a new reason why items failed although run() returned
 *   HANDED_OUT -> log, worker logs                        (with logging_level DEBUG alone)
 *   others    -> log, driver log                          (likewise)
 *   TICK      -> overview, progress in the log, what takes long, and all collected text
 *
 *  (1) A successful try costs only two rows of text in memory and some sums.
 *  (2) Files stay open until the report is freed: a message may come after the end of the step,
 *      even of the job.
 *  (3) The row that a worker was started is in its file before any row of its tries.
 */
#include "report/step_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/driver_log.h"
#include "report/launcher_links.h"
#include "report/log.h"
#include "report/overview.h"
#include "report/readme.h"
#include "report/result.h"
#include "report/running.h"
#include "report/summary.h"
#include "report/tries.h"
#include "report/worker_lives.h"
#include "report/worker_logs.h"

#define PROGRESS_NS   (10 * TM_S)
#define CAUSES_LOGGED 20 /* of a step, when it ends */

struct tm_step_report {
  const struct tm_fs *fs;
  tm_on_note note;
  void *data;
  char *logs_dir;
  bool has_lost_logs; /* their folder was removed, which has been reported */
  struct tm_tries tries;
  struct tm_worker_lives lives;
  struct tm_worker_logs workers;
  struct tm_launcher_links launchers;
  struct tm_running running;
  struct tm_summary summary;
  struct tm_log log;
  struct tm_driver_log driver;
  struct tm_overview overview;
  struct tm_errors errors;
  struct tm_progress progress;
  int64_t begin_ns, logged_ns; /* monotonic; the last line about the progress */
  int64_t created;             /* mini-batches; the last line about them */
  bool has_logged_all;         /* that all of them are created */
  bool is_ended;
  struct tm_err err; /* for what happens with each mini-batch: clearing one would cost too much */
};

/* Reports a failed call of the modules: once for all logs if their folder was removed. */
static void note_failure(struct tm_step_report *s, const struct tm_err *err)
{
  struct tm_err lost = TM_ERR_NONE;
  if (err->code != -ENOENT || tm_fs_exists(s->fs, s->logs_dir)) {
    s->note(s->data, err);
  } else if (!s->has_lost_logs) {
    tm_err_set(&lost, -ENOENT, "'%s' was removed or renamed while the job ran", s->logs_dir);
    s->has_lost_logs = true;
    s->note(s->data, &lost);
  }
}

/* Apart from note_failure(), which clears an error: this is called several times per mini-batch. */
static inline void note(struct tm_step_report *s, int rc, const struct tm_err *err)
{
  if (rc < 0)
    note_failure(s, err);
}

/* While this session runs, the result of an earlier one would be taken for its result. */
static int remove_result(const struct tm_fs *fs, const char *logs_dir, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "job_result.txt");
  int rc = fs->unlink(fs->self, path);
  rc = rc == -ENOENT ? 0 : rc;
  if (rc < 0)
    tm_err_system(err, rc, "cannot remove '%s'", path);
  free(path);
  return rc;
}

/* Logs make only the folder that they lie in: the logs of a job whose folder is removed must not
 * bring it back. */
static int make_folders(const struct tm_fs *fs, const char *logs_dir, struct tm_err *err)
{
  char *path = tm_path_join(logs_dir, "sys/node");
  int rc = tm_fs_make_dirs(fs, path, 0700, err);
  free(path);
  return rc;
}

struct tm_step_report *tm_step_report_new(const struct tm_fs *fs, const struct tm_event *e,
                                          const struct tm_step_view *step, tm_on_note on_note,
                                          void *data)
{
  struct tm_step_report *s = TM_NEW(struct tm_step_report);
  struct tm_err err = TM_ERR_NONE;
  const char *dir = step->logs_dir;
  *s = (struct tm_step_report) {
    .fs = fs, .note = on_note, .data = data, .logs_dir = tm_xstrdup(dir)
  };
  note(s, make_folders(fs, dir, &err), &err);
  note(s, remove_result(fs, dir, &err), &err);
  note(s, tm_tries_open(&s->tries, fs, dir, &err), &err);
  note(s, tm_worker_lives_open(&s->lives, fs, dir, &err), &err);
  note(s, tm_log_open(&s->log, fs, dir, step->logging_level, &err), &err);
  note(s, tm_summary_init(&s->summary, fs, dir, e->mono_ns, &err), &err);
  note(s, tm_driver_log_open(&s->driver, fs, e, step, &err), &err);
  note(s, tm_overview_open(&s->overview, fs, e, step, &err), &err);
  note(s, tm_readme_write(fs, dir, &err), &err);
  tm_worker_logs_init(&s->workers, fs, dir);
  tm_launcher_links_init(&s->launchers, fs, dir);
  note(s, tm_running_init(&s->running, fs, dir, &err), &err);
  tm_errors_init(&s->errors, fs, dir);
  tm_errors_set_job(&s->errors, e->job->dir, e->job->steps_len > 1 ? step->name : NULL);
  tm_progress_init(&s->progress, step->name);
  tm_progress_sample(&s->progress, &step->counts, e->mono_ns);
  s->begin_ns = s->logged_ns = e->mono_ns;
  s->workers.level = step->logging_level;
  return s;
}

void tm_step_report_free(struct tm_step_report *s)
{
  struct tm_err err = TM_ERR_NONE;
  if (!s)
    return;
  note(s, tm_tries_close(&s->tries, &err), &err);
  note(s, tm_worker_lives_close(&s->lives, &err), &err);
  note(s, tm_worker_logs_close(&s->workers, &err), &err);
  tm_launcher_links_release(&s->launchers);
  note(s, tm_log_close(&s->log, &err), &err);
  note(s, tm_driver_log_close(&s->driver, &err), &err);
  note(s, tm_overview_close(&s->overview, &err), &err);
  note(s, tm_running_close(&s->running, &err), &err);
  tm_summary_release(&s->summary);
  tm_errors_release(&s->errors);
  free(s->logs_dir);
  free(s);
}

static void flush(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_err err = TM_ERR_NONE;
  note(s, tm_worker_lives_flush(&s->lives, &err), &err); /* keeps (3) */
  note(s, tm_tries_flush(&s->tries, &err), &err);
  note(s, tm_worker_logs_flush(&s->workers, &err), &err);
  note(s, tm_log_flush(&s->log, &err), &err);
  note(s, tm_driver_log_flush(&s->driver, &err), &err);
  note(s, tm_errors_write(&s->errors, e->wall_ns, e->mono_ns, s->is_ended, &err), &err);
  note(s, tm_summary_write(&s->summary, e->mono_ns, s->is_ended, &err), &err);
}

/* Events. */

/* Logs a new reason; all of them follow at the end. */
static void log_try(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_printf(&text, "mini-batch %" PRIu64 ", try %" PRIu32 ": %s", e->attempt->index,
                e->attempt->try, e->attempt->message);
  tm_log_add(&s->log, e->wall_ns, TM_WARNING, text.data);
  tm_buf_release(&text);
}

static void log_causes(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_buf text = TM_BUF_NONE;
  int left = CAUSES_LOGGED;
  for (size_t i = 0; i < s->errors.list.len && left > 0; i++) {
    const struct tm_error *error = &s->errors.list.at[i];
    if (!error->is_items)
      continue;
    tm_buf_clear(&text);
    tm_text_grouped(&text, error->count);
    tm_buf_printf(&text, " %s failed although run() returned: %s; ",
                  tm_text_counted(error->count, "item", "items"), error->message);
    tm_error_add_first(&text, error);
    tm_log_add(&s->log, e->wall_ns, TM_WARNING, text.data);
    left--;
  }
  tm_buf_release(&text);
}

/* Adds the reasons why items failed although run() returned. */
static bool add_causes(struct tm_step_report *s, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  bool is_new = false;
  for (size_t i = 0; i < a->causes_len; i++)
    is_new = tm_errors_add_cause(&s->errors, e, &a->causes[i]) || is_new;
  if (is_new)
    log_try(s, e);
  return is_new;
}

static bool add_try(struct tm_step_report *s, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  struct tm_err *err = &s->err;
  note(s, tm_tries_add(&s->tries, e, err), err); /* keeps (1) */
  note(s, tm_worker_logs_add(&s->workers, e, err), err);
  if (s->log.level == TM_DEBUG)
    note(s, tm_log_add_event(&s->log, e, err), err);
  tm_summary_add(&s->summary, e);
  if (a->causes_len > 0)
    return add_causes(s, e);
  return a->status != TM_RUN_DONE && a->status != TM_CANCELED && tm_errors_add(&s->errors, e);
}

static void add_ended(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_result_add_step(&text, e->step, &s->errors, 0);
  tm_buf_add_str(&text, "\nended ");
  tm_time_log(&text, e->wall_ns);
  tm_buf_add_str(&text, " UTC, after ");
  tm_time_duration(&text, e->mono_ns - s->begin_ns);
  tm_buf_add_str(&text, e->job->is_resumed ? ", of a job that was resumed\n" : "\n");
  tm_result_add_start(&text, e->step, &s->errors);

  char *path = tm_path_join(e->step->logs_dir, "job_result.txt");
  struct tm_err err = TM_ERR_NONE;
  s->is_ended = true;
  note(s, tm_running_close(&s->running, &err), &err);
  s->progress.slow[0] = s->progress.nodes[0] = '\0';
  tm_driver_log_add(&s->driver, e);
  flush(s, e);
  tm_progress_sample(&s->progress, &e->step->counts, e->mono_ns);
  note(s, tm_overview_end(&s->overview, e, &s->progress, &text, &err), &err);
  note(s, tm_log_replace(s->fs, path, &text, &err), &err);
  tm_buf_release(&text);
  free(path);
}

/* How many mini-batches there are: once when all are created, and at DEBUG meanwhile. */
static void log_created(struct tm_step_report *s, const struct tm_event *e,
                        const struct tm_step_view *step)
{
  const struct tm_counts *c = &step->counts;
  struct tm_buf text = TM_BUF_NONE;
  if (s->has_logged_all || step->is_kept ||
      (!c->all_created && (s->log.level > TM_DEBUG || c->created == s->created)))
    return;
  s->created = c->created;
  s->has_logged_all = c->all_created;
  if (c->all_created)
    tm_buf_add_str(&text, "all mini-batches have been created: ");
  tm_text_grouped(&text, c->created);
  if (!c->all_created)
    tm_buf_printf(&text, " %s been created so far",
                  tm_text_counted(c->created, "mini-batch has", "mini-batches have"));
  if (c->items_created > 0) { /* rows of tables are counted by workers */
    tm_buf_add_str(&text, ", with ");
    tm_text_count(&text, c->items_created, tm_text_counted(c->items_created, " item", " items"));
  }
  tm_log_add(&s->log, e->wall_ns, c->all_created ? TM_INFO : TM_DEBUG, text.data);
  tm_buf_release(&text);
}

static void add_handed(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_err *err = &s->err;
  note(s, tm_log_add_event(&s->log, e, err), err);
  note(s, tm_worker_logs_add_handed(&s->workers, e, err), err);
}

static bool add_other(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_err err = TM_ERR_NONE;
  if (e->kind == TM_EVENT_STEP_ENDED) {
    log_created(s, e, e->step);
    log_causes(s, e);
  }
  note(s, tm_log_add_event(&s->log, e, &err), &err);
  tm_worker_lives_add(&s->lives, e);
  tm_summary_add_life(&s->summary, e);
  if (e->kind == TM_EVENT_NODE && e->node_change == TM_NODE_IS_LOST)
    note(s, tm_launcher_links_add(&s->launchers, e, &err), &err);
  switch (e->kind) {
  case TM_EVENT_INIT_FAILED:
    if (e->attempt)
      note(s, tm_tries_add(&s->tries, e, &err), &err);
    return tm_errors_add(&s->errors, e);
  case TM_EVENT_SHUTDOWN_FAILED: return tm_errors_add(&s->errors, e);
  case TM_EVENT_WORKER_STARTED:
    note(s, tm_worker_lives_flush(&s->lives, &err), &err); /* keeps (3) */
    note(s, tm_launcher_links_add(&s->launchers, e, &err), &err);
    break;
  case TM_EVENT_WORKER_ENDED:
    note(s, tm_worker_logs_end(&s->workers, e->worker, &err), &err);
    break;
  case TM_EVENT_STEP_ENDED: add_ended(s, e); break;
  case TM_EVENT_NODE:
  case TM_EVENT_MESSAGE:
    if (!e->step && !e->is_for_logs)
      tm_driver_log_add(&s->driver, e);
    if (s->is_ended)
      flush(s, e);
    break;
  default: break;
  }
  return false;
}

bool tm_step_report_add(struct tm_step_report *s, const struct tm_event *e)
{
  if (e->kind == TM_EVENT_TRY_ENDED)
    return add_try(s, e);
  if (e->kind != TM_EVENT_HANDED_OUT)
    return add_other(s, e);
  add_handed(s, e);
  return false;
}

static void log_progress(struct tm_step_report *s, const struct tm_event *e)
{
  struct tm_buf text = TM_BUF_NONE;
  if (e->mono_ns - s->logged_ns < PROGRESS_NS)
    return;
  s->logged_ns = e->mono_ns;
  tm_progress_add_line(&text, &s->progress);
  tm_log_add(&s->log, e->wall_ns, TM_INFO, text.data);
  tm_buf_release(&text);
}

/* The nodes that commands have started for it; NULL: they start none. */
static const struct tm_nodes_now *nodes_of(const struct tm_event *e,
                                           const struct tm_step_view *step)
{
  return e->job->nodes ? &e->job->nodes->now_of_steps[step->number] : NULL;
}

/* What takes long. */
static void add_activities(struct tm_step_report *s, const struct tm_event *e,
                           const struct tm_step_view *step)
{
  struct tm_err err = TM_ERR_NONE;
  if (!step->activities)
    return;
  note(s, tm_worker_logs_tick(&s->workers, e, step->activities, &err), &err);
  note(s, tm_running_tick(&s->running, e, step->activities, nodes_of(e, step), &err), &err);
}

void tm_step_report_tick(struct tm_step_report *s, const struct tm_event *e,
                         const struct tm_step_view *step)
{
  struct tm_err err = TM_ERR_NONE;
  if (s->is_ended)
    return;
  tm_progress_sample(&s->progress, &step->counts, e->mono_ns);
  tm_progress_set_slow(&s->progress, &step, 1);
  tm_progress_set_nodes(&s->progress, nodes_of(e, step));
  add_activities(s, e, step);
  log_created(s, e, step);
  log_progress(s, e);
  note(s, tm_overview_tick(&s->overview, e, step, &s->progress, &err), &err);
  flush(s, e);
}

const struct tm_errors *tm_step_report_errors(const struct tm_step_report *s)
{
  return s ? &s->errors : NULL;
}
