/* limits.h - whether the limits of this process (ulimit) leave room for a job, checked before
 * anything of the job is made. */
#ifndef TM_JOB_LIMITS_H
#define TM_JOB_LIMITS_H

#include "plan/pipeline.h"

/* `given`: the limit of workers for all steps together, or 0; `here`: the limit on this machine
 * then. A node that decides how many workers it has counts with one. Returns 0, -EMFILE or -EFBIG;
 * `err` has the limit and what the job needs. */
int tm_limits_check(const struct tm_pipeline *p, int64_t given, int64_t here, struct tm_err *err);

/* What a job needs. */
struct tm_limits_needs {
  int64_t here, far; /* workers: of this machine, and of nodes that commands start */
  int64_t nodes;     /* of those; of the step that has most */
  int64_t fds;       /* descriptors that its process needs about */
};
/* Pure. */
struct tm_limits_needs tm_limits_needs(const struct tm_pipeline *p, int64_t given, int64_t here);

#endif
