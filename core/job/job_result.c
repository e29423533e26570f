/* job_result.c - how a job has ended: the verdict, the result on the disk, and the exit status. See
 * job.h and job_own.h. The result is written last.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/check.h"
#include "job/job_own.h"
#include "outputs/registering.h"
#include "record/job_history.h"
#include "record/job_record.h"
#include "sys/clock.h"

void tm_job_tell_history(struct tm_job *job)
{
  struct tm_err err = TM_ERR_NONE;
  char *text;

  if (tm_job_history_add(job->o.workspace, &job->view, tm_clock_wall_ns(), &err) == 0)
    return;
  text = tm_xprintf("the job is not in the history of its workspace: %s", err.text);
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, text);
  free(text);
}

static void judge(struct tm_job *job)
{
  job->view.verdict = TM_COMPLETED;
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_step_view *step = job->step_views[i];
    tm_require(step->verdict != TM_RUNNING);
    if (step->verdict == TM_FAILED && job->view.verdict != TM_FAILED) {
      job->view.verdict = TM_FAILED;
      job->view.cause = step->cause;
    } else if (step->verdict == TM_CANCELED_JOB && job->view.verdict == TM_COMPLETED) {
      job->view.verdict = TM_CANCELED_JOB;
    }
    if (job->code == 0)
      job->code = job->steps[i].s ? tm_supervisor_code(job->steps[i].s) : 0;
    if (job->steps[i].cause.code < 0) {
      job->code = job->code ? job->code : job->steps[i].cause.code;
      job->view.verdict = TM_FAILED;
      job->view.cause = job->steps[i].cause.text;
    }
  }
}

static void fail_end(struct tm_job *job)
{
  /* A step has failed for this reason already: files of the job, such as `owner`, were removed. */
  bool is_known = job->code == -ENOENT && job->cause.code == -ENOENT;

  job->code = job->cause.code;
  job->view.verdict = TM_FAILED;
  job->view.cause = job->cause.text;
  if (!is_known)
    tm_job_emit(job, TM_EVENT_MESSAGE, TM_ERROR, job->cause.text);
}

void tm_job_conclude(struct tm_job *job)
{
  struct tm_json *result;

  tm_require(job->view.verdict == TM_RUNNING); /* once */
  judge(job);
  if (tm_registering_add(&job->view, job->o.fs, job->o.registry, job->o.pipeline, job->o.events,
                         &job->cause) < 0)
    fail_end(job);
  tm_job_node_news_sum(job);
  tm_job_tell_history(job);
  tm_job_emit(job, TM_EVENT_JOB_ENDED, TM_INFO, "");
  result = tm_job_result_new(&job->view);
  bool is_ours =
      tm_job_dir_check_owner(job->o.fs, job->dir.owner_file, job->dir.epoch, &job->cause) == 0;
  if (!is_ours || tm_job_result_write(&job->dir, result, &job->cause) < 0)
    fail_end(job);
  tm_json_free(result);
  if (is_ours) /* otherwise a request is for the session that has taken the job over */
    tm_cancel_request_forget(job->dir.path);
}

struct tm_json *tm_job_result(const struct tm_job *job)
{
  if (!tm_job_life_may(&job->life, TM_JOB_MAY_RESULT))
    return NULL;
  return job->earlier ? tm_json_copy(job->earlier) : tm_job_result_new(&job->view);
}

int tm_job_exit_status(const struct tm_job *job)
{
  switch (job->view.verdict) {
  case TM_COMPLETED: return 0;
  case TM_CANCELED_JOB: return 130;
  default: return job->code ? tm_exit_status_of(job->code) : 1;
  }
}
