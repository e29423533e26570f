/* supervisor.c - see supervisor.h and supervisor_own.h.
 *
 * What drives a step: the lister reports that mini-batches can be read; workers report that they
 * are ready, or answer; timers flush and sync. Each of these ends with a turn of the scheduler, and
 * then asks the tally for its verdict. What begins and ends the step is reported to its life
 * (step_life.h), and happen() does what that decides.
 */
#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "commit/table_state.h"
#include "outputs/destinations.h"
#include "outputs/uploads.h"
#include "record/step_view.h"
#include "record/temp_dirs.h"
#include "step/supervisor_own.h"
#include "store/workspace.h"
#include "sys/clock.h"

static void happen(struct tm_supervisor *s, enum tm_step_life_event event,
                   const struct tm_err *err);

static bool may(const struct tm_supervisor *s, enum tm_step_life_may what)
{
  return tm_step_life_may(&s->life, what);
}

static void refresh(struct tm_supervisor *s)
{
  s->view.counts = s->tally.counts;
  s->view.counts.running = s->sched.running;
  s->view.output_bytes = tm_commit_flushed_len(s->commit);
}

void tm_supervisor_emit(struct tm_supervisor *s, struct tm_event *e, const struct tm_worker *w)
{
  refresh(s);
  e->wall_ns = tm_clock_wall_ns();
  e->mono_ns = tm_clock_mono_ns();
  e->job = s->o.job;
  e->step = &s->view;
  if (w) {
    e->worker = w->name;
    e->node_id = w->node->name;
    e->node_address = w->node->address;
    e->pid = w->pid;
    e->lived_ns = w->started_ns > 0 ? e->mono_ns - w->started_ns : 0;
  }
  if (!e->text)
    e->text = "";
  tm_events_emit(s->o.events, e);
}

void tm_supervisor_say(struct tm_supervisor *s, enum tm_level level, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_event e = { .kind = TM_EVENT_MESSAGE, .level = level };
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  e.text = tm_buf_str(&text);
  tm_supervisor_emit(s, &e, NULL);
  tm_buf_release(&text);
}

/* Opening. */

static void set_view(struct tm_supervisor *s)
{
  struct tm_step_places places;

  tm_step_view_init(&s->view, &places, s->o.step, s->o.number, s->o.job->dir);
  s->dir = places.dir;
  s->logs_dir = places.logs_dir;
  s->output_dir = places.output_dir;
  s->output_file = places.output_file;
  s->state_dir = tm_path_join(s->dir, "state");
  s->spill_dir = tm_path_join(s->state_dir, "spill");
  s->staging_dir = tm_path_join(s->state_dir, "staging");
  s->inputs_file = tm_path_join(s->state_dir, "inputs");
  s->schema_file = tm_path_join(s->state_dir, "schema.json");
  s->index_dir = tm_workspace_index_dir(s->o.job->dir, s->o.step->name);
  s->models_dir = tm_workspace_models_dir(s->o.job->dir, s->o.step->name);
}

static int make_dirs(struct tm_supervisor *s, struct tm_err *err)
{
  const char *const dirs[] = { s->logs_dir, s->state_dir, s->spill_dir };
  int rc = tm_destinations_open(s->o.fs, s->o.step, s->o.job->dir, &s->held, err);

  for (size_t i = 0; i < TM_COUNT_OF(dirs) && rc >= 0; i++)
    rc = tm_fs_make_dirs(s->o.fs, dirs[i], 0700, err);
  return rc < 0 ? rc : 0;
}

static int open_commit(struct tm_supervisor *s, struct tm_err *err)
{
  const struct tm_config *config = &s->o.step->config;
  struct tm_commit_options o = { .fs = s->o.fs,
                                 .step_dir = s->dir,
                                 .output_dir = s->output_dir,
                                 .output_name = config->output_action == TM_APPEND_ROW
                                                    ? config->append_row_file_name
                                                    : NULL,
                                 .owner_file = s->o.owner_file,
                                 .epoch = s->o.epoch,
                                 .keep_failed = s->o.keep_failed,
                                 .overwrite = config->overwrite };
  const struct tm_commit_found *found = &s->found;
  int rc = tm_commit_open(&s->commit, &o, &s->found, err);

  if (rc < 0)
    return rc;
  s->manifest = tm_commit_manifest(s->commit);
  tm_columns_init(&s->columns, s->o.fs, s->state_dir, config->append_row_separator,
                  config->append_row_header);
  if ((rc = tm_columns_open(&s->columns, s->commit, err)) < 0)
    return rc;
  tm_tally_add_earlier(&s->tally, found->committed, found->failed, found->items,
                       found->items_succeeded, found->returned);
  tm_tally_add_uncounted(&s->tally, found->uncounted);
  tm_tally_set_created(&s->tally, (int64_t)tm_manifest_count(s->manifest),
                       (int64_t)tm_manifest_items(s->manifest), tm_manifest_has_end(s->manifest));
  tm_workers_init(s);
  return 0;
}

