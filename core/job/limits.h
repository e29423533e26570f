/* limits.h - whether the limits of this process (ulimit) leave room for a job, checked before
 * anything of the job is made. */
#ifndef TM_JOB_LIMITS_H
#define TM_JOB_LIMITS_H

#include "plan/pipeline.h"

/* `max_workers`: of all steps together. Returns 0, -EMFILE or -EFBIG; `err` has the limit and what
 * the job needs. */
int tm_limits_check(const struct tm_pipeline *p, int64_t max_workers, struct tm_err *err);

#endif
