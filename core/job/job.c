/* job.c - see job.h.
 *
 * Opening takes the directory (job_dir.c), then the definition, then the steps (job_steps.c). A new
 * job copies the scripts and renames job.json into place. A resumed one first compares its
 * definition with the new one, and reads the state of all its steps. A refusal changes nothing.
 * Nothing runs before start. A keeper is started when a step has work, and replaced when it is
 * lost. The result is written last. What begins and ends the job is reported to its life
 * (job_life.h), and tm_job_happen() does what that decides.
 */
#include "job/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "slurm/slurm_environment.h"
#include "inspect/output_check.h"
#include "job/job_own.h"
#include "job/limits.h"
#include "job/preflight.h"
#include "job/import.h"
#include "outputs/registering.h"
#include "record/definition.h"
#include "record/job_record.h"
#include "record/temp_dirs.h"
#include "snapshot/registered.h"
#include "sys/clock.h"
#include "sys/process.h"

static bool may(const struct tm_job *job, enum tm_job_life_may what)
{
  return tm_job_life_may(&job->life, what);
}

static void add_note(struct tm_job *job, enum tm_level level, char *text)
{
  *TM_ARRAY_ADD(&job->notes) = (struct tm_job_note) { .level = level, .text = text };
}

void tm_job_note(struct tm_job *job, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  add_note(job, TM_INFO, tm_buf_take(&text));
}

void tm_job_warn(struct tm_job *job, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  add_note(job, TM_WARNING, tm_buf_take(&text));
}

void tm_job_emit(struct tm_job *job, enum tm_event_kind kind, enum tm_level level, const char *text)
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
    return tm_job_dir_refuse_job(dir, err);
  return 0;
}

/* `dir`: the directory of a job that is resumed. */
static int look_ahead(struct tm_job *job, const char *dir, struct tm_err *err)
{
  struct tm_preflight p = { .fs = job->o.fs,
                            .pipeline = job->o.pipeline,
                            .program = job->o.program,
                            .job_dir = dir,
                            .dir = job->o.dir,
                            .workspace = job->o.workspace,
                            .no_reuse = job->o.no_reuse };

  return tm_preflight(&p, err);
}

struct opening { /* what the directory was */
  bool has_job;
  bool is_made;         /* by this session, alone in it */
  bool is_empty_before; /* the folder had been there, empty */
};

/* Looks before it writes anything there, and again once it has the lock: another process may have
 * run a job in between. */
static int open_dir(struct tm_job *job, struct opening *o, struct tm_err *err)
{
  const char *dir = job->o.dir;
  enum tm_job_dir_state before = tm_job_dir_look(dir, err), state;
  int rc;

  if ((rc = check_state(job, before, err)) < 0 ||
      (before != TM_JOB_DIR_JOB && (rc = look_ahead(job, NULL, err)) < 0))
    return rc;
  o->is_empty_before = tm_fs_exists(job->o.fs, dir);
  if ((rc = tm_job_dir_open(&job->dir, job->o.fs, dir, &job->o.wait, err)) < 0)
    return rc;
  if (job->dir.has_no_locks)
    tm_job_note(
        job,
        "the file system of '%s' cannot lock files: if the job is resumed on another machine "
        "while it runs here, it stops here at its next sync",
        dir);
  state = tm_job_dir_look(dir, err);
  o->has_job = state == TM_JOB_DIR_JOB;
  o->is_made = before == TM_JOB_DIR_NEW && state == TM_JOB_DIR_INCOMPLETE;
  if ((rc = check_state(job, state, err)) < 0 || o->has_job)
    return rc;
  if (before == TM_JOB_DIR_NEW && job->o.note)
    tm_job_note(job, "%s", job->o.note);
  else if (before == TM_JOB_DIR_NEW && job->o.resume)
    tm_job_note(job, "there is no job in '%s' yet: a new one is started", dir);
  if (before == TM_JOB_DIR_INCOMPLETE)
    tm_job_note(job,
                "the job in '%s' was killed before its definition was complete; a new one starts",
                dir);
  return 0;
}

static void on_definition_note(void *data, char *text)
{
  add_note(data, TM_INFO, text);
}

static void remove_left(struct tm_job *job)
{
  struct tm_err left = TM_ERR_NONE;

  if (tm_temp_dirs_remove_left(job->o.fs, job->dir.path, &left) < 0)
    tm_job_note(job, "%s", left.text);
}

static int write_definition(struct tm_job *job, struct tm_err *err)
{
  return tm_job_record_write(&job->dir, job->o.pipeline, job->snapshots, job->command, err);
}