int tm_supervisor_open(struct tm_supervisor **out, const struct tm_supervisor_options *o,
                       struct tm_err *err)
{
  struct tm_supervisor *s = TM_NEW(struct tm_supervisor);
  const struct tm_config *config = &o->step->config;
  int rc;

  tm_require(o->loop && o->events && o->job && o->step && o->on_ended);
  s->o = *o;
  set_view(s);
  tm_bound_init(&s->bound, o->step, o->job->dir);
  tm_tally_init(&s->tally,
                &(struct tm_limits) { .failed_items = config->error_threshold,
                                      .failed_mini_batches = config->allowed_failed_count,
                                      .failed_percent = config->allowed_failed_percent },
                config->output_action == TM_APPEND_ROW);
  s->due_ns = INT64_MAX;
  tm_announced_init(s);
  if ((rc = tm_destinations_hold(s->o.fs, s->o.step, &s->held, err)) < 0 ||
      (rc = open_commit(s, err)) < 0 ||
      (rc = tm_table_state_check((const struct tm_dataset *const *)s->o.step->inputs,
                                 s->o.step->inputs_len, s->manifest, s->schema_file, err)) < 0 ||
      (!tm_supervisor_is_over(s) &&
       (rc = tm_table_state_check_groups(o->step->inputs_len, s->manifest, s->state_dir, err)) <
           0)) {
    tm_supervisor_close(s);
    return rc;
  }
  s->next_number = tm_step_nodes_next_number(s);
  s->view.activities = &s->activities;
  refresh(s);
  *out = s;
  return 0;
}

int tm_supervisor_begin(struct tm_supervisor *s, const struct tm_snapshot *copy, struct tm_err *err)
{
  tm_require(s->life.state == TM_STEP_IS_OPENED && !s->copy && copy->script && copy->dir);
  int rc = make_dirs(s, err);

  s->copy = copy;
  return rc < 0 ? rc : tm_commit_begin(s->commit, err);
}

const struct tm_commit_found *tm_supervisor_found(const struct tm_supervisor *s)
{
  return &s->found;
}

const struct tm_step_view *tm_supervisor_view(const struct tm_supervisor *s)
{
  return &s->view;
}

int tm_supervisor_code(const struct tm_supervisor *s)
{
  return s->code;
}

bool tm_supervisor_is_over(const struct tm_supervisor *s)
{
  const struct tm_counts *c = &s->tally.counts;

  return c->all_created && c->succeeded + c->failed == c->created && !s->o.verify_input;
}

/* Running. */

static void on_flushed(void *data)
{
  struct tm_supervisor *s = data;
  struct tm_event e = { .kind = TM_EVENT_FLUSHED };

  if (tm_commit_flushed_len(s->commit) > s->view.output_bytes)
    tm_supervisor_emit(s, &e, NULL);
}

static void on_not_written(void *data, const struct tm_err *err)
{
  tm_supervisor_fail(data, err);
}

static void on_synced(void *data)
{
  tm_supervisor_check_end(data);
}

/* The list of mini-batches has grown, has ended, or cannot go on. */
static void on_listed(void *data)
{
  struct tm_supervisor *s = data;
  struct tm_err err = TM_ERR_NONE;
  enum tm_level level;
  char *warning;

  if (!s->lister)
    return;
  int state = tm_lister_state(s->lister, &err), rc;
  while ((warning = tm_lister_take_warning(s->lister, &level))) {
    tm_supervisor_say(s, level, "%s", warning);
    free(warning);
  }
  if (state >= 0 && (rc = tm_model_rows_check(s, state == 1, &err)) < 0)
    state = rc;
  tm_workers_tell_created(s);
  tm_tally_set_created(&s->tally, (int64_t)tm_manifest_count(s->manifest),
                       (int64_t)tm_manifest_items(s->manifest), state == 1);
  if (state < 0) {
    tm_supervisor_fail(s, &err);
    return;
  }
  tm_workers_fill(s);
  if (s->o.on_listed)
    s->o.on_listed(s->o.data);
  tm_supervisor_judge(s);
}

