/* slurm_run.h - runs a command of Slurm as our own child, and waits for its end: while a job has no
 * keeper that could run it.
 */
#ifndef TM_SLURM_RUN_H
#define TM_SLURM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"

#define TM_SLURM_LIMIT_NS (20 * TM_S)

struct tm_slurm_ran {
  struct tm_buf out, said; /* what it wrote to its descriptors 1 and 2 */
  bool is_late;            /* it did not end in time, and was killed */
  bool has_failed;         /* it was killed, or its exit status is not 0 */
  int signal;              /* has_failed: it was killed by this; 0: `said` has the reason */
};

/* The command gets the environment that srun gets (slurm/slurm_environment.h). Negative with a
 * message if it cannot be run, or if its exit status is lost, as in a host that ignores SIGCHLD.
 * Release `ran` in any case. */
int tm_slurm_run(struct tm_slurm_ran *ran, char *const *argv, int64_t limit_ns, struct tm_err *err);
void tm_slurm_ran_release(struct tm_slurm_ran *ran);

#endif