static int make_definition(struct tm_job *job, const struct tm_definition *d, struct tm_err *err)
{
  int rc = tm_definition_take(d, err);

  if (rc == 0)
    rc = tm_import_copy(d, err);
  return rc < 0 ? rc : write_definition(job, err);
}

/* Whatever may refuse a resume comes first, and leaves the job as it was. `record`: of a job that
 * exists, or NULL. */
static int take_steps(struct tm_job *job, const struct tm_definition *d,
                      const struct tm_json *record, struct tm_err *err)
{
  int rc = tm_import_place(d, err); /* was decided when the job was made */

  if (rc == 0)
    rc = tm_job_steps_open(job, err);
  if (rc < 0)
    return rc;
  remove_left(job);
  if (record)
    rc = tm_definition_keep(d, record, err);
  if (rc == 0)
    rc = tm_job_steps_begin(job, err);
  return rc < 0 || !record ? rc : write_definition(job, err);
}

/* A Completed job keeps its files as they are. */
static int resume(struct tm_job *job, const struct tm_definition *d, struct tm_err *err)
{
  struct tm_json *record = tm_job_record_read(&job->dir, err);
  int rc = record ? tm_definition_compare(d, record, job->o.dir, err) : err->code;

  if (tm_json_get(record, "command"))
    job->command = tm_json_copy(tm_json_get(record, "command"));
  if (rc == 0 && !job->earlier)
    rc = take_steps(job, d, record, err);
  tm_json_free(record);
  return rc;
}

static int open_definition(struct tm_job *job, bool has_job, struct tm_err *err)
{
  char *store = job->o.workspace ? tm_path_join(job->o.workspace, "snapshots") : NULL;
  struct tm_definition d = { .fs = job->o.fs,
                             .pipeline = job->o.pipeline,
                             .dir = &job->dir,
                             .store = store,
                             .snapshots = job->snapshots,
                             .accept_changes = job->o.accept_changes,
                             .keep_script = job->o.keep_script,
                             .on_note = on_definition_note,
                             .data = job };
  int rc = has_job ? resume(job, &d, err) : make_definition(job, &d, err);

  if (rc == 0 && !has_job)
    rc = take_steps(job, &d, NULL, err);
  free(store);
  return rc;
}

/* A Completed job runs nothing. If the user asks for it, its inputs are compared once the loop
 * runs. */
static int open_completed(struct tm_job *job, struct tm_err *err)
{
  int rc = job->o.verify_input ? open_definition(job, true, err) : 0;

  remove_left(job);
  tm_job_note(job, "the job in '%s' is Completed: nothing is run", job->o.dir);
  return rc;
}

/* A Completed job is read only if the user asks for it: nothing will be added to its output. */
static int check_output(struct tm_job *job, struct tm_err *err)
{
  struct tm_buf note = TM_BUF_NONE;
  bool is_read = job->o.verify_output ||
                 (!job->earlier && tm_output_is_touched(job->dir.path, job->o.pipeline));
  int rc = is_read ? tm_output_check(&note, job->dir.path, err) : 0;

  if (note.len > 0)
    add_note(job, TM_INFO, tm_buf_take(&note));
  return rc;
}

/* From here on, a directory without a result holds an interrupted job. */
static int remove_result(struct tm_job *job, struct tm_err *err)
{
  int rc = job->o.fs->unlink(job->o.fs->self, job->dir.result_file);

  if (rc == -ENOENT)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot remove '%s'", job->dir.result_file);
  return tm_fs_sync_dir(job->o.fs, job->dir.path, err);
}

