/* job.c - jobs of a host: from a submission to the end.
 *
 *   submit -> [opened] -> the loop's next turn: started -> events ... -> ended, the last event -> close
 *
 *  (1) Nothing is told to the host before the call that submits has returned: the job is started by a timer that is due at once.
 *  (2) What a host asks for from within a callback, beneath which the job's own functions stand, is done by that timer too.
 *  (3) Behind tm_job_close() nothing of the job is called any more; the object lives until its timer is closed.
 */
#include "api/own.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "report/progress.h"
#include "run/failed_source.h"
#include "run/job_dir.h"
#include "run/job_record.h"
#include "store/jobs.h"
#include "store/workspace.h"
#include "sys/clock.h"

/* What the host gave, as far as its struct goes. */
static int read_options(struct tidemill_job_options *out, const struct tidemill_job_options *o,
                        bool resume, struct tm_err *err)
{
  *out = (struct tidemill_job_options)TIDEMILL_JOB_OPTIONS_INIT;
  if (o && o->size == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "the options of the job have no size; begin with TIDEMILL_JOB_OPTIONS_INIT");
  if (o)
    memcpy(out, o, o->size < sizeof(*out) ? o->size : sizeof(*out));
  if (resume) {
    out->dir = NULL;
    out->resume = true;
  }
  if (out->dir && !*out->dir)
    return tm_err_set(err, TM_EUSAGE,
                      "`dir` of the job is empty; NULL is a new one in the workspace");
  if (out->keep_script && !out->resume)
    return tm_err_set(err, TM_EUSAGE,
                      "`keep_script` of the job goes with `resume`: a new job takes a copy anew");
  if (out->max_workers < 0 || out->max_workers > INT32_MAX)
    return tm_err_set(err, TM_EUSAGE,
                      "max_workers of the job is %lld; accepted: 1 to %d, or 0 for as many as "
                      "there are cores",
                      (long long)out->max_workers, INT32_MAX);
  return 0;
}

static const char *workspace_name(const struct tidemill_runtime *rt)
{
  return rt->workspace ? rt->workspace : getenv(TM_WORKSPACE_VARIABLE);
}

char *tm_runtime_workspace(const struct tidemill_runtime *rt, const char *file, struct tm_err *err)
{
  char *cwd = tm_api_here(err);
  char *workspace = cwd ? tm_workspace_find(rt->fs, file, workspace_name(rt), cwd, err) : NULL;
  free(cwd);
  return workspace;
}

char *tm_submission_dir(const struct tidemill_runtime *rt, const struct tm_pipeline *p,
                        const char *file, bool resume, struct tm_err *err)
{
  char *workspace = tm_runtime_workspace(rt, file, err), *dir = NULL;
  if (workspace && resume)
    dir = tm_workspace_find_open_job(rt->fs, workspace, p->name);
  if (workspace && !dir)
    dir = tm_workspace_new_job(rt->fs, workspace, p->name, tm_clock_wall_ns(), err);
  free(workspace);
  return dir;
}

/* Running. */

static void on_event(void *data, const struct tm_event *e)
{
  tm_event_tell(data, e);
}

static void on_ended(void *data, struct tm_job *beneath)
{
  struct tidemill_job *job = data;
  job->has_ended = true;
  if (job->on_ended)
    job->on_ended(job->on_ended_data, job);
  tm_event_tell_end(job);
  if (job->rt->is_waiting)
    tm_loop_stop(&job->rt->loop);
}

static void close_now(struct tidemill_job *job);

static void on_later(struct tm_timer *t)
{
  struct tidemill_job *job = t->data;
  if (job->wants_close) {
    close_now(job);
    return;
  }
  if (!job->is_started) {
    job->is_started = true;
    tm_job_start(job->job);
  }
  if (job->wants_kill || job->wants_cancel)
    tm_job_end_early(job->job, job->wants_kill);
  job->wants_kill = job->wants_cancel = false;
}

