/* job.c - see job.h.
 *
 * Opening goes: directory (job_dir.c), definition (new: scripts are copied, then job.json is renamed into place; resumed: it is
 * compared with what was asked now), one supervisor per step, each of which recovers its own commit. Nothing runs before
 * start. A keeper is started when a step has something to do, and replaced when it is lost. The result is written last.
 */
#include "run/job.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "plan/registered.h"
#include "run/definition.h"
#include "run/job_dir.h"
#include "run/job_record.h"
#include "run/recheck.h"
#include "run/registering.h"
#include "run/supervisor.h"
#include "run/takeover.h"
#include "sys/clock.h"
#include "sys/process.h"

#define FDS_OF_JOB    24 /* the loop, the node, locks, what is open for a moment */
#define FDS_OF_STEP   16
#define FDS_OF_WORKER 3
#define TICK_NS       (100 * TM_MS)
#define AGAIN_NS      (500 * TM_MS) /* a second Ctrl-C that comes sooner is the first one, bouncing */

struct tm_job {
  struct tm_job_options o;
  struct tm_job_dir dir;
  struct tm_job_view view;
  struct tm_snapshot *snapshots; /* by step */
  struct tm_supervisor **steps;
  const struct tm_step_view **step_views;
  size_t steps_len, steps_ended;
  struct tm_node *node;
  struct tm_timer tick;
  struct tm_json *earlier;       /* result of a job that is Completed already */
  struct tm_recheck *recheck;    /* while the inputs of that are compared */
  bool is_refused;               /* they are others: nothing has been done */
  struct TM_ARRAY(char *) notes; /* said when the job starts */
  int64_t canceled_ns;           /* monotonic; 0: not */
  bool is_started, is_ended;
  int code;
  struct tm_err cause;
};

__attribute__((format(printf, 2, 3))) static void note(struct tm_job *job, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  *TM_ARRAY_ADD(&job->notes) = tm_buf_take(&text);
}

static void emit(struct tm_job *job, enum tm_event_kind kind, enum tm_level level, const char *text)
{
  struct tm_event e = { .kind = kind,
                        .level = level,
                        .text = text,
                        .wall_ns = tm_clock_wall_ns(),
                        .mono_ns = tm_clock_mono_ns(),
                        .job = &job->view };

  tm_events_emit(job->o.events, &e);
}

/* Opening. */

static int check_state(const struct tm_job *job, enum tm_job_dir_state state, struct tm_err *err)
{
  const char *dir = job->o.dir;

  if (state == TM_JOB_DIR_UNKNOWN)
    return err->code;
  if (state == TM_JOB_DIR_FOREIGN)
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is not empty and holds no job; name an empty or a new directory", dir);
  if (state == TM_JOB_DIR_JOB && !job->o.resume)
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' holds a job already; go on with it: --resume; or start anew in another "
                      "directory: --job-dir DIR",
                      dir);
  return 0;
}

/* Looks before anything is written there, and again behind the lock: another may have begun and ended a job meanwhile. */
static int open_dir(struct tm_job *job, bool *has_job, struct tm_err *err)
{
  const char *dir = job->o.dir;
  enum tm_job_dir_state before = tm_job_dir_look(dir, err), state;
  int rc;

  if ((rc = check_state(job, before, err)) < 0 ||
      (rc = tm_job_dir_open(&job->dir, job->o.fs, dir, err)) < 0)
    return rc;
  state = tm_job_dir_look(dir, err);
  *has_job = state == TM_JOB_DIR_JOB;
  if ((rc = check_state(job, state, err)) < 0 || *has_job)
    return rc;
  if (before == TM_JOB_DIR_NEW && job->o.resume)
    note(job, "there is no job in '%s' yet: a new one is started", dir);
  if (before == TM_JOB_DIR_INCOMPLETE)
    note(job, "the job in '%s' was killed before its definition was complete: it is started anew",
         dir);
  return 0;
}

static void on_definition_note(void *data, char *text)
{
  struct tm_job *job = data;

  *TM_ARRAY_ADD(&job->notes) = text;
}