static int start_lister(struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_lister_options o = { .loop = s->o.loop,
                                 .manifest = s->manifest,
                                 .splitter = tm_step_splitting(s->o.step),
                                 .on_progress = on_listed,
                                 .data = s };

  o.splitter.inputs = (const struct tm_dataset *const *)s->bound.inputs;
  o.splitter.spill_dir = s->spill_dir;
  o.splitter.schema_file = s->schema_file;
  o.splitter.groups_dir = s->state_dir;
  o.splitter.fs = s->o.fs;
  o.splitter.index_dir = s->index_dir;
  tm_require(!s->lister);
  if (s->o.accept_changes)
    tm_manifest_accept(s->manifest);
  if (s->o.verify_input)
    tm_manifest_relist(s->manifest);
  else if (s->o.records_inputs)
    o.inputs_file = s->inputs_file;
  o.by_content = s->o.step->reuses_by_content;
  s->tally.counts.all_created = false;
  s->lister = tm_lister_start(&o, err);
  return s->lister ? 0 : err->code;
}

static void on_due_closed(struct tm_timer *t)
{
  tm_supervisor_closed_one(t->data);
}

static void on_flusher_closed(void *data)
{
  tm_supervisor_closed_one(data);
}

static int start_flusher(struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_flusher_options o = { .loop = s->o.loop,
                                  .commit = s->commit,
                                  .life = &s->life,
                                  .sync_interval_ns = s->o.step->config.sync_interval_ns,
                                  .on_flushed = on_flushed,
                                  .on_failed = on_not_written,
                                  .on_synced = on_synced,
                                  .on_closed = on_flusher_closed,
                                  .data = s };

  s->open++;
  return tm_flusher_start(&s->flusher, &o, err);
}

static void start_listing(struct tm_supervisor *s)
{
  struct tm_err err = TM_ERR_NONE;

  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_BEGIN });
  if ((!tm_manifest_has_end(s->manifest) || s->o.verify_input) && start_lister(s, &err) < 0)
    tm_supervisor_fail(s, &err);
  else
    tm_supervisor_judge(s);
  if (tm_step_nodes_are_new(s))
    happen(s, TM_STEP_ON_NODE, NULL);
}

/* The inputs that need places of their own are in place; or they cannot be. */
static void on_taken_in(void *data, int code, const struct tm_err *err)
{
  struct tm_supervisor *s = data;

  tm_input_staging_stop(s->input_staging);
  s->input_staging = NULL;
  happen(s, code < 0 ? TM_STEP_ON_NOT_STAGED : TM_STEP_ON_STAGED, err);
}

/* The step has no inputs to stage, or it waits for them. */
static int start_input_staging(struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_input_staging_options o = { .loop = s->o.loop,
                                        .fs = s->o.fs,
                                        .step = s->o.step,
                                        .job_dir = s->o.job->dir,
                                        .on_ended = on_taken_in,
                                        .data = s };

  if (s->o.step->stagings_len == 0 || s->view.is_kept) {
    happen(s, TM_STEP_ON_STAGED, NULL);
    return 0;
  }
  tm_supervisor_say(s, TM_INFO, "step '%s': %zu %s to %s of %s own, then it begins", s->view.name,
                    s->o.step->stagings_len,
                    tm_text_counted((int64_t)s->o.step->stagings_len, "input gets", "inputs get"),
                    tm_text_counted((int64_t)s->o.step->stagings_len, "a place", "places"),
                    tm_text_counted((int64_t)s->o.step->stagings_len, "its", "their"));
  if (!(s->input_staging = tm_input_staging_start(&o, err)))
    return err->code;
  happen(s, TM_STEP_ON_STAGING, NULL);
  return 0;
}

