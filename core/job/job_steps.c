/* job_steps.c - the steps of a job: see job_own.h.
 *
 *   WAITING --> OPEN --> RUNS --> OVER
 *      |`-----------------------> OVER     kept from an earlier session, or not run at all
 *      `--> LOOKS --------------> OVER     reused: another job has its result (reusing.c);
 *                                          else WAITING again
 *
 *  (1) A step begins when every step that it waits for is Completed, on the disk:
 *      <step>/step_result.json is written after everything else of the step. Only then does the new
 *      step list its inputs. If a step that it waits for ended otherwise, it is Skipped; the other
 *      steps run.
 *  (2) Only tm_job_steps_go() acts on the end of a step, over all steps until nothing changes. It
 *      may be called from within itself, as a step may end while it is started.
 *  (3) A Completed step is never opened again: what others have read from it stays as it is.
 *  (4) A step begins only while fewer steps run than the job may have workers, so that each can
 *      have one.
 */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "job/job_own.h"
#include "job/stale_inputs.h"
#include "job/import.h"
#include "outputs/input_staging.h"
#include "outputs/destinations.h"
#include "record/job_record.h"

void tm_job_steps_init(struct tm_job *job)
{
  job->shares = tm_xcalloc(job->steps_len + 1, sizeof(*job->shares));
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_step *step = job->o.pipeline->steps[i];
    struct tm_job_step *st = &job->steps[i];
    tm_step_view_init(&st->own, &st->places, step, (uint32_t)i, job->dir.path);
    st->own.is_idle = true;
    st->needs = tm_xcalloc(step->needs_len + 1, sizeof(*st->needs));
    for (; st->needs_len < step->needs_len; st->needs_len++)
      st->needs[st->needs_len] = step->needs[st->needs_len]->number;
    job->step_views[i] = &st->own;
  }
}

static bool may(const struct tm_job *job, enum tm_job_life_may what)
{
  return tm_job_life_may(&job->life, what);
}

static bool is_completed(const struct tm_job *job, size_t i)
{
  const struct tm_job_step *st = &job->steps[i];

  return st->state == TM_STEP_OVER && st->cause.code == 0 &&
         job->step_views[i]->verdict == TM_COMPLETED;
}

static size_t count_running(const struct tm_job *job)
{
  size_t n = 0;

  for (size_t i = 0; i < job->steps_len; i++)
    n += job->steps[i].state == TM_STEP_OPEN || job->steps[i].state == TM_STEP_RUNS ||
         job->steps[i].state == TM_STEP_LOOKS;
  return n;
}

static bool are_needs_completed(const struct tm_job *job, size_t i)
{
  const struct tm_job_step *st = &job->steps[i];

  for (size_t k = 0; k < st->needs_len; k++)
    if (!is_completed(job, st->needs[k]))
      return false;
  return true;
}

/* Whether every step that it waits for is Completed, and it has room: keeps (1) and (4). */
static bool may_begin(const struct tm_job *job, size_t i)
{
  return are_needs_completed(job, i) && job->steps[i].state == TM_STEP_WAITING &&
         (int64_t)count_running(job) < tm_job_nodes_max_workers(job);
}

/* Opening. */

/* A list from standard input can be resumed if it had been read to its end, or if the user gives
 * the list again. */
static int check_stdin(struct tm_job *job, size_t i, struct tm_err *err)
{
  const struct tm_step *step = job->o.pipeline->steps[i];
  const struct tm_step_view *view = tm_supervisor_view(job->steps[i].s);
  bool is_listed = view->counts.all_created && !job->o.verify_input;
  bool needs_stdin = false;

  for (size_t k = 0; k < step->inputs_len; k++)
    needs_stdin = needs_stdin || tm_dataset_is_stdin(step->inputs[k]);
  if (!needs_stdin || is_listed || job->o.has_stdin || !job->view.is_resumed)
    return 0;
  struct tm_buf dir = TM_BUF_NONE;
  tm_text_shell(&dir, job->o.dir);
  tm_err_set(err, TM_EUSAGE,
             "step '%s' read its paths from standard input, and had not read all of them: "
             "that list cannot be read again; run the command that started the job again, "
             "with the same list and --resume --job-dir %s",
             step->name, tm_buf_str(&dir));
  tm_buf_release(&dir);
  return TM_EUSAGE;
}

