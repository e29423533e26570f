/* limits.h - whether the limits of this process (ulimit) leave room for a job, asked before
 * anything of it is made. */
#ifndef TM_RUN_LIMITS_H
#define TM_RUN_LIMITS_H

#include "plan/pipeline.h"

/* `max_workers`: of all steps together. 0, -EMFILE or -EFBIG, with the limit and what is needed. */
int tm_limits_check(const struct tm_pipeline *p, int64_t max_workers, struct tm_err *err);

#endif