/* The definition of a job that is there. Of a Completed one nothing is kept up. */
static int resume_definition(struct tm_job *job, const struct tm_definition *d, struct tm_err *err)
{
  struct tm_json *record = tm_job_record_read(&job->dir, err);
  int rc = record ? tm_definition_compare(d, record, job->o.dir, err) : err->code;

  if (rc == 0 && !job->earlier)
    rc = tm_definition_keep(d, record, err);
  tm_json_free(record);
  return rc;
}

static int open_definition(struct tm_job *job, bool has_job, struct tm_err *err)
{
  struct tm_definition d = { .fs = job->o.fs,
                             .pipeline = job->o.pipeline,
                             .dir = &job->dir,
                             .snapshots = job->snapshots,
                             .accept_changes = job->o.accept_changes,
                             .on_note = on_definition_note,
                             .data = job };

  int rc = has_job ? resume_definition(job, &d, err) : tm_definition_take(&d, err);

  if (rc == 0 && !has_job)
    rc = tm_takeover_copy(&d, err);
  if (rc == 0 && !job->earlier)
    rc = tm_job_record_write(&job->dir, job->o.pipeline, job->snapshots, err);
  return rc < 0 || job->earlier ? rc : tm_takeover_place(&d, err);
}

/* Of a Completed job nothing is run; its inputs are looked at when that is asked for, once the loop runs. */
static int open_completed(struct tm_job *job, struct tm_err *err)
{
  int rc = job->o.verify_input ? open_definition(job, true, err) : 0;

  note(job, "the job in '%s' is Completed: nothing is run", job->o.dir);
  return rc;
}

/* From here on a directory without a result is a job that was interrupted. */
static int remove_result(struct tm_job *job, struct tm_err *err)
{
  int rc = job->o.fs->unlink(job->o.fs->self, job->dir.result_file);

  if (rc == -ENOENT)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot remove '%s'", job->dir.result_file);
  return tm_fs_sync_dir(job->o.fs, job->dir.path, err);
}

static void on_step_ended(void *data, struct tm_supervisor *s);

/* A list that came by standard input can be gone on with when its end had been read, or when it is given again. */
static int check_stdin(struct tm_job *job, size_t i, struct tm_err *err)
{
  const struct tm_step *step = job->o.pipeline->steps[i];
  bool is_listed = job->step_views[i]->counts.all_created && !job->o.verify_input;
  bool needs_stdin = false;

  for (size_t k = 0; k < step->inputs_len; k++)
    needs_stdin = needs_stdin || tm_dataset_is_stdin(step->inputs[k]);
  if (!needs_stdin || is_listed || job->o.has_stdin || !job->view.is_resumed)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "step '%s' read its paths from standard input, and had not read all of them: "
                    "that list cannot be read again; run the command that began the job once more, "
                    "with the same list and --resume --job-dir %s",
                    step->name, job->o.dir);
}

static int open_step(struct tm_job *job, size_t i, struct tm_err *err)
{
  struct tm_supervisor_options o = { .loop = job->o.loop,
                                     .fs = job->o.fs,
                                     .events = job->o.events,
                                     .job = &job->view,
                                     .step = job->o.pipeline->steps[i],
                                     .number = (uint32_t)i,
                                     .program = job->o.program,
                                     .script = job->snapshots[i].script,
                                     .script_dir = job->snapshots[i].dir,
                                     .owner_file = job->dir.owner_file,
                                     .epoch = job->dir.epoch,
                                     .keep_failed = job->o.keep_failed,
                                     .verify_input = job->o.verify_input,
                                     .is_resumed = job->view.is_resumed ||
                                                   tm_takeover_is_asked(job->o.pipeline->steps[i]),
                                     .on_ended = on_step_ended,
                                     .data = job };
  const struct tm_commit_found *found;
  int rc = tm_supervisor_open(&job->steps[i], &o, err);

  if (rc < 0)
    return rc;
  job->step_views[i] = tm_supervisor_view(job->steps[i]);
  if ((rc = check_stdin(job, i, err)) < 0)
    return rc;
  found = tm_supervisor_found(job->steps[i]);
  if (!found->is_new)
    note(job,
         "step '%s': %" PRId64 " %s kept, %" PRId64
         " that failed %s; what had not been committed is run again",
         o.step->name, found->committed,
         tm_text_counted(found->committed, "mini-batch is", "mini-batches are"),
         job->o.keep_failed ? found->failed : found->retried,
         job->o.keep_failed ? "stay failed" : "get fresh tries");
  if (found->cut_records > 0 || found->cut_output_bytes > 0)
    note(job,
         "step '%s': a torn end was taken away: %" PRId64 " records, %" PRId64 " bytes of output",
         o.step->name, found->cut_records, found->cut_output_bytes);
  return 0;
}

