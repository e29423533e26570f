/* slurm_test.h - whether Slurm could ever grant the nodes that a pipeline asks for.
 *
 * A Slurm job that can never run (a partition that does not exist, more CPUs than any machine has)
 * would fail late, or wait in the queue for ever. `srun --test-only` finds that out in
 * milliseconds, and starts nothing. It cannot test steps of an allocation, because it always tests
 * a new Slurm job. For steps, squeue is asked whether the allocation runs.
 */
#ifndef TM_SLURM_TEST_H
#define TM_SLURM_TEST_H

#include "base/err.h"
#include "plan/pipeline.h"

/* Asks once for all steps with the same request; 0 without asking if no step uses Slurm. Waits 20 s
 * at most. TM_EUSAGE with the place of the step, Slurm's reason, and the command. */
int tm_slurm_test(const struct tm_pipeline *pipeline, const char *program, struct tm_err *err);
/* The command that asks, for tm_command_words_free(). `exclude`: hosts, or NULL. `program`: the
 * path of the node's; srun looks at it for --bcast. */
char **tm_slurm_test_command(const struct tm_config *c, const char *exclude, const char *program);

/* The command that would start a node of such a step, for users who want to try it; for
 * tm_command_words_free(). Its Slurm job is called "tidemill". NULL with a message. */
char **tm_slurm_test_sample(const struct tm_config *c, const char *program, struct tm_err *err);

#endif