/* Notes are emitted when the job starts; the notes of a step that is opened later, at once. */
static void say_notes(struct tm_job *job, size_t from)
{
  for (size_t i = from; may(job, TM_JOB_MAY_RUN) && i < job->notes.len; i++)
    tm_job_emit(job, TM_EVENT_MESSAGE, job->notes.at[i].level, job->notes.at[i].text);
}

static void note_found(struct tm_job *job, const char *name, const struct tm_commit_found *found)
{
  size_t before = job->notes.len;

  if (!found->is_new)
    tm_job_note(job,
                "step '%s': %" PRId64 " %s kept, %" PRId64
                " that failed %s; what had not been committed is run again",
                name, found->committed,
                tm_text_counted(found->committed, "mini-batch is", "mini-batches are"),
                job->o.keep_failed ? found->failed : found->retried,
                job->o.keep_failed ? "stay failed" : "get fresh tries");
  if (found->cut_records > 0 || found->cut_output_bytes > 0)
    tm_job_note(job,
                "step '%s': a torn end was taken away: %" PRId64 " %s, %" PRId64 " %s of output",
                name, found->cut_records, tm_text_counted(found->cut_records, "record", "records"),
                found->cut_output_bytes, tm_text_counted(found->cut_output_bytes, "byte", "bytes"));
  say_notes(job, before);
}

static void on_step_ended(void *data, struct tm_supervisor *s);

static void on_committed(void *data, const struct tm_supervisor *s, uint32_t node)
{
  tm_job_launches_committed(data, tm_supervisor_view(s)->number, node);
}

static void on_sick(void *data, uint32_t node, const char *figures)
{
  tm_job_launched_sick(data, node, figures);
}

static void on_listed(void *data)
{
  tm_job_launches_go(data);
}

static void close_step(struct tm_job *job, size_t i)
{
  tm_supervisor_close(job->steps[i].s);
  job->steps[i].s = NULL;
}

/* Reads what an earlier session left of the step, and writes nothing. */
static int open_step(struct tm_job *job, size_t i, struct tm_err *err)
{
  struct tm_job_step *st = &job->steps[i];
  const struct tm_step *step = job->o.pipeline->steps[i];
  struct tm_supervisor_options o = { .loop = job->o.loop,
                                     .fs = job->o.fs,
                                     .events = job->o.events,
                                     .job = &job->view,
                                     .step = step,
                                     .number = (uint32_t)i,
                                     .program = job->o.program,
                                     .owner_file = job->dir.owner_file,
                                     .epoch = job->dir.epoch,
                                     .keep_failed = job->o.keep_failed || st->kept,
                                     .verify_input = job->o.verify_input,
                                     .accept_changes = job->o.accept_changes,
                                     .records_inputs = st->reuse != NULL,
                                     .is_resumed = job->view.is_resumed || tm_import_is_asked(step),
                                     .may_start = tm_job_sharing_may_start,
                                     .on_freed = tm_job_sharing_fill,
                                     .on_sick = on_sick,
                                     .expects_node = tm_job_sharing_expects_node,
                                     .on_listed = on_listed,
                                     .on_committed = on_committed,
                                     .on_ended = on_step_ended,
                                     .data = job };
  int rc = tm_supervisor_open(&st->s, &o, err);

  if (rc == 0 && (rc = check_stdin(job, i, err)) < 0)
    close_step(job, i);
  return rc;
}

static int begin_step(struct tm_job *job, size_t i, struct tm_err *err)
{
  struct tm_job_step *st = &job->steps[i];
  tm_require(st->state == TM_STEP_WAITING && are_needs_completed(job, i)); /* keeps (1) */
  int rc = st->s ? 0 : open_step(job, i, err);

  if (rc == 0 && st->kept)
    rc = tm_step_result_remove(&job->dir, st->own.dir, err);
  if (rc == 0)
    rc = tm_supervisor_begin(st->s, &job->snapshots[i], err);
  if (rc < 0) {
    close_step(job, i);
    return rc;
  }
  st->state = TM_STEP_OPEN;
  job->step_views[i] = tm_supervisor_view(st->s);
  size_t before = job->notes.len;
  tm_job_beside_record(job, i);
  say_notes(job, before);
  note_found(job, st->own.name, tm_supervisor_found(st->s));
  return 0;
}