static void advise(struct tm_job *job)
{
  struct tm_buf text = TM_BUF_NONE;

  if (tm_limits_advise(&text, job->o.pipeline, tm_slurm_environment_job(environ) != NULL))
    tm_job_warn(job, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
}

/* Only a job that exists is checked here; a new one was checked before its directory was made.
 * Nothing has run by then. */
static int open_steps(struct tm_job *job, bool has_job, struct tm_err *err)
{
  int rc = tm_registering_check(job->o.registry, job->o.pipeline, err);

  advise(job);
  if (rc == 0 && has_job)
    rc = look_ahead(job, job->dir.path, err);
  if (rc == 0)
    rc = open_definition(job, has_job, err);
  if (rc < 0)
    return rc;
  tm_job_launches_prepare(job);
  return remove_result(job, err);
}

static void set_view(struct tm_job *job)
{
  job->view =
      (struct tm_job_view) { .name = job->o.pipeline->name,
                             .dir = job->dir.path,
                             .pipeline_file = job->o.pipeline->file,
                             .begin_wall_ns = tm_clock_wall_ns(),
                             .begin_mono_ns = tm_clock_mono_ns(),
                             .steps_len = job->steps_len,
                             .steps = job->step_views,
                             .verdict = TM_RUNNING,
                             .cause = "",
                             .nodes = job->launches->groups.len > 0 ? &job->launches->view : NULL };
}

static int64_t node_workers(const struct tm_job_options *o)
{
  int64_t most = tm_process_cores();

  for (size_t i = 0; i < o->pipeline->steps_len; i++)
    if (o->pipeline->steps[i]->config.process_count_per_node > most)
      most = o->pipeline->steps[i]->config.process_count_per_node;
  return most;
}

int tm_job_open(struct tm_job **out, const struct tm_job_options *o, struct tm_err *err)
{
  struct tm_job *job = TM_NEW(struct tm_job);
  struct opening dir = { .has_job = false };
  int rc;

  tm_require(o->loop && o->fs && o->pipeline && o->events && o->on_ended);
  job->o = *o;
  job->steps_len = o->pipeline->steps_len;
  job->steps = tm_xcalloc(job->steps_len, sizeof(*job->steps));
  job->step_views = tm_xcalloc(job->steps_len, sizeof(*job->step_views));
  job->snapshots = tm_xcalloc(job->steps_len, sizeof(*job->snapshots));
  job->node_workers = node_workers(o);
  if ((rc = tm_limits_check(o->pipeline, o->max_workers, job->node_workers, err)) < 0 ||
      (rc = open_dir(job, &dir, err)) < 0)
    goto fail;
  tm_job_nodes_init(job);
  set_view(job);
  tm_job_steps_init(job);
  job->view.is_resumed = dir.has_job;
  bool is_completed = dir.has_job && tm_job_result_is_completed(&job->dir, &job->earlier);
  if (is_completed)
    tm_job_happen(job, TM_JOB_ON_KEPT);
  if (dir.has_job && (rc = check_output(job, err)) < 0)
    goto fail;
  rc = is_completed ? open_completed(job, err) : open_steps(job, dir.has_job, err);
  if (rc < 0)
    goto fail;
  *out = job;
  return 0;
fail:
  /* The request is refused before anything has begun: there is nothing to resume. */
  if (dir.is_made && tm_exit_status_of(rc) == 2)
    job->rest = dir.is_empty_before ? TM_JOB_REST_FOLDER : TM_JOB_REST_NOTHING;
  if (dir.has_job)
    tm_job_dir_give_back(&job->dir);
  tm_job_close(job);
  return rc;
}

/* Running. */

static void on_note(void *data, const char *text)
{
  tm_job_emit(data, TM_EVENT_MESSAGE, TM_WARNING, text);
}

static void on_tick(struct tm_timer *t)
{
  struct tm_job *job = t->data;

  tm_job_hear_request(job);
  if (!may(job, TM_JOB_MAY_RUN))
    return;
  tm_job_steps_tick(job);
  if (may(job, TM_JOB_MAY_RUN))
    tm_fleet_tick(&job->fleet, tm_clock_mono_ns());
  if (may(job, TM_JOB_MAY_RUN))
    tm_job_launched_use_known(job);
  if (may(job, TM_JOB_MAY_RUN))
    tm_job_launches_go(job);
  tm_job_emit(job, TM_EVENT_TICK, TM_DEBUG, "");
}

static void on_time_to_repeat(struct tm_timer *t)
{
  tm_job_slurm_cancel_left(t->data);
  tm_job_happen(t->data, TM_JOB_ON_DONE);
}

static void announce(struct tm_job *job, void (*on_time)(struct tm_timer *), int64_t first_ns)
{
  job->tick.on_time = on_time;
  tm_timer_start(&job->tick, first_ns, TM_JOB_TICK_NS);
  tm_job_emit(job, TM_EVENT_JOB_STARTED, TM_INFO, "");
  for (size_t i = 0; i < job->notes.len; i++)
    tm_job_emit(job, TM_EVENT_MESSAGE, job->notes.at[i].level, job->notes.at[i].text);
}

static void start(struct tm_job *job)
{
  announce(job, on_tick, TM_JOB_TICK_NS);
  tm_registered_check(job->o.pipeline, job->o.fs, on_note, job);
  tm_job_tell_history(job);
  tm_job_happen(job, TM_JOB_ON_STARTED);
}

static void run_canceled(struct tm_job *job)
{
  tm_job_steps_go(job);
  tm_job_steps_cancel(job, true);
}

static void on_tick_closed(struct tm_timer *t)
{
  tm_job_happen(t->data, TM_JOB_ON_RELEASED);
}

void tm_job_start(struct tm_job *job)
{
  tm_timer_open(&job->tick, job->o.loop, on_tick, job);
  job->tick.on_closed = on_tick_closed;
  tm_job_happen(job, TM_JOB_ON_START);
}

/* Ending. */

static void on_tick_ending(struct tm_timer *t)
{
  tm_job_launches_end(t->data);
}

static void end(struct tm_job *job)
{
  tm_require(job->steps_over == job->steps_len && job->errands == 0);
  job->tick.on_time = on_tick_ending;
  tm_job_launches_close(job);
}

static void conclude(struct tm_job *job)
{
  tm_require(tm_fleet_is_empty(&job->fleet));
  tm_timer_stop(&job->tick);
  tm_job_nodes_remove_temp(job);
  tm_job_conclude(job);
  job->o.on_ended(job->o.data, job);
}

const struct tm_job_view *tm_job_view(const struct tm_job *job)
{
  return &job->view;
}

/* Closing. */

static void free_now(struct tm_job *job)
{
  tm_require(job->errands == 0 && !job->dir.path); /* the lock is given back */
  for (size_t i = 0; i < job->notes.len; i++)
    free(job->notes.at[i].text);
  TM_ARRAY_RELEASE(&job->notes);
  for (size_t i = 0; i < job->steps_len; i++)
    tm_snapshot_release(&job->snapshots[i]);
  free(job->snapshots);
  tm_job_steps_release(job);
  free(job->step_views);
  tm_fleet_release(&job->fleet);
  tm_job_launches_release(job);
  tm_json_free(job->command);
  tm_json_free(job->earlier);
  free(job);
}

static void close_all(struct tm_job *job, bool is_early)
{
  tm_recheck_stop(job->recheck);
  tm_fleet_close_now(&job->fleet);
  if (is_early) {
    tm_job_keeper_close(job);
    (void)tm_temp_dirs_remove(job->o.fs, job->dir.path, NULL); /* records name what is left */
  }
  tm_job_nodes_release_temp(job);
  tm_job_steps_close(job);
  if (job->rest != TM_JOB_REST_ALL && job->dir.path)
    tm_job_dir_discard(&job->dir, job->rest == TM_JOB_REST_FOLDER);
  tm_job_dir_close(&job->dir);
  if (job->tick.is_open)
    tm_timer_close(&job->tick);
  else
    tm_job_happen(job, TM_JOB_ON_RELEASED);
}

void tm_job_close(struct tm_job *job)
{
  if (job)
    tm_job_happen(job, TM_JOB_ON_CLOSE);
}

/* Its life. */

static void note_cancel(struct tm_job *job)
{
  if (job->canceled_ns == 0)
    job->canceled_ns = tm_clock_mono_ns();
}

static void cancel(struct tm_job *job, bool now)
{
  note_cancel(job);
  tm_job_steps_cancel(job, now);
}

void tm_job_happen(struct tm_job *job, enum tm_job_life_event event)
{
  switch (tm_job_life_event(&job->life, event)) {
  case TM_JOB_DO_NOTHING: break;
  case TM_JOB_DO_START: start(job); break;
  case TM_JOB_DO_RECHECK: tm_kept_recheck(job); break;
  case TM_JOB_DO_REPEAT: announce(job, on_time_to_repeat, 0); break;
  case TM_JOB_DO_RUN: tm_job_steps_go(job); break;
  case TM_JOB_DO_RUN_CANCELED: run_canceled(job); break;
  case TM_JOB_DO_NOTE_CANCEL: note_cancel(job); break;
  case TM_JOB_DO_CANCEL: cancel(job, false); break;
  case TM_JOB_DO_CANCEL_NOW: cancel(job, true); break;
  case TM_JOB_DO_END: end(job); break;
  case TM_JOB_DO_CONCLUDE: conclude(job); break;
  case TM_JOB_DO_REPEAT_END: tm_kept_end(job); break;
  case TM_JOB_DO_REFUSE: tm_kept_refuse(job, TM_FAILED); break;
  case TM_JOB_DO_STOP_RECHECK: tm_kept_refuse(job, TM_CANCELED_JOB); break;
  case TM_JOB_DO_CLOSE: close_all(job, false); break;
  case TM_JOB_DO_CLOSE_EARLY: close_all(job, true); break;
  case TM_JOB_DO_FREE: free_now(job); break;
  case TM_JOB_ACTIONS: break;
  }
}
