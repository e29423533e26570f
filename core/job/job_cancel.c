/* job_cancel.c - ends a job early: see job.h.
 *
 * Two ways lead here: the owner of the job calls (Ctrl-C, a host, Lua), or another process leaves a
 * request in the job's directory (cancel_request.h). Both do the same.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "job/job_own.h"
#include "sys/clock.h"

void tm_job_end_early(struct tm_job *job, bool now)
{
  tm_job_happen(job, now ? TM_JOB_ON_CANCEL_NOW : TM_JOB_ON_CANCEL);
}

static void say_request(struct tm_job *job, const struct tm_cancel_request *r)
{
  const char *then = r->now ? "running mini-batches are killed"
                            : "no more mini-batches are handed out, running ones may end";
  char *text = tm_xprintf("canceling, as user %s on host %s (pid %" PRId64 ") asked: %s", r->user,
                          r->host, r->pid, then);

  tm_job_emit(job, TM_EVENT_MESSAGE, TM_INFO, text);
  free(text);
}

void tm_job_hear_request(struct tm_job *job)
{
  struct tm_cancel_request r;
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_cancel_watch_look(&job->cancel_watch, job->dir.path, job->dir.epoch,
                                tm_clock_mono_ns(), &r, &err);

  if (rc < 0)
    tm_job_emit(job, TM_EVENT_MESSAGE, TM_WARNING, err.text);
  if (rc <= 0)
    return;
  job->cancel_request = r;
  job->view.cancel = &job->cancel_request;
  say_request(job, &r);
  tm_job_end_early(job, r.now);
}
