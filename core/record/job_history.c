/* job_history.c - see job_history.h. */
#include "record/job_history.h"

#include "store/history.h"

int tm_job_history_add(const char *workspace, const struct tm_job_view *job, int64_t wall_ns,
                       struct tm_err *err)
{
  struct tm_history_job j = { .dir = (char *)job->dir,
                              .pipeline = (char *)job->name,
                              .file = (char *)job->pipeline_file,
                              .status = (char *)tm_verdict_name(job->verdict),
                              .begin_ns = job->begin_wall_ns,
                              .end_ns = job->verdict == TM_RUNNING ? 0 : wall_ns,
                              .steps = (int64_t)job->steps_len };

  if (!workspace)
    return 0;
  for (size_t i = 0; i < job->steps_len; i++) {
    const struct tm_counts *c = &job->steps[i]->counts;
    j.reused += job->steps[i]->reused_from != NULL;
    j.total += c->created;
    j.succeeded += c->succeeded;
    j.failed += c->failed;
    j.items_total += c->items_created;
    j.items_failed += c->items_failed;
    j.items_succeeded += c->items_succeeded;
  }
  return tm_history_put(workspace, &j, err);
}
