/* slurm_test.h - whether Slurm could ever grant the nodes that a pipeline asks for.
 *
 * Without this question a Slurm job that can never run (a partition that does not exist, more CPUs
 * than any machine has) would fail late, or wait in the queue for ever. `srun --test-only` answers
 * in milliseconds, and starts nothing.
 */
#ifndef TM_JOB_SLURM_TEST_H
#define TM_JOB_SLURM_TEST_H

#include "base/err.h"
#include "plan/pipeline.h"

/* Asks once for all steps that ask for the same; 0 without asking if none uses Slurm. Waits 20 s at
 * most. TM_EUSAGE with the place of the step, what Slurm says, and the command. */
int tm_slurm_test(const struct tm_pipeline *pipeline, struct tm_err *err);

#endif
