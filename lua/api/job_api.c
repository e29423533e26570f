/* job_api.c - jobs of a host, from submission to end.
 *
 *   submit -> [opened] -> the loop's next turn: started -> events ... -> ended, the last event ->
 *   close
 *
 *  (1) The host gets no event before the submitting call has returned: a timer that is due at once
 *      starts the job.
 *  (2) That timer also does what a host asks for in a callback, because functions of the job are on
 *      the stack then.
 *  (3) After tm_job_close(), no function of the job is called; the object lives until its timer is
 *      closed.
 */
#include "api/own.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "api/job_choice.h"
#include "base/check.h"
#include "base/path.h"
#include "job/failed_source.h"
#include "job/first_look.h"
#include "plan/destination.h"
#include "record/job_dir.h"
#include "record/job_record.h"
#include "report/progress.h"
#include "store/jobs.h"
#include "store/workspace.h"

/* Copies the host's options, up to the size of the host's struct. */
static int read_options(struct tidemill_job_options *out, const struct tidemill_job_options *o,
                        bool resume, struct tm_err *err)
{
  const char *call = resume ? "tidemill_job_resume()" : "tidemill_job_submit()";
  struct tidemill_screen screen;
  *out = (struct tidemill_job_options)TIDEMILL_JOB_OPTIONS_INIT;
  if (tm_take_options(out, sizeof(*out), o, call, "the options", "TIDEMILL_JOB_OPTIONS_INIT", err) <
          0 ||
      tm_take_options(&screen, sizeof(screen), out->screen, call, "the screen",
                      "TIDEMILL_SCREEN_INIT", err) < 0)
    return TM_EUSAGE;
  if (resume) {
    out->dir = NULL;
    out->resume = true;
  }
  if (out->dir && !*out->dir)
    return tm_err_set(err, TM_EUSAGE,
                      "`dir` of the job is empty; NULL is a new one in the workspace");
  if (out->keep_script && !out->resume)
    return tm_err_set(err, TM_EUSAGE,
                      "`keep_script` of the job goes with `resume`: a new job makes a new copy");
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

static bool is_named(const struct tidemill_runtime *rt)
{
  const char *name = workspace_name(rt);
  return name && *name;
}

char *tm_runtime_job(const struct tidemill_runtime *rt, const char *job, struct tm_err *err)
{
  char *cwd = tm_api_here(err);
  char *dir = cwd ? tm_jobs_find(rt->fs, job, workspace_name(rt), cwd, TM_TO_USE, err) : NULL;
  free(cwd);
  return dir;
}

char *tm_runtime_workspace(const struct tidemill_runtime *rt, const char *file, struct tm_err *err)
{
  char *cwd = tm_api_here(err);
  char *workspace = cwd ? tm_workspace_find(rt->fs, file, workspace_name(rt), cwd, err) : NULL;
  free(cwd);
  return workspace;
}

/* The absolute directory of a new job of the pipeline, or with `resume` of its newest job that
 * is not Completed. `file`: where the search for the workspace begins. Both to free(). */
static char *choose_dir(const struct tidemill_runtime *rt, const struct tm_pipeline *p,
                        const char *file, bool resume, char **note, struct tm_err *err)
{
  char *workspace = tm_runtime_workspace(rt, file, err);
  struct tm_job_choice c = { rt->fs, workspace, p, resume, is_named(rt) };
  char *dir = workspace ? tm_job_choose(&c, note, err) : NULL;
  free(workspace);
  return dir;
}

/* ---- running ---- */

static void on_event(void *data, const struct tm_event *e)
{
  tm_event_tell(data, e);
}

static void on_ended(void *data, struct tm_job *beneath)
{
  struct tidemill_job *job = data;
  tm_require(!job->has_ended); /* the last event comes once */
  job->has_ended = true;
  tm_event_tell_end(job);
  if (job->rt->is_waiting)
    tm_loop_stop(&job->rt->loop);
}

static void close_now(struct tidemill_job *job);

static void on_later(struct tm_timer *t)
{
  struct tidemill_job *job = t->data;
  tm_require(job->calls == 0); /* keeps (2): no callback is on the stack */
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

static void listen_to(struct tidemill_job *job)
{
  job->listener = (struct tm_listener) { .on_event = on_event, .data = job };
  tm_events_add(&job->events, &job->listener);
}

static void free_job(struct tidemill_job *job)
{
  free(job->dir);
  free(job->workspace);
  free(job->registry);
  free(job->result);
  TM_ARRAY_RELEASE(&job->rows);
  free(job->step_counts);
  free(job);
}

/* A job to open. `pipeline` is checked; the submission frees it. */
struct submission {
  struct tidemill_runtime *rt;
  const struct tidemill_job_options *o;
  struct tm_pipeline *pipeline;
  const char *dir, *workspace, *registry; /* absolute; the last two or NULL */
  const char *note;                       /* as in struct tm_job_options, like has_stdin */
  bool has_stdin;
};

static struct tidemill_job *new_job(const struct submission *s)
{
  struct tidemill_job *job = TM_NEW(struct tidemill_job);
  job->rt = s->rt;
  job->o = *s->o;
  job->dir = tm_xstrdup(s->dir);
  job->workspace = tm_xstrdup(s->workspace);
  job->registry = tm_xstrdup(s->registry);
  return job;
}

static int open_job(struct tidemill_job **out, const struct submission *s, struct tm_err *err)
{
  struct tidemill_job *job = new_job(s);
  struct tm_job_options o = { .loop = &s->rt->loop,
                              .fs = s->rt->fs,
                              .pipeline = s->pipeline,
                              .dir = job->dir,
                              .program = s->rt->program,
                              .has_stderr = s->rt->is_command,
                              .events = &job->events,
                              .resume = s->o->resume,
                              .note = s->note,
                              .keep_failed = s->o->keep_failed,
                              .accept_changes = s->o->accept_changes,
                              .verify_input = s->o->verify_input,
                              .verify_output = s->o->verify_output,
                              .workspace = job->workspace,
                              .registry = job->registry,
                              .no_reuse = s->o->no_reuse,
                              .keep_script = s->o->keep_script,
                              .has_stdin = s->has_stdin,
                              .max_workers = s->o->max_workers,
                              .wait = { .is_stopped = s->o->is_stopped, .data = s->o->data },
                              .on_ended = on_ended,
                              .data = job };
  int rc;
  tm_destinations_bind(s->pipeline, s->dir);
  rc = tm_job_report_open(job, err);
  listen_to(job);
  if (rc < 0 || (rc = tm_job_open(&job->job, &o, err)) < 0) {
    tm_job_report_close(job);
    free_job(job);
    return rc;
  }
  job->pipeline = s->pipeline;
  tm_timer_open(&job->later, &s->rt->loop, on_later, job);
  tm_timer_start(&job->later, 0, 0); /* keeps (1) */
  job->next = s->rt->jobs;
  s->rt->jobs = job;
  *out = job;
  return 0;
}

/* ---- submission ---- */

/* Refuses options that need a resumed job, or resume_from, when there is neither. */
static int refuse_alone(const struct tm_pipeline *p, const struct tidemill_job_options *o,
                        struct tm_err *err)
{
  const char *alone = o->keep_failed      ? "keep_failed"
                      : o->accept_changes ? "accept_changes"
                      : o->verify_input   ? "verify_input"
                                          : NULL;
  bool has_other = o->resume;
  if (o->verify_output && !o->resume)
    return tm_err_set(err, TM_EUSAGE, "`verify_output` goes with `resume`");
  for (size_t i = 0; i < p->steps_len; i++)
    has_other = has_other || p->steps[i]->config.resume_from;
  return has_other || !alone
             ? 0
             : tm_err_set(err, TM_EUSAGE,
                          "`%s` goes with `resume`, or with --resume_from among the arguments",
                          alone);
}

int tm_runtime_known_workspace(char **out, const struct tidemill_runtime *rt, const char *file,
                               const char *cwd, struct tm_err *err)
{
  char *dir = is_named(rt) || !file ? tm_xstrdup(cwd) : tm_path_dir(file);
  int rc = tm_workspace_look(out, rt->fs, workspace_name(rt), dir, TM_TO_USE, err);
  free(dir);
  return rc;
}

/* A job over the failed items of another job is resumed over the same items. A job that cannot
 * be read is refused when it is opened. */
static int take_again(const char *dir, struct tm_pipeline *p, struct tm_err *err)
{
  struct tm_err ignored = TM_ERR_NONE;
  struct tm_json *record =
      tm_job_dir_look(dir, &ignored) == TM_JOB_DIR_JOB ? tm_job_record_load(dir, &ignored) : NULL;
  int rc = record ? tm_failed_source_again(record, p, err) : 0;
  tm_json_free(record);
  return rc;
}

/* The caller frees it. */
static char *dir_of(const struct tidemill_pipeline *p, struct tm_pipeline *settled,
                    const struct tidemill_job_options *o, const char *cwd, char **note,
                    struct tm_err *err)
{
  char *dir = o->dir                ? tm_path_absolute(cwd, o->dir)
              : o->resume && p->job ? tm_xstrdup(p->job)
                                    : choose_dir(p->rt, settled, p->file, o->resume, note, err);
  if (dir && o->resume && take_again(dir, settled, err) < 0) {
    free(dir);
    dir = NULL;
  }
  return dir;
}

/* Refuses inputs that name nothing before it makes a job or a workspace. The job checks existing
 * inputs (job/preflight.h). */
static int look_ahead(const struct tidemill_pipeline *p, const struct tm_pipeline *settled,
                      const char *cwd, struct tm_err *err)
{
  char *workspace = NULL;
  int rc = tm_runtime_known_workspace(&workspace, p->rt, p->file, cwd, err);
  if (rc == 0 && !workspace)
    rc = tm_first_look(p->rt->fs, settled, err);
  free(workspace);
  return rc;
}

/* Takes the pipeline over, even if it fails. */
static int submit(struct tidemill_job **out, const struct tidemill_pipeline *p,
                  struct tm_pipeline *settled, const struct tidemill_job_options *o,
                  struct tm_err *err)
{
  struct tidemill_runtime *rt = p->rt;
  struct submission s = {
    .rt = rt, .o = o, .pipeline = settled, .has_stdin = rt->is_command && !p->job
  };
  char *cwd = NULL, *dir = NULL, *note = NULL, *workspace = NULL, *registry = NULL;
  if (refuse_alone(settled, o, err) == 0 && tm_refuse_stdin(rt, settled, err) == 0)
    cwd = tm_api_here(err);
  if (cwd)
    tm_draft_tell_earlier(p, settled);
  bool is_well = cwd && (o->dir || o->resume || look_ahead(p, settled, cwd, err) == 0);
  s.dir = dir = is_well ? dir_of(p, settled, o, cwd, &note, err) : NULL;
  s.note = note;
  int rc = dir ? tm_runtime_known_workspace(&workspace, rt, p->file, cwd, err) : err->code;
  s.workspace = workspace; /* a new job may have made it */
  if (rc == 0)
    rc = tm_draft_registry(&registry, p, settled, err);
  s.registry = registry;
  if (rc == 0)
    rc = open_job(out, &s, err);
  if (rc == TM_ECHANGED && o->resume && !o->dir && !p->job)
    tm_job_choice_explain(settled, dir, rt->is_command, err);
  free(registry);
  free(workspace);
  free(dir);
  free(note);
  free(cwd);
  if (rc < 0)
    tm_pipeline_free(settled);
  return rc;
}

/* The job has a copy of its script. If only the original is missing, or no longer compiles, says
 * that the copy can run. */
static void tell_copy(const struct tidemill_pipeline *p, const struct tidemill_job_options *o,
                      struct tm_err *err)
{
  struct tm_err ignored = TM_ERR_NONE;
  struct tm_pipeline *kept = o->keep_script ? NULL : tm_draft_settle(p, TM_SCRIPTS_KEPT, &ignored);
  if (kept)
    tm_err_append(err, "; `keep_script` resumes with the job's own copy of the script");
  tm_pipeline_free(kept);
}

int tidemill_job_submit(struct tidemill_job **out, struct tidemill_pipeline *p,
                        const struct tidemill_job_options *options, struct tm_err *err)
{
  struct tidemill_job_options o;
  struct tm_pipeline *settled;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_job_submit()", "out", out, "p", p, NULL) < 0 ||
      read_options(&o, options, false, err) < 0)
    return TM_EUSAGE;
  settled = tm_draft_settle(p, o.keep_script ? TM_SCRIPTS_KEPT : TM_SCRIPTS_COMPILED, err);
  if (!settled && p->job) {
    tm_err_wrap(err, "cannot resume job '%s'", p->job);
    tell_copy(p, &o, err);
  }
  int rc = settled ? submit(out, p, settled, &o, err) : err->code;
  return rc < 0 ? tm_words_for_host(p->rt, err) : rc;
}

int tidemill_job_resume(struct tidemill_job **out, struct tidemill_runtime *rt, const char *given,
                        const struct tidemill_job_options *options, struct tm_err *err)
{
  struct tidemill_job_options o;
  struct tidemill_pipeline *p = NULL;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_job_resume()", "out", out, "rt", rt, "job", given, NULL) < 0 ||
      read_options(&o, options, true, err) < 0)
    return TM_EUSAGE;
  int rc = tidemill_pipeline_load_job(&p, rt, given, err);
  if (rc == 0)
    rc = tidemill_job_submit(out, p, &o, err);
  tidemill_pipeline_free(p);
  return rc;
}

