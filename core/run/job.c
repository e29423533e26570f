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
#include "base/time.h"
#include "plan/resume.h"
#include "plan/snapshot.h"
#include "run/job_dir.h"
#include "run/job_record.h"
#include "run/supervisor.h"
#include "sys/clock.h"

#define TICK_NS  (100 * TM_MS)
#define AGAIN_NS (500 * TM_MS) /* a second Ctrl-C that comes sooner is the first one, bouncing */

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
  struct TM_ARRAY(char *) notes; /* said when the job starts */
  int64_t canceled_ns;           /* monotonic; 0: not */
  bool is_started, is_ended;
  int code;
  struct tm_err cause;
};

static void note(struct tm_job *job, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct tm_job *job, const char *fmt, ...)
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
  enum tm_job_dir_state before = tm_job_dir_look(dir), state;
  int rc;

  if ((rc = check_state(job, before, err)) < 0 ||
      (rc = tm_job_dir_open(&job->dir, job->o.fs, dir, err)) < 0)
    return rc;
  state = tm_job_dir_look(dir);
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

static int take_snapshot(struct tm_job *job, size_t i, struct tm_err *err)
{
  const struct tm_step *step = job->o.pipeline->steps[i];
  char *dir = tm_path_join(job->dir.script_dir, step->name);
  int rc = tm_snapshot_take(job->o.fs, &step->config, job->dir.path, dir, &job->snapshots[i], err);

  free(dir);
  return rc;
}

/* The copy that is in the job directory goes on being used, if it is whole and the user's is still the same. Where it is
 * follows from where the directory is now: it may have been moved, or be a copy itself. */
static int keep_snapshot(struct tm_job *job, size_t i, const struct tm_json *old, const char *hash,
                         struct tm_err *err)
{
  const char *old_hash = tm_json_str(tm_json_get(old, "definition"), "snapshot_hash", "");
  char *dir = tm_path_join(job->dir.script_dir, job->o.pipeline->steps[i]->name);
  char copied[17] = "";
  int rc = 0;

  if (strcmp(hash, old_hash) == 0 && tm_snapshot_hash_dir(job->o.fs, dir, copied, NULL) == 0 &&
      strcmp(copied, hash) == 0) {
    job->snapshots[i].dir = tm_xstrdup(dir);
    job->snapshots[i].script = tm_snapshot_script(&job->o.pipeline->steps[i]->config, dir);
    memcpy(job->snapshots[i].hash, hash, sizeof(copied));
  } else {
    rc = take_snapshot(job, i, err);
  }
  free(dir);
  return rc;
}

/* What an accepted change does not do. */
static const char *limits_of(const struct tm_change *change)
{
  bool is_listed =
      strcmp(change->key, "inputs") == 0 || strcmp(change->key, "mini_batch_size") == 0;

  return is_listed
             ? "; where the list of mini-batches was complete it stays as it was, and nothing "
               "else is read"
             : "";
}

static int judge_changes(struct tm_job *job, const struct tm_step *step,
                         const struct tm_changes *changes, struct tm_err *err)
{
  int rc = job->o.accept_changes ? 0 : tm_resume_verdict(changes, step->name, err);

  for (size_t i = 0; i < changes->len && rc == 0; i++)
    note(job, "step '%s': %s has changed since the job began: %s -> %s%s", step->name,
         changes->at[i].key, changes->at[i].before, changes->at[i].now, limits_of(&changes->at[i]));
  return rc;
}

static int compare_step(struct tm_job *job, size_t i, const struct tm_json *old, struct tm_err *err)
{
  const struct tm_step *step = job->o.pipeline->steps[i];
  struct tm_changes changes = { 0 };
  struct tm_json *now;
  char hash[17];
  int rc = tm_snapshot_hash(job->o.fs, &step->config, job->dir.path, hash, err);

  if (rc < 0)
    return rc;
  now = tm_json_copy(step->effective);
  tm_json_set(now, "snapshot_hash", tm_json_new_string(hash));
  tm_resume_compare(tm_json_get(old, "definition"), now, &changes);
  rc = judge_changes(job, step, &changes, err);
  tm_changes_release(&changes);
  tm_json_free(now);
  return rc < 0 ? rc : keep_snapshot(job, i, old, hash, err);
}