static int64_t member(const struct tm_json *v, const char *group, const char *name)
{
  return tm_json_int(tm_json_get(v, group), name, 0);
}

/* Keeps (3). With --verify-input the step is opened nevertheless: its list is compared. */
static void keep_step(struct tm_job *job, size_t i)
{
  struct tm_job_step *st = &job->steps[i];
  struct tm_json *v = tm_step_result_load(st->own.dir);
  struct tm_counts *c = &st->own.counts;

  if (strcmp(tm_json_str(v, "status", ""), tm_verdict_name(TM_COMPLETED)) != 0) {
    tm_json_free(v);
    return;
  }
  st->kept = v;
  st->own.reused_from = tm_json_str(v, "reused_from", NULL);
  if (job->o.verify_input && !st->own.reused_from)
    return;
  c->all_created = true;
  c->created = member(v, "mini_batches", "total");
  c->succeeded = member(v, "mini_batches", "succeeded");
  c->failed = member(v, "mini_batches", "failed");
  c->items_created = member(v, "items", "total");
  c->items_succeeded = member(v, "items", "succeeded");
  c->items_failed = member(v, "items", "failed");
  c->items = c->items_succeeded + c->items_failed;
  st->own.verdict = TM_COMPLETED;
  st->own.is_kept = true;
  st->state = TM_STEP_OVER;
  job->steps_over++;
  tm_job_note(job, "step '%s' is Completed, and is kept", st->own.name);
}

static int check_place(const struct tm_job *job, size_t i, struct tm_err *err)
{
  const struct tm_step *step = job->o.pipeline->steps[i];
  int rc = tm_destinations_check(job->o.fs, step, job->dir.path, err);

  return rc < 0 ? rc : tm_input_staging_check(job->o.fs, step, job->dir.path, err);
}

/* Reads the state also of a step that has to wait: it must not be refused once others have begun.
 * That step is opened again later. */
static int look_at_step(struct tm_job *job, size_t i, size_t *opened, struct tm_err *err)
{
  const struct tm_job_step *st = &job->steps[i];
  bool begins = are_needs_completed(job, i) && (int64_t)*opened < tm_job_nodes_max_workers(job);
  int rc;

  if (st->state != TM_STEP_WAITING || st->may_reuse ||
      (!begins && !tm_fs_exists(job->o.fs, st->own.dir)))
    return 0;
  rc = open_step(job, i, err);
  if (rc == 0)
    rc = tm_job_beside_check(job, i, err);
  if (begins)
    ++*opened;
  else
    close_step(job, i);
  return rc;
}

int tm_job_steps_open(struct tm_job *job, struct tm_err *err)
{
  size_t opened = 0;
  int rc = 0;

  for (size_t i = 0; job->view.is_resumed && i < job->steps_len; i++)
    keep_step(job, i);
  tm_reusing_open(job);
  for (size_t i = 0; i < job->steps_len && rc == 0; i++)
    rc = look_at_step(job, i, &opened, err);
  return rc;
}

int tm_job_steps_begin(struct tm_job *job, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < job->steps_len && rc == 0; i++)
    if (job->steps[i].s)
      rc = begin_step(job, i, err);
  return rc;
}

/* Going. */

static void end_unrun(struct tm_job *job, size_t i, enum tm_verdict verdict, char *why)
{
  struct tm_job_step *st = &job->steps[i];

  tm_require(st->state == TM_STEP_WAITING && verdict != TM_RUNNING);
  st->why = why;
  st->own.verdict = verdict;
  st->own.cause = why ? why : "";
  st->own.counts.all_created = true;
  st->state = TM_STEP_OVER;
  job->step_views[i] = &st->own;
  job->steps_over++;
}

