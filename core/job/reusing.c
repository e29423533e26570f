/* reusing.c - results of earlier jobs (reuse.h) for the steps of a job: see job_own.h.
 *
 *  (1) The definitions are compared once, when the job is opened. A step without an earlier result
 *      begins as if there were no reuse. Only a step that has one lists its inputs before it
 *      begins.
 *  (2) Listing, linking and the database run on a thread, one per step. Meanwhile the loop's thread
 *      keeps the job, and touches nothing of the step.
 *  (3) No error here fails a job. If an earlier result cannot be taken, the step runs; if a result
 *      cannot be recorded, it is not.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "job/job_own.h"
#include "record/job_record.h"
#include "store/db.h"
#include "sys/errand.h"

struct tm_reuse_errand {
  struct tm_job *job;
  size_t step;
  bool keeps;               /* true: it records the result; false: it looks for one */
  struct tm_step_view view; /* a copy */
  struct tm_errand errand;
  atomic_bool stop;
  int rc; /* of the thread until it has ended */
  struct tm_err err;
};

/* Messages. */

static void say(struct tm_job *job, size_t i, enum tm_level level, const char *what,
                const char *words)
{
  char *text = tm_xprintf("step '%s' %s: %s", job->steps[i].own.name, what, words);

  tm_job_emit(job, TM_EVENT_MESSAGE, level, text);
  free(text);
}

/* Opening. */

static const char *dir_of(void *data, const char *name)
{
  const struct tm_job *job = data;

  return job->dir.path;
}

static bool reads_aside(const struct tm_step *step)
{
  if (step->side_inputs_len > 0 || step->read_paths_len > 0)
    return true;
  for (size_t i = 0; i < step->paths_len; i++)
    if (strcmp(step->paths[i].step, step->name) != 0)
      return true;
  for (size_t i = 0; i < step->inputs_len; i++)
    if (step->inputs[i]->mode != TM_DATASET_DIRECT || step->inputs[i]->kind == TM_DATASET_SQL)
      return true;
  return false;
}

static int open_step(struct tm_job *job, size_t i, struct tm_db *db, struct tm_err *err)
{
  struct tm_job_step *st = &job->steps[i];
  const struct tm_step *step = job->o.pipeline->steps[i];
  struct tm_reuse *r;
  int rc;

  if (st->state != TM_STEP_WAITING || tm_reuse_obstacle(job->o.pipeline, step) ||
      tm_fs_exists(job->o.fs, st->own.dir))
    return 0;
  r = st->reuse = TM_NEW(struct tm_reuse);
  *r = (struct tm_reuse) { .fs = job->o.fs,
                           .workspace = job->o.workspace,
                           .pipeline = job->o.pipeline->name,
                           .step = step,
                           .job_dir = job->dir.path,
                           .dir_of = dir_of,
                           .data = job };
  tm_reuse_init(r, job->snapshots[i].hash);
  rc = job->o.no_reuse ? 0 : tm_reuse_hope(r, db, err);
  if (rc < 0)
    return rc;
  st->is_unchecked = rc > 0;
  st->may_reuse = rc > 0 || reads_aside(step); /* those are listed before it begins */
  if (rc == 0 && r->words && !r->is_new)
    tm_job_note(job, "step '%s' is run: %s", step->name, r->words);
  return 0;
}

void tm_reusing_open(struct tm_job *job)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_db *db = NULL;
  int rc = job->o.workspace ? tm_db_open(&db, job->o.workspace, TM_DB_READ, &err) : 0;

  for (size_t i = 0; job->o.workspace && i < job->steps_len && rc >= 0; i++)
    rc = open_step(job, i, db, &err);
  tm_db_close(db);
  if (rc >= 0)
    return;
  tm_job_note(job, "earlier results are not looked for, nor those of this job kept: %s", err.text);
  tm_reusing_release(job);
}

/* The thread. */

/* 1: the earlier result was taken. */
static int look(struct tm_reuse_errand *t, struct tm_reuse *r)
{
  int rc = r->rows.len > 0 ? tm_reuse_look(r, &t->err) : tm_reuse_look_aside(r, &t->err);

  if (rc <= 0)
    return rc;
  rc = tm_reuse_take(r, &t->view, &t->err);
  return rc < 0 ? rc : 1;
}

static void run(void *data)
{
  struct tm_reuse_errand *t = data;
  struct tm_reuse *r = t->job->steps[t->step].reuse;

  t->rc = t->keeps ? tm_reuse_keep(r, &t->view, &t->err) : look(t, r);
}

