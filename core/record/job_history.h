/* job_history.h - records a job in the workspace's history (store/history.h): when it begins, and
 * its result. */
#ifndef TM_RECORD_JOB_HISTORY_H
#define TM_RECORD_JOB_HISTORY_H

#include "base/err.h"
#include "record/events.h"

/* `workspace` NULL: does nothing. */
int tm_job_history_add(const char *workspace, const struct tm_job_view *job, int64_t wall_ns,
                       struct tm_err *err);

#endif