/* ---- waiting, ending ---- */

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
  tm_require(!rt->waited); /* tm_runtime_may_turn() refuses a wait within a wait */
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

void tidemill_job_say(struct tidemill_job *job, enum tidemill_level level, const char *text)
{
  if (job && text)
    tm_report_say(job->report, (enum tm_level)level, text); /* the same words in the same order */
}

static void on_later_closed(struct tm_timer *t)
{
  free_job(t->data);
}

static void forget(struct tidemill_job *job)
{
  struct tidemill_job **at = &job->rt->jobs;
  while (*at && *at != job)
    at = &(*at)->next;
  tm_require(*at); /* it is closed once */
  *at = job->next;
}

static void close_now(struct tidemill_job *job)
{
  tm_require(job->calls == 0 && job->job);
  job->wants_close = true; /* passes on no further event */
  forget(job);
  if (job->rt->waited == job)
    job->rt->waited = NULL;
  tm_job_close(job->job);
  tm_job_report_close(job);
  tm_pipeline_free(job->pipeline);
  job->later.on_closed = on_later_closed;
  tm_timer_close(&job->later); /* keeps (3) */
  if (job->rt->is_waiting)
    tm_loop_stop(&job->rt->loop); /* the loop may wait for this job */
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

/* ---- questions ---- */

enum tidemill_state tidemill_job_state(const struct tidemill_job *job)
{
  return job && job->has_ended ? tm_event_state(tm_job_view(job->job)->verdict)
                               : TIDEMILL_STATE_RUNNING;
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

const struct tidemill_counts *tidemill_job_counts(struct tidemill_job *job)
{
  struct tm_counts counts;
  if (!job)
    return NULL;
  tm_progress_sum(&counts, tm_job_view(job->job));
  tm_event_counts(&job->counts, &counts);
  return &job->counts;
}

const char *tidemill_job_result(struct tidemill_job *job)
{
  struct tm_json *result = job && job->has_ended && !job->result ? tm_job_result(job->job) : NULL;
  if (result)
    job->result = tm_json_text(result);
  tm_json_free(result);
  return job ? job->result : NULL;
}

size_t tidemill_job_steps_len(const struct tidemill_job *job)
{
  return job ? tm_job_view(job->job)->steps_len : 0;
}

int tidemill_job_step(struct tidemill_job *job, size_t i, struct tidemill_step *out,
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
  if (!job->step_counts)
    job->step_counts = tm_xcalloc(view->steps_len, sizeof(*job->step_counts));
  tm_event_counts(&job->step_counts[i], &step->counts);
  all.counts = &job->step_counts[i];
  all.output_bytes = step->output_bytes;
  memcpy(out, &all, out->size < sizeof(all) ? out->size : sizeof(all));
  return 0;
}