void tm_supervisor_start(struct tm_supervisor *s)
{
  struct tm_event e = { .kind = TM_EVENT_STEP_STARTED };
  struct tm_err err = TM_ERR_NONE;

  tm_require(s->copy && s->open == 0); /* it has begun */
  tm_timer_open(&s->due_timer, s->o.loop, tm_workers_on_due, s);
  s->due_timer.on_closed = on_due_closed;
  s->open++;
  tm_copying_open(s);
  tm_announced_open(s);
  s->view.is_kept = tm_supervisor_is_over(s);
  tm_supervisor_emit(s, &e, NULL);
  for (size_t i = 0; i < s->o.step->notes_len; i++)
    tm_supervisor_say(s, s->o.step->notes[i].level, "step '%s': %s", s->view.name,
                      s->o.step->notes[i].text);
  tm_supervisor_say(s, TM_INFO, "step '%s': progress_update_timeout is %g s", s->view.name,
                    (double)s->o.step->config.progress_timeout_ns / 1e9);
  if (start_flusher(s, &err) < 0 || start_input_staging(s, &err) < 0)
    tm_supervisor_fail(s, &err);
}

/* Judging and ending. */

void tm_supervisor_judge(struct tm_supervisor *s)
{
  const struct tm_sched_node *node;
  enum tm_verdict verdict;

  if (!may(s, TM_STEP_MAY_START))
    return;
  node = tm_sched_given_up(&s->sched);
  if (node && !(s->o.expects_node && s->o.expects_node(s->o.data, s))) {
    struct tm_err why = s->cause; /* why the last worker ended */
    if (node->pool.idle_ends > node->pool.init_failures)
      tm_err_set(&s->cause, TM_ESCRIPT,
                 "%" PRId64 " workers in a row ended before they began a mini-batch: %s",
                 node->pool.idle_ends, why.text);
    else
      tm_err_set(&s->cause, TM_ESCRIPT, "loading or init() failed %" PRId64 " times in a row: %s",
                 node->pool.init_failures, why.text);
    happen(s, TM_STEP_ON_GIVE_UP, NULL);
    return;
  }
  verdict = tm_tally_verdict(&s->tally, &s->cause);
  if (verdict != TM_RUNNING)
    happen(s, verdict == TM_FAILED ? TM_STEP_ON_GIVE_UP : TM_STEP_ON_DONE, NULL);
}

/* Workers end, or are killed. */
static void stop_workers(struct tm_supervisor *s, bool kill)
{
  tm_timer_stop(&s->due_timer);
  if (s->input_staging)
    tm_input_staging_cancel(s->input_staging);
  tm_workers_tell(s, &(struct tm_sched_event) { .kind = TM_SCHED_ON_END, .kill = kill });
  tm_workers_carry_out(s, NULL);
  if (kill)
    tm_announced_drop(s, NULL);
  tm_supervisor_check_end(s);
}

static void end(struct tm_supervisor *s, enum tm_verdict verdict, bool kill)
{
  s->tally.verdict = verdict;
  stop_workers(s, kill);
}

/* The first error is the cause. */
static void fail(struct tm_supervisor *s, const struct tm_err *err)
{
  tm_supervisor_take_cause(s, err);
  if (tm_exit_status_of(err->code) == 3) /* an error of the system: sys/error/ has it too */
    tm_supervisor_say(s, TM_ERROR, "step '%s' cannot go on: %s", s->view.name, s->cause.text);
  end(s, TM_FAILED, true);
}

static void use_nodes(struct tm_supervisor *s)
{
  if (s->copying.is_on)
    return; /* the end of the copy asks again */
  tm_step_nodes_add_all(s);
  tm_workers_fill(s);
}

void tm_supervisor_check_end(struct tm_supervisor *s)
{
  if (s->workers.len == 0 && s->sched.roster.living == 0 && !tm_flusher_is_busy(&s->flusher) &&
      !s->copying.is_on && s->announced.list.len == 0)
    happen(s, TM_STEP_ON_QUIET, NULL);
}

void tm_supervisor_cancel(struct tm_supervisor *s, bool now)
{
  happen(s, now ? TM_STEP_ON_CANCEL_NOW : TM_STEP_ON_CANCEL, NULL);
}

void tm_supervisor_silence_node(struct tm_supervisor *s, uint32_t id)
{
  tm_step_nodes_silence(s, id);
}

void tm_supervisor_lose_node(struct tm_supervisor *s, uint32_t id)
{
  tm_copying_lose_node(s, id);
  tm_supervisor_check_end(s);
}

void tm_supervisor_set_node(struct tm_supervisor *s, struct tm_node *node,
                            const struct tm_temp_dirs *temp)
{
  tm_step_nodes_set(s, node, temp);
  happen(s, TM_STEP_ON_NODE, NULL);
}