static int open_steps(struct tm_job *job, bool has_job, struct tm_err *err)
{
  int rc = tm_registering_check(job->o.fs, job->o.pipeline, err);

  if (rc == 0)
    rc = open_definition(job, has_job, err);
  if (rc == 0)
    rc = remove_result(job, err);
  for (size_t i = 0; i < job->steps_len && rc == 0; i++)
    rc = open_step(job, i, err);
  return rc;
}

static void set_view(struct tm_job *job)
{
  job->view = (struct tm_job_view) { .name = job->o.pipeline->name,
                                     .dir = job->dir.path,
                                     .pipeline_file = job->o.pipeline->file,
                                     .begin_wall_ns = tm_clock_wall_ns(),
                                     .begin_mono_ns = tm_clock_mono_ns(),
                                     .steps_len = job->steps_len,
                                     .steps = job->step_views,
                                     .verdict = TM_RUNNING,
                                     .cause = "" };
}

/* Each worker has a socket and a log here, a socket, a page and files at the keeper. Before anything is made: short of descriptors
 * workers would end one after the other, for reasons of their own. */
static int check_descriptors(const struct tm_pipeline *p, struct tm_err *err)
{
  int64_t workers = 0, needed, allowed = tm_process_fd_limit();

  for (size_t i = 0; i < p->steps_len; i++)
    workers += p->steps[i]->config.process_count_per_node;
  needed = FDS_OF_JOB + FDS_OF_STEP * (int64_t)p->steps_len + FDS_OF_WORKER * workers;
  if (needed <= allowed)
    return 0;
  return tm_err_set(err, -EMFILE,
                    "this process may open %" PRId64 " files (ulimit -n), and %" PRId64
                    " %s need about %" PRId64
                    ": raise the limit, or let process_count_per_node be less",
                    allowed, workers, tm_text_counted(workers, "worker", "workers"), needed);
}

int tm_job_open(struct tm_job **out, const struct tm_job_options *o, struct tm_err *err)
{
  struct tm_job *job = TM_NEW(struct tm_job);
  bool has_job;
  int rc;

  job->o = *o;
  job->steps_len = o->pipeline->steps_len;
  job->steps = tm_xcalloc(job->steps_len, sizeof(*job->steps));
  job->step_views = tm_xcalloc(job->steps_len, sizeof(*job->step_views));
  job->snapshots = tm_xcalloc(job->steps_len, sizeof(*job->snapshots));
  if ((rc = check_descriptors(o->pipeline, err)) < 0 || (rc = open_dir(job, &has_job, err)) < 0)
    goto fail;
  set_view(job);
  job->view.is_resumed = has_job;
  if (has_job && tm_job_result_is_completed(&job->dir, &job->earlier))
    rc = open_completed(job, err);
  else
    rc = open_steps(job, has_job, err);
  if (rc < 0)
    goto fail;
  *out = job;
  return 0;
fail:
  tm_job_close(job);
  return rc;
}

/* Running. */

static void on_note(void *data, const char *text)
{
  emit(data, TM_EVENT_MESSAGE, TM_WARNING, text);
}

static void start_node(struct tm_job *job);

static void on_node_lost(void *data, const char *text)
{
  struct tm_job *job = data;
  struct tm_node *node = job->node;

  job->node = NULL;
  emit(job, TM_EVENT_MESSAGE, TM_WARNING, text);
  tm_node_close(node); /* first: after it nothing of the node runs any more */
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_lose_node(job->steps[i]);
  if (!job->is_ended)
    start_node(job);
}