static int compare(struct tm_job *job, const struct tm_json *record, struct tm_err *err)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  int rc = 0;

  if (!steps || steps->type != TM_JSON_ARRAY || steps->list.len != job->steps_len)
    return tm_err_set(err, TM_ECHANGED,
                      "the job in '%s' has other steps than the pipeline '%s' has now", job->o.dir,
                      job->o.pipeline->name);
  for (size_t i = 0; i < job->steps_len && rc == 0; i++) {
    const struct tm_step *step = job->o.pipeline->steps[i];
    const struct tm_json *old = tm_job_record_step(record, step->name);
    if (!old)
      return tm_err_set(err, TM_ECHANGED, "the job in '%s' has no step '%s'", job->o.dir,
                        step->name);
    rc = compare_step(job, i, old, err);
  }
  return rc;
}

static int resume_definition(struct tm_job *job, struct tm_err *err)
{
  struct tm_json *record = tm_job_record_read(&job->dir, err);
  int rc = record ? compare(job, record, err) : err->code;

  tm_json_free(record);
  return rc;
}

static int new_definition(struct tm_job *job, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < job->steps_len && rc == 0; i++)
    rc = take_snapshot(job, i, err);
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
                                     .is_resumed = job->view.is_resumed,
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
         "step '%s': %" PRId64 " mini-batches are kept, %" PRId64
         " that failed %s; what had not been committed is run again",
         o.step->name, found->committed, job->o.keep_failed ? found->failed : found->retried,
         job->o.keep_failed ? "stay failed" : "get fresh tries");
  if (found->cut_records > 0 || found->cut_output_bytes > 0)
    note(job,
         "step '%s': a torn end was taken away: %" PRId64 " records, %" PRId64 " bytes of output",
         o.step->name, found->cut_records, found->cut_output_bytes);
  return 0;
}

static int open_steps(struct tm_job *job, bool has_job, struct tm_err *err)
{
  int rc = has_job ? resume_definition(job, err) : new_definition(job, err);

  if (rc == 0)
    rc = tm_job_record_write(&job->dir, job->o.pipeline, job->snapshots, err);
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
  if ((rc = open_dir(job, &has_job, err)) < 0)
    goto fail;
  set_view(job);
  job->view.is_resumed = has_job;
  if (has_job && !o->verify_input && tm_job_result_is_completed(&job->dir, &job->earlier))
    note(job, "the job in '%s' is Completed: nothing is run", o->dir);
  else if ((rc = open_steps(job, has_job, err)) < 0)
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

void tm_job_start(struct tm_job *job)
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
  job->is_started = true;
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_start(job->steps[i]);
  if (job->canceled_ns != 0)
    cancel_steps(job, true);
  else if (is_node_needed && !job->is_ended)
    start_node(job);
}

void tm_job_cancel(struct tm_job *job)
{
  int64_t now = tm_clock_mono_ns();
  bool again = job->canceled_ns != 0 && now - job->canceled_ns >= AGAIN_NS;

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

static void end_job(struct tm_job *job)
{
  struct tm_json *result;

  job->is_ended = true;
  tm_timer_stop(&job->tick);
  tm_node_close(job->node);
  job->node = NULL;
  judge(job);
  emit(job, TM_EVENT_JOB_ENDED, TM_INFO, "");
  result = tm_job_result_new(&job->view);
  if (tm_job_dir_check_owner(job->o.fs, job->dir.owner_file, job->dir.epoch, &job->cause) < 0 ||
      tm_job_result_write(&job->dir, result, &job->cause) < 0) {
    job->code = job->cause.code;
    job->view.verdict = TM_FAILED;
    job->view.cause = job->cause.text;
    emit(job, TM_EVENT_MESSAGE, TM_ERROR, job->cause.text);
  }
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
  tm_node_close(job->node);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_close(job->steps[i]);
  tm_job_dir_close(&job->dir);
  if (job->tick.is_open)
    tm_timer_close(&job->tick);
  else
    free_now(job);
}