static void skip(struct tm_job *job, size_t i, size_t need)
{
  const struct tm_step_view *other = job->step_views[need];
  bool is_unrecorded = job->steps[need].cause.code < 0;
  char *text;

  end_unrun(job, i, TM_SKIPPED,
            tm_xprintf("not run: step '%s' is %s", other->name,
                       tm_verdict_name(is_unrecorded ? TM_FAILED : other->verdict)));
  text = tm_xprintf("step '%s' is %s", job->steps[i].own.name, job->steps[i].why);
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, text);
  free(text);
}

/* Skips the step if one that it waits for has ended without being Completed. */
static bool skip_if_in_vain(struct tm_job *job, size_t i)
{
  const struct tm_job_step *st = &job->steps[i];

  for (size_t k = 0; k < st->needs_len; k++)
    if (job->steps[st->needs[k]].state == TM_STEP_OVER && !is_completed(job, st->needs[k])) {
      skip(job, i, st->needs[k]);
      return true;
    }
  return false;
}

static void fail_open(struct tm_job *job, size_t i, const struct tm_err *err)
{
  struct tm_job_step *st = &job->steps[i];

  st->cause = *err;
  tm_err_wrap(&st->cause, "step '%s' cannot begin", st->own.name);
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_ERROR, st->cause.text);
  end_unrun(job, i, TM_FAILED, tm_xstrdup(st->cause.text));
}

static void start_step(struct tm_job *job, size_t i)
{
  struct tm_job_step *st = &job->steps[i];

  tm_require(st->state == TM_STEP_OPEN && st->s);
  if (job->view.is_resumed && !job->o.verify_input && tm_supervisor_found(st->s)->committed > 0)
    tm_stale_inputs_start(job, i);
  st->state = TM_STEP_RUNS;
  tm_require((int64_t)count_running(job) <= tm_job_nodes_max_workers(job)); /* keeps (4) */
  tm_supervisor_start(st->s);
  tm_job_sharing_give_nodes(job, i);
  tm_job_launches_check(job, i);
}

/* Advances one step. True: something has changed, and other steps may begin. */
static bool advance(struct tm_job *job, size_t i)
{
  struct tm_job_step *st = &job->steps[i];
  struct tm_err err = TM_ERR_NONE;

  if (st->state == TM_STEP_OPEN) {
    start_step(job, i);
    return true;
  }
  if (st->state != TM_STEP_WAITING)
    return false;
  if (!may(job, TM_JOB_MAY_BEGIN)) {
    end_unrun(job, i, TM_CANCELED_JOB, NULL);
    return true;
  }
  if (skip_if_in_vain(job, i))
    return true;
  if (!may_begin(job, i))
    return false;
  if (st->may_reuse && (int64_t)job->errands >= tm_job_nodes_max_workers(job))
    return false; /* when one of them ends, this is asked again */
  if (st->may_reuse && tm_reusing_begin(job, i))
    return true;
  if ((st->is_unchecked && check_place(job, i, &err) < 0) || begin_step(job, i, &err) < 0)
    fail_open(job, i, &err);
  else
    start_step(job, i);
  return true;
}

static bool advance_all(struct tm_job *job)
{
  bool has_changed = false;

  for (size_t i = 0; i < job->steps_len; i++)
    has_changed |= advance(job, i);
  return has_changed;
}

static void do_rounds(struct tm_job *job) /* keeps (2) */
{
  while (tm_rounds_next(&job->rounds)) {
    while (advance_all(job))
      ;
    if (!tm_fleet_lives(&job->fleet, TM_LOCAL_NODE) && may(job, TM_JOB_MAY_BEGIN) &&
        tm_job_steps_need_node(job))
      tm_job_nodes_start(job);
    tm_job_launches_go(job);
  }
  tm_require(job->steps_over <= job->steps_len);
  if (job->steps_over == job->steps_len && job->errands == 0)
    tm_job_happen(job, TM_JOB_ON_DONE);
}

void tm_job_steps_go(struct tm_job *job)
{
  if (tm_rounds_ask(&job->rounds))
    do_rounds(job);
}