static void open_report(struct tidemill_job *job, const struct tm_submission *s)
{
  struct tm_report_options o = s->report;
  o.fs = job->rt->fs;
  o.events = &job->events;
  job->report = tm_report_new(&o);
  job->listener = (struct tm_listener) { .on_event = on_event, .data = job };
  tm_events_add(&job->events, &job->listener);
}

static struct tidemill_job *new_job(const struct tm_submission *s)
{
  struct tidemill_job *job = TM_NEW(struct tidemill_job);
  job->rt = s->rt;
  job->o = *s->o;
  job->dir = tm_xstrdup(s->o->dir);
  job->workspace = tm_xstrdup(s->workspace);
  job->on_ended = s->on_ended;
  job->on_ended_data = s->data;
  return job;
}

static void free_job(struct tidemill_job *job)
{
  free(job->dir);
  free(job->workspace);
  free(job->result);
  free(job);
}

int tm_submission_open(struct tidemill_job **out, const struct tm_submission *s, struct tm_err *err)
{
  struct tidemill_job *job = new_job(s);
  struct tm_job_options o = { .loop = &s->rt->loop,
                              .fs = s->rt->fs,
                              .pipeline = s->pipeline,
                              .dir = job->dir,
                              .program = s->rt->program,
                              .has_stderr = s->has_stderr,
                              .events = &job->events,
                              .resume = s->o->resume,
                              .keep_failed = s->o->keep_failed,
                              .accept_changes = s->o->accept_changes,
                              .verify_input = s->o->verify_input,
                              .workspace = job->workspace,
                              .no_reuse = s->o->no_reuse,
                              .keep_script = s->keep_script,
                              .has_stdin = s->has_stdin,
                              .max_workers = s->o->max_workers,
                              .on_ended = on_ended,
                              .data = job };
  int rc;
  open_report(job, s);
  if ((rc = tm_job_open(&job->job, &o, err)) < 0) {
    tm_report_free(job->report);
    free_job(job);
    return rc;
  }
  job->pipeline = s->own;
  tm_timer_open(&job->later, &s->rt->loop, on_later, job);
  tm_timer_start(&job->later, 0, 0); /* keeps (1) */
  job->next = s->rt->jobs;
  s->rt->jobs = job;
  *out = job;
  return 0;
}

/* Submitting. */

/* It would be taken away from the host. */
int tm_refuse_stdin(const struct tm_pipeline *p, struct tm_err *err)
{
  for (size_t i = 0; i < p->steps_len; i++)
    for (size_t k = 0; k < p->steps[i]->inputs_len; k++)
      if (tm_dataset_is_stdin(p->steps[i]->inputs[k]))
        return tm_err_set(err, TM_EUSAGE,
                          "step '%s' reads a list on standard input, which is the host's; name a "
                          "file, or let the program run it",
                          p->steps[i]->name);
  return 0;
}

char *tm_runtime_known_workspace(const struct tidemill_runtime *rt, const char *file,
                                 const char *cwd)
{
  const char *named = workspace_name(rt);
  char *dir = (named && *named) || !file ? tm_xstrdup(cwd) : tm_path_dir(file);
  char *workspace = tm_workspace_look(rt->fs, named, dir);
  free(dir);
  return workspace;
}

static int open_host_job(struct tidemill_job **out, struct tidemill_runtime *rt,
                         struct tm_pipeline *pipeline, const char *file,
                         struct tidemill_job_options *o, struct tm_err *err)
{
  struct tm_submission s = {
    .rt = rt, .o = o, .pipeline = pipeline, .own = pipeline, .keep_script = o->keep_script
  };
  char *cwd = tm_refuse_stdin(pipeline, err) == 0 ? tm_api_here(err) : NULL, *dir = NULL,
       *workspace = NULL;
  int rc;
  if (cwd)
    dir = o->dir ? tm_path_absolute(cwd, o->dir)
                 : tm_submission_dir(rt, pipeline, file, o->resume, err);
  if (dir) /* a new job may have made it */
    s.workspace = workspace = tm_runtime_known_workspace(rt, file, cwd);
  o->dir = dir;
  rc = dir ? tm_submission_open(out, &s, err) : err->code;
  if (rc < 0)
    tm_words_for_host(err);
  free(workspace);
  free(dir);
  free(cwd);
  if (rc < 0)
    tm_pipeline_free(pipeline);
  return rc;
}