static void start_node(struct tm_job *job)
{
  struct tm_err err = TM_ERR_NONE;

  job->node = tm_node_start(job->o.loop, job->o.program, "0", on_note, on_node_lost, job, &err);
  for (size_t i = 0; i < job->steps_len; i++)
    if (!job->node)
      tm_supervisor_fail(job->steps[i], &err);
    else
      tm_supervisor_set_node(job->steps[i], job->node);
}

static void on_tick(struct tm_timer *t)
{
  struct tm_job *job = t->data;

  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_tick(job->steps[i]);
  if (!job->is_ended)
    tm_node_tick(job->node, tm_clock_mono_ns());
  emit(job, TM_EVENT_TICK, TM_DEBUG, "");
}

static void on_tick_closed(struct tm_timer *t);

static void end_job(struct tm_job *job);

/* A job that had been Completed: its result stands, nothing is opened. */
static void end_at_once(struct tm_timer *t)
{
  struct tm_job *job = t->data;

  job->is_ended = true;
  job->view.verdict = TM_COMPLETED;
  job->view.steps_len = 0;
  tm_timer_stop(&job->tick);
  emit(job, TM_EVENT_JOB_ENDED, TM_INFO, "");
  job->o.on_ended(job->o.data, job);
}

static bool needs_node(const struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (!tm_supervisor_is_over(job->steps[i]))
      return true;
  return false;
}

static void cancel_steps(struct tm_job *job, bool now)
{
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_cancel(job->steps[i], now);
}

static void start(struct tm_job *job)
{
  bool is_node_needed = !job->earlier && needs_node(job);

  tm_timer_open(&job->tick, job->o.loop, job->earlier ? end_at_once : on_tick, job);
  job->tick.on_closed = on_tick_closed;
  tm_timer_start(&job->tick, job->earlier ? 0 : TICK_NS, TICK_NS);
  emit(job, TM_EVENT_JOB_STARTED, TM_INFO, "");
  for (size_t i = 0; i < job->notes.len; i++)
    emit(job, TM_EVENT_MESSAGE, TM_INFO, job->notes.at[i]);
  if (job->earlier)
    return;
  tm_registered_check(job->o.pipeline, job->o.fs, on_note, job);
  job->is_started = true;
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_start(job->steps[i]);
  if (job->canceled_ns != 0)
    cancel_steps(job, true);
  else if (is_node_needed && !job->is_ended)
    start_node(job);
}

/* Ends without having begun: the job is left as it was. */
static void end_refused(struct tm_job *job, enum tm_verdict verdict)
{
  job->is_ended = job->is_refused = true;
  job->view.verdict = verdict;
  job->view.steps_len = 0;
  job->o.on_ended(job->o.data, job);
}

static void on_rechecked(void *data, int code, int64_t compared, const struct tm_err *err)
{
  struct tm_job *job = data;

  tm_recheck_stop(job->recheck);
  job->recheck = NULL;
  if (code == 0) {
    note(job, "the input is as it was: %" PRId64 " %s been compared", compared,
         tm_text_counted(compared, "mini-batch has", "mini-batches have"));
    start(job);
    return;
  }
  job->code = code;
  job->cause = *err;
  tm_err_wrap(&job->cause, "the job in '%s' is Completed, and is left as it is", job->o.dir);
  emit(job, TM_EVENT_MESSAGE, TM_ERROR, job->cause.text);
  end_refused(job, TM_FAILED);
}

void tm_job_start(struct tm_job *job)
{
  struct tm_recheck_options o = { .loop = job->o.loop,
                                  .fs = job->o.fs,
                                  .pipeline = job->o.pipeline,
                                  .dir = job->dir.path,
                                  .on_warning = on_note,
                                  .on_ended = on_rechecked,
                                  .data = job };
  struct tm_err err = TM_ERR_NONE;

  if (!job->earlier || !job->o.verify_input)
    start(job);
  else if (!(job->recheck = tm_recheck_start(&o, &err)))
    on_rechecked(job, err.code, 0, &err);
}