static void end_errand(struct tm_reuse_errand *t)
{
  struct tm_job *job = t->job;

  tm_require(job->errands > 0 && job->steps[t->step].errand == t);
  (void)tm_errand_end(&t->errand, TM_ERRAND_JOIN);
  job->steps[t->step].reuse->stop = NULL;
  job->steps[t->step].errand = NULL;
  job->errands--;
}

/* A user who runs a pipeline again because items failed expects another try. */
static void warn_failed(struct tm_job *job, size_t i)
{
  int64_t failed = job->step_views[i]->counts.items_failed;
  char *text;

  if (failed == 0)
    return;
  text = tm_xprintf("step '%s' is reused with %" PRId64
                    " failed %s, not run again; '--no-reuse' runs the whole step, '--only-failed "
                    "JOB' runs failed files alone",
                    job->steps[i].own.name, failed, tm_text_counted(failed, "item", "items"));
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, text);
  free(text);
}

static void on_looked(struct tm_job *job, const struct tm_reuse_errand *t)
{
  struct tm_job_step *st = &job->steps[t->step];
  const struct tm_reuse *r = st->reuse;

  tm_require(st->state == TM_STEP_LOOKS);
  st->may_reuse = false;
  st->state = TM_STEP_WAITING;
  if (t->rc > 0) {
    tm_job_steps_take(job, t->step, &t->view);
    say(job, t->step, TM_INFO, "is reused", r->words);
    warn_failed(job, t->step);
    tm_reusing_keep(job, t->step);
  } else if (t->rc < 0 && t->rc != -ECANCELED) {
    say(job, t->step, TM_WARNING, "is run, its earlier result cannot be had", t->err.text);
  } else if (t->rc == 0 && r->words && !r->is_new) {
    say(job, t->step, TM_INFO, "is run", r->words);
  }
}

static void on_wake(void *data)
{
  struct tm_reuse_errand *t = data;
  struct tm_job *job = t->job;

  end_errand(t); /* its memory lives until the loop turns */
  if (!t->keeps)
    on_looked(job, t);
  else if (t->rc < 0 && t->rc != -ECANCELED)
    say(job, t->step, TM_WARNING, "is Completed, but no later job can reuse it", t->err.text);
  tm_job_steps_go(job);
}

static bool start(struct tm_job *job, size_t i, bool keeps)
{
  struct tm_reuse_errand *t = TM_NEW(struct tm_reuse_errand);

  tm_require(!job->steps[i].errand);
  t->job = job;
  t->step = i;
  t->keeps = keeps;
  t->view = *job->step_views[i];
  t->errand = (struct tm_errand) {
    .loop = job->o.loop, .run = run, .on_wake = on_wake, .free_data = free, .data = t
  };
  job->steps[i].reuse->stop = &t->stop;
  if (tm_errand_start(&t->errand, NULL) < 0) {
    job->steps[i].reuse->stop = NULL;
    return false;
  }
  job->steps[i].errand = t;
  job->errands++;
  return true;
}

bool tm_reusing_begin(struct tm_job *job, size_t i)
{
  tm_require(job->steps[i].state == TM_STEP_WAITING && job->steps[i].may_reuse);
  job->steps[i].may_reuse = false;
  if (!start(job, i, false))
    return false;
  job->steps[i].state = TM_STEP_LOOKS;
  return true;
}

void tm_reusing_keep(struct tm_job *job, size_t i)
{
  tm_require(job->steps[i].state == TM_STEP_OVER);
  if (job->steps[i].reuse)
    (void)start(job, i, true); /* (3) */
}

void tm_reusing_cancel(struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].errand)
      atomic_store(&job->steps[i].errand->stop, true);
}

void tm_reusing_close(struct tm_job *job)
{
  tm_reusing_cancel(job);
  for (size_t i = 0; i < job->steps_len; i++)
    if (job->steps[i].errand)
      end_errand(job->steps[i].errand);
}

void tm_reusing_release(struct tm_job *job)
{
  for (size_t i = 0; i < job->steps_len; i++) {
    struct tm_job_step *st = &job->steps[i];
    tm_require(!st->errand); /* its thread reads `reuse` */
    if (st->reuse)
      tm_reuse_release(st->reuse);
    free(st->reuse);
    st->reuse = NULL;
    st->may_reuse = st->is_unchecked = false;
  }
}
