/* limits.h - whether the limits of this process (ulimit) leave room for a job, checked before
 * anything of the job is made. */
#ifndef TM_JOB_LIMITS_H
#define TM_JOB_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "plan/pipeline.h"

/* `given`: the limit of workers for all steps together, or 0; `here`: the limit on this machine
 * then. A node that decides how many workers it has counts with one. Returns 0, -EMFILE or -EFBIG;
 * `err` has the limit and what the job needs. */
int tm_limits_check(const struct tm_pipeline *p, int64_t given, int64_t here, struct tm_err *err);

/* What a job needs. */
struct tm_limits_needs {
  int64_t here, far;   /* workers: of this machine, and of nodes that commands start */
  int64_t nodes;       /* of those; steps may share them: same_nodes.h */
  int64_t slurm_nodes; /* of those: each has an srun on this machine */
  int64_t fds;         /* descriptors that its process needs about */
};
/* Pure. */
struct tm_limits_needs tm_limits_needs(const struct tm_pipeline *p, int64_t given, int64_t here);

/* More nodes of Slurm than this deserve a machine of their own for the job. */
#define TM_LIMITS_SLURM_NODES 64
/* False: nothing to advise. `is_in_allocation`: this process runs in an allocation. Pure. */
bool tm_limits_advise(struct tm_buf *out, const struct tm_pipeline *p, bool is_in_allocation);

#endif