void tm_job_cancel(struct tm_job *job)
{
  int64_t now = tm_clock_mono_ns();
  bool again = job->canceled_ns != 0 && now - job->canceled_ns >= AGAIN_NS;

  if (job->recheck) {
    tm_recheck_stop(job->recheck);
    job->recheck = NULL;
    end_refused(job, TM_CANCELED_JOB);
    return;
  }
  if (job->is_ended || job->earlier || (job->canceled_ns != 0 && !again))
    return;
  if (job->canceled_ns == 0)
    job->canceled_ns = now;
  if (job->is_started)
    cancel_steps(job, again);
}

/* Ending. */

static void judge(struct tm_job *job)
{
  job->view.verdict = TM_COMPLETED;
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_step_view *step = job->step_views[i];
    if (step->verdict == TM_FAILED && job->view.verdict != TM_FAILED) {
      job->view.verdict = TM_FAILED;
      job->view.cause = step->cause;
    } else if (step->verdict == TM_CANCELED_JOB && job->view.verdict == TM_COMPLETED) {
      job->view.verdict = TM_CANCELED_JOB;
    }
    if (job->code == 0)
      job->code = tm_supervisor_code(job->steps[i]);
  }
}

static void fail_end(struct tm_job *job)
{
  job->code = job->cause.code;
  job->view.verdict = TM_FAILED;
  job->view.cause = job->cause.text;
  emit(job, TM_EVENT_MESSAGE, TM_ERROR, job->cause.text);
}

static void end_job(struct tm_job *job)
{
  struct tm_json *result;

  job->is_ended = true;
  tm_timer_stop(&job->tick);
  tm_node_close(job->node);
  job->node = NULL;
  judge(job);
  if (tm_registering_add(&job->view, job->o.fs, job->o.pipeline, job->o.events, &job->cause) < 0)
    fail_end(job);
  emit(job, TM_EVENT_JOB_ENDED, TM_INFO, "");
  result = tm_job_result_new(&job->view);
  if (tm_job_dir_check_owner(job->o.fs, job->dir.owner_file, job->dir.epoch, &job->cause) < 0 ||
      tm_job_result_write(&job->dir, result, &job->cause) < 0)
    fail_end(job);
  tm_json_free(result);
  job->o.on_ended(job->o.data, job);
}

static void on_step_ended(void *data, struct tm_supervisor *s)
{
  struct tm_job *job = data;

  if (++job->steps_ended == job->steps_len)
    end_job(job);
}

const struct tm_job_view *tm_job_view(const struct tm_job *job)
{
  return &job->view;
}

struct tm_json *tm_job_result(const struct tm_job *job)
{
  if (job->is_refused)
    return NULL;
  return job->earlier ? tm_json_copy(job->earlier) : tm_job_result_new(&job->view);
}

int tm_exit_status_of(int code)
{
  switch (code) {
  case 0: return 0;
  case TM_EUSAGE:
  case TM_ECHANGED:
  case TM_EVERSION: return 2;
  case TM_ENOINPUT:
  case TM_EINPUT:
  case TM_ETHRESHOLD:
  case TM_ESCRIPT: return 1;
  default: return 3;
  }
}

int tm_job_exit_status(const struct tm_job *job)
{
  switch (job->view.verdict) {
  case TM_COMPLETED: return 0;
  case TM_CANCELED_JOB: return 130;
  default: return job->code ? tm_exit_status_of(job->code) : 1;
  }
}

/* Closing. */

static void free_now(struct tm_job *job)
{
  for (size_t i = 0; i < job->notes.len; i++)
    free(job->notes.at[i]);
  TM_ARRAY_RELEASE(&job->notes);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_snapshot_release(&job->snapshots[i]);
  free(job->snapshots);
  free(job->steps);
  free(job->step_views);
  tm_json_free(job->earlier);
  free(job);
}

static void on_tick_closed(struct tm_timer *t)
{
  free_now(t->data);
}

void tm_job_close(struct tm_job *job)
{
  if (!job)
    return;
  tm_recheck_stop(job->recheck);
  tm_node_close(job->node);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_close(job->steps[i]);
  tm_job_dir_close(&job->dir);
  if (job->tick.is_open)
    tm_timer_close(&job->tick);
  else
    free_now(job);
}