void tm_job_steps_take(struct tm_job *job, size_t i, const struct tm_step_view *view)
{
  struct tm_job_step *st = &job->steps[i];

  tm_require(st->state == TM_STEP_WAITING && view->verdict == TM_COMPLETED);
  st->own.counts = view->counts;
  st->own.verdict = view->verdict;
  st->own.reused_from = view->reused_from;
  st->state = TM_STEP_OVER;
  job->steps_over++;
}

/* Keeps (1): the steps that wait for this one begin after it. A job with one step records it in the
 * job's own result. */
static void record_step(struct tm_job *job, size_t i)
{
  struct tm_job_step *st = &job->steps[i];
  int rc;

  tm_require(st->state == TM_STEP_OVER && job->step_views[i]->verdict != TM_RUNNING);
  if (job->steps_len == 1 || job->step_views[i]->verdict != TM_COMPLETED)
    return;
  rc = tm_job_dir_check_owner(job->o.fs, job->dir.owner_file, job->dir.epoch, &st->cause);
  if (rc == 0)
    rc = tm_step_result_write(&job->dir, job->step_views[i], &st->cause);
  if (rc < 0)
    tm_job_emit(job, TM_EVENT_MESSAGE, TM_ERROR, st->cause.text);
}

static void on_step_ended(void *data, struct tm_supervisor *s)
{
  struct tm_job *job = data;
  size_t i = tm_supervisor_view(s)->number;

  if (!tm_check(job->steps[i].state == TM_STEP_RUNS))
    return;
  job->steps[i].state = TM_STEP_OVER;
  job->steps_over++;
  record_step(job, i);
  if (is_completed(job, i))
    tm_reusing_keep(job, i);
  tm_job_steps_go(job);
}

/* Calls for all steps that run. Each may end the step, and others then begin. */

void tm_job_steps_tick(struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_tick(job->steps[i].s);
  tm_job_sharing_give_first(job);
  tm_stale_inputs_tick(job);
}

void tm_job_steps_cancel(struct tm_job *job, bool now)
{
  tm_reusing_cancel(job);
  tm_stale_inputs_close(job);
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_cancel(job->steps[i].s, now);
  if (may(job, TM_JOB_MAY_RUN))
    tm_job_steps_go(job); /* the waiting steps end */
}

void tm_job_steps_set_node(struct tm_job *job, struct tm_node *node)
{
  for (size_t i = 0; i < job->steps_len; i++)
    tm_job_sharing_give_node(job, i, node);
}

void tm_job_steps_silence_node(struct tm_job *job, uint32_t id)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_silence_node(job->steps[i].s, id);
}

/* When a step loses its last worker it may end, and another step begin. So nothing begins until all
 * steps have lost the node: a step that began earlier would get the new node and lose that too. */
void tm_job_steps_lose_node(struct tm_job *job, uint32_t id)
{
  bool is_first = tm_rounds_ask(&job->rounds);

  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_lose_node(job->steps[i].s, id);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_job_sharing_give_nodes(job, i); /* it may use another one instead */
  tm_job_sharing_fill(job); /* what was lost waits, and nodes that are left may have room for it */
  if (is_first)
    do_rounds(job);
}

void tm_job_steps_fail(struct tm_job *job, const struct tm_err *err)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS)
      tm_supervisor_fail(job->steps[i].s, err);
}

bool tm_job_steps_need_node(const struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].state == TM_STEP_RUNS && !tm_supervisor_is_over(job->steps[i].s))
      return true;
  return false;
}

void tm_job_steps_close(struct tm_job *job)
{
  tm_reusing_close(job);
  tm_stale_inputs_close(job);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_supervisor_close(job->steps[i].s);
}

void tm_job_steps_release(struct tm_job *job)
{
  tm_reusing_release(job);
  for (size_t i = 0; i < job->steps_len; i++) {
    struct tm_job_step *st = &job->steps[i];
    tm_step_places_release(&st->places);
    tm_json_free(st->kept);
    free(st->needs);
    free(st->why);
  }
  free(job->steps);
  free(job->shares);
}
