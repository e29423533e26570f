/* kept.c - a job that was Completed before: its result stays, and nothing runs. If the user
 * wants that, its inputs are compared first. See job_own.h.
 */
#include <inttypes.h>

#include "base/text.h"
#include "base/check.h"
#include "job/job_own.h"

void tm_kept_end(struct tm_job *job)
{
  tm_require(!job->recheck && job->steps_over == 0);
  job->view.verdict = TM_COMPLETED;
  job->view.steps_len = 0;
  tm_timer_stop(&job->tick);
  tm_job_emit(job, TM_EVENT_JOB_ENDED, TM_INFO, "");
  job->o.on_ended(job->o.data, job);
}

static void stop_recheck(struct tm_job *job)
{
  tm_recheck_stop(job->recheck);
  job->recheck = NULL;
}

void tm_kept_refuse(struct tm_job *job, enum tm_verdict verdict)
{
  tm_require(verdict == TM_FAILED || verdict == TM_CANCELED_JOB);
  stop_recheck(job);
  tm_timer_stop(&job->tick);
  job->view.verdict = verdict;
  job->view.steps_len = 0;
  job->o.on_ended(job->o.data, job);
}

static void on_warning(void *data, const char *text)
{
  tm_job_emit(data, TM_EVENT_MESSAGE, TM_WARNING, text);
}

static void on_rechecked(void *data, int code, int64_t compared, const struct tm_err *err)
{
  struct tm_job *job = data;

  stop_recheck(job);
  if (code == 0) {
    tm_job_note(job, "the input is as it was: %" PRId64 " %s been compared", compared,
                tm_text_counted(compared, "mini-batch has", "mini-batches have"));
    tm_job_happen(job, TM_JOB_ON_SAME);
    return;
  }
  job->code = code;
  job->cause = *err;
  tm_err_wrap(&job->cause, "the job in '%s' is Completed, and is left as it is", job->o.dir);
  tm_job_emit(job, TM_EVENT_MESSAGE, TM_ERROR, job->cause.text);
  tm_job_happen(job, TM_JOB_ON_CHANGED);
}

void tm_kept_recheck(struct tm_job *job)
{
  struct tm_recheck_options o = { .loop = job->o.loop,
                                  .fs = job->o.fs,
                                  .pipeline = job->o.pipeline,
                                  .dir = job->dir.path,
                                  .on_warning = on_warning,
                                  .on_ended = on_rechecked,
                                  .data = job };
  struct tm_err err = TM_ERR_NONE;

  tm_require(!job->recheck && job->earlier);
  if (!job->o.verify_input) {
    tm_job_happen(job, TM_JOB_ON_SAME);
  } else if ((job->recheck = tm_recheck_start(&o, &err))) {
    tm_job_happen(job, TM_JOB_ON_RECHECKING);
    tm_timer_start(&job->tick, TM_JOB_TICK_NS, TM_JOB_TICK_NS);
  } else {
    on_rechecked(job, err.code, 0, &err);
  }
}