int tidemill_job_submit(struct tidemill_job **out, struct tidemill_pipeline *p,
                        const struct tidemill_job_options *options, struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE;
  struct tidemill_job_options o;
  struct tm_pipeline *pipeline;
  err = err ? err : &unheard;
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_job_submit()", "out", out, "p", p, NULL) < 0 ||
      read_options(&o, options, false, err) < 0)
    return TM_EUSAGE;
  pipeline = tm_draft_settle(p, !o.keep_script, err);
  return pipeline ? open_host_job(out, p->rt, pipeline, p->file, &o, err) : err->code;
}

/* The pipeline of a job's record, with the parameters of then. */
static struct tm_pipeline *recorded(struct tidemill_runtime *rt, const struct tm_json *record,
                                    const char *dir, bool with_scripts, struct tm_err *err)
{
  const struct tm_json *params = tm_json_get(record, "params");
  const char *file = tm_json_str(record, "pipeline", NULL);
  struct tidemill_pipeline *draft = NULL;
  struct tm_pipeline *p = NULL;
  if (!file) {
    tm_err_set(err, TM_EUSAGE,
               "job '%s' was not begun from a pipeline file; submit its pipeline with `dir` and "
               "`resume`",
               dir);
    return NULL;
  }
  if (tidemill_pipeline_load(&draft, rt, file, err) == 0) {
    for (size_t i = 0; params && params->type == TM_JSON_OBJECT && i < params->list.len; i++)
      tm_draft_set_param(draft, params->keys[i], params->list.at[i]);
    p = tm_draft_settle(draft, with_scripts, err);
  }
  tidemill_pipeline_free(draft);
  if (p && tm_failed_source_again(record, p, err) < 0) {
    tm_pipeline_free(p);
    p = NULL;
  }
  if (!p)
    tm_err_wrap(err, "cannot go on with job '%s'", dir);
  return p;
}

int tidemill_job_resume(struct tidemill_job **out, struct tidemill_runtime *rt, const char *given,
                        const struct tidemill_job_options *options, struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE;
  struct tidemill_job_options o;
  struct tm_pipeline *p = NULL;
  err = err ? err : &unheard;
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_job_resume()", "out", out, "rt", rt, "job", given, NULL) < 0 ||
      read_options(&o, options, true, err) < 0)
    return TM_EUSAGE;
  char *cwd = tm_api_here(err);
  char *dir = cwd ? tm_jobs_find(rt->fs, given, workspace_name(rt), cwd, err) : NULL;
  struct tm_json *record = dir ? tm_job_record_load(dir, err) : NULL;
  if (record)
    p = recorded(rt, record, dir, !o.keep_script, err);
  o.dir = dir;
  int rc = p ? open_host_job(out, rt, p, p->file, &o, err) : err->code;
  tm_json_free(record);
  free(dir);
  free(cwd);
  return rc;
}

/* Waiting, ending. */

static bool is_over(const void *data)
{
  const struct tidemill_runtime *rt = data;
  return !rt->waited || rt->waited->has_ended;
}

int tidemill_job_wait(struct tidemill_job *job, int timeout_ms, struct tm_err *err)
{
  static const char what[] = "tidemill_job_wait()";
  struct tidemill_runtime *rt = job ? job->rt : NULL;
  int rc = tm_need(err, what, "job", job, NULL);
  if (rc == 0)
    rc = tm_runtime_may_turn(rt, what, err);
  if (rc < 0)
    return rc;
  rt->waited = job;
  rc = tm_runtime_wait(rt, is_over, rt, timeout_ms, what, err);
  if (!rt->waited)
    return tm_err_set(err, -ECANCELED, "%s: the job was closed in a callback", what);
  rt->waited = NULL;
  return rc;
}

void tidemill_job_cancel(struct tidemill_job *job, bool now)
{
  if (!job || job->has_ended)
    return;
  job->wants_cancel = true;
  job->wants_kill = job->wants_kill || now;
  tm_timer_start(&job->later, 0, 0); /* keeps (2) */
}