void tm_supervisor_tick(struct tm_supervisor *s)
{
  refresh(s);
  if (may(s, TM_STEP_MAY_RUN))
    tm_step_nodes_tick(s);
  if (may(s, TM_STEP_MAY_WATCH))
    tm_watchdog_tick(s);
  if (!s->copying.is_on)
    tm_supervisor_judge(s); /* no other node may come any more */
}

/* Closing. */

static void free_now(struct tm_supervisor *s)
{
  tm_require(s->workers.len == 0 && s->open == 0);
  tm_sched_release(&s->sched);
  TM_ARRAY_RELEASE(&s->isolates);
  TM_ARRAY_RELEASE(&s->workers);
  TM_ARRAY_RELEASE(&s->by_number);
  tm_activities_release(&s->activities);
  tm_buf_release(&s->scratch);
  tm_stuck_release(&s->stuck);
  tm_bound_release(&s->bound);
  tm_step_nodes_release(s);
  free(s->dir);
  free(s->logs_dir);
  free(s->output_dir);
  free(s->output_file);
  free(s->state_dir);
  free(s->spill_dir);
  free(s->staging_dir);
  free(s->inputs_file);
  free(s->schema_file);
  free(s->index_dir);
  free(s->models_dir);
  free(s);
}

void tm_supervisor_closed_one(struct tm_supervisor *s)
{
  tm_require(s->open > 0);
  if (--s->open == 0)
    happen(s, TM_STEP_ON_RELEASED, NULL);
}

static void close_all(struct tm_supervisor *s, bool flushes)
{
  s->open++;
  tm_copying_close(s);
  tm_announced_close(s);
  tm_workers_drop_all(s);
  if (s->drop_isolates)
    s->drop_isolates(s);
  (void)tm_lister_stop(s->lister);
  tm_input_staging_stop(s->input_staging);
  tm_uploads_stop(s->upload);
  tm_flusher_close(&s->flusher);
  tm_columns_release(&s->columns);
  if (flushes && s->commit)
    (void)tm_commit_flush(s->commit, NULL); /* all that was added must be committed */
  tm_commit_close(s->commit);
  tm_destinations_leave(s->o.fs, &s->held);
  tm_timer_close(&s->due_timer);
  tm_supervisor_closed_one(s);
}

/* Its life. */

/* Carries out what the step's life decides. `err`: why it cannot go on, if that is the event. */
static void happen(struct tm_supervisor *s, enum tm_step_life_event event, const struct tm_err *err)
{
  switch (tm_step_life_event(&s->life, event)) {
  case TM_STEP_DO_NOTHING: break;
  case TM_STEP_DO_LIST: start_listing(s); break;
  case TM_STEP_DO_USE_NODE: use_nodes(s); break;
  case TM_STEP_DO_COMPLETE: end(s, TM_COMPLETED, false); break;
  case TM_STEP_DO_GIVE_UP: end(s, TM_FAILED, true); break;
  case TM_STEP_DO_CANCEL: end(s, TM_CANCELED_JOB, false); break;
  case TM_STEP_DO_CANCEL_NOW: end(s, TM_CANCELED_JOB, true); break;
  case TM_STEP_DO_KILL: stop_workers(s, true); break;
  case TM_STEP_DO_FAIL: fail(s, err); break;
  case TM_STEP_DO_LOOK: tm_supervisor_check_end(s); break;
  case TM_STEP_DO_COMMIT: tm_ending_commit(s); break;
  case TM_STEP_DO_CANCEL_UPLOAD: tm_uploads_cancel(s->upload); break;
  case TM_STEP_DO_END: tm_ending_tell(s); break;
  case TM_STEP_DO_CLOSE: close_all(s, false); break;
  case TM_STEP_DO_FLUSH_CLOSE: close_all(s, true); break;
  case TM_STEP_DO_FREE: free_now(s); break;
  case TM_STEP_ACTIONS: break;
  }
}

void tm_supervisor_happen(struct tm_supervisor *s, enum tm_step_life_event event)
{
  happen(s, event, NULL);
}

void tm_supervisor_fail(struct tm_supervisor *s, const struct tm_err *err)
{
  happen(s, TM_STEP_ON_FAIL, err);
}

void tm_supervisor_close(struct tm_supervisor *s)
{
  if (s)
    happen(s, TM_STEP_ON_CLOSE, NULL);
}
