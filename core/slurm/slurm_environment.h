/* slurm_environment.h - which variables of our environment srun must not get. Pure. The meaning of
 * the variables is in srun(1), "INPUT ENVIRONMENT VARIABLES" and "OUTPUT ENVIRONMENT VARIABLES".
 *
 *  - Always those that change how srun treats the stream (SLURM_LABELIO, SLURM_STDOUTMODE, ...) or
 *    the CPUs (SLURM_CPU_BIND...), and those that name what only this machine has: TMPDIR, and the
 *    GPUs that are visible here.
 *  - Inside an allocation (salloc, sbatch, srun) all that the allocation sets: SLURM_*, SLURMD_*
 *    and PMI*. With them srun would start a step with the allocation's options, not a Slurm job of
 *    its own. Those that tell Slurm's commands where the cluster is, and who we are, remain:
 *    SLURM_CONF, SLURM_CONF_SERVER, SLURM_CLUSTERS, SLURM_JWT. Outside of an allocation, variables
 *    such as SLURM_PARTITION are the user's own, and remain.
 */
#ifndef TM_SLURM_ENVIRONMENT_H
#define TM_SLURM_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* `environment`: "NAME=value", NULL-ended, here and below. The id of the Slurm job in whose
 * allocation we are, or NULL. Points into `environment`. */
const char *tm_slurm_environment_job(char *const *environment);
/* Whether srun gets the variable. `name`: `len` bytes. */
bool tm_slurm_environment_keeps(const char *name, size_t len, bool is_in_allocation);
/* The names of the variables that srun does not get, NULL-ended; the caller frees each, and the
 * list. */
char **tm_slurm_environment_removed(char *const *environment);

#endif