static void on_later_closed(struct tm_timer *t)
{
  free_job(t->data);
}

static void forget(struct tidemill_job *job)
{
  struct tidemill_job **at = &job->rt->jobs;
  while (*at != job)
    at = &(*at)->next;
  *at = job->next;
}

static void close_now(struct tidemill_job *job)
{
  job->wants_close = true; /* and nothing is told any more */
  forget(job);
  if (job->rt->waited == job)
    job->rt->waited = NULL;
  tm_job_close(job->job);
  tm_report_free(job->report);
  tm_pipeline_free(job->pipeline);
  job->later.on_closed = on_later_closed;
  tm_timer_close(&job->later); /* keeps (3) */
  if (job->rt->is_waiting)
    tm_loop_stop(&job->rt->loop); /* perhaps for this one */
}

void tidemill_job_close(struct tidemill_job *job)
{
  if (!job)
    return;
  if (job->calls == 0) {
    close_now(job);
    return;
  }
  job->wants_close = true;
  tm_timer_start(&job->later, 0, 0); /* keeps (2) */
}

/* Asking. */

enum tidemill_state tidemill_job_state(const struct tidemill_job *job)
{
  return job && job->has_ended ? tm_event_state(tm_job_view(job->job)->verdict) : TIDEMILL_RUNNING;
}

int tidemill_job_exit_status(const struct tidemill_job *job)
{
  return job && job->has_ended ? tm_job_exit_status(job->job) : -1;
}

const char *tidemill_job_name(const struct tidemill_job *job)
{
  return job ? tm_job_view(job->job)->name : NULL;
}

const char *tidemill_job_dir(const struct tidemill_job *job)
{
  return job ? job->dir : NULL;
}

const char *tidemill_job_cause(const struct tidemill_job *job)
{
  const char *cause = job && job->has_ended ? tm_job_view(job->job)->cause : NULL;
  return cause ? cause : "";
}

void tidemill_job_counts(const struct tidemill_job *job, struct tidemill_counts *out)
{
  struct tm_counts counts;
  if (out)
    *out = (struct tidemill_counts) { 0 };
  if (!job || !out)
    return;
  tm_progress_sum(&counts, tm_job_view(job->job));
  tm_event_counts(out, &counts);
}

const char *tidemill_job_result(struct tidemill_job *job)
{
  struct tm_json *result = job && job->has_ended && !job->result ? tm_job_result(job->job) : NULL;
  struct tm_buf text = TM_BUF_NONE;
  if (result) {
    tm_json_write(&text, result, (struct tm_json_style) { 0 });
    job->result = tm_buf_take(&text);
  }
  tm_json_free(result);
  return job ? job->result : NULL;
}

size_t tidemill_job_steps_len(const struct tidemill_job *job)
{
  return job ? tm_job_view(job->job)->steps_len : 0;
}

int tidemill_job_step(const struct tidemill_job *job, size_t i, struct tidemill_step *out,
                      struct tm_err *err)
{
  const struct tm_job_view *view = job ? tm_job_view(job->job) : NULL;
  struct tidemill_step all = { .size = out ? out->size : 0 };
  if (tm_need(err, "tidemill_job_step()", "job", job, "out", out, NULL) < 0)
    return TM_EUSAGE;
  if (out->size == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "tidemill_job_step(): the step has no size; begin with TIDEMILL_STEP_INIT");
  if (i >= view->steps_len || !view->steps[i])
    return tm_err_set(err, TM_EUSAGE, "tidemill_job_step(): there is no step %zu; there are %zu", i,
                      view->steps_len);
  const struct tm_step_view *step = view->steps[i];
  all.name = step->name;
  all.state = tm_event_state(step->verdict);
  all.output_dir = step->output_dir;
  all.output_file = step->output_file;
  all.logs_dir = step->logs_dir;
  all.cause = step->cause ? step->cause : "";
  tm_event_counts(&all.counts, &step->counts);
  memcpy(out, &all, out->size < sizeof(all) ? out->size : sizeof(all));
  return 0;
}
