/* allocation.h - the allocation of Slurm that this process runs in (salloc, sbatch), and its hosts.
 * With slurm_allocation = "auto", a node is a step of the allocation: one srun on one of its hosts,
 * with all CPUs that the allocation has there.
 */
#ifndef TM_SLURM_ALLOCATION_H
#define TM_SLURM_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/config.h"

/* Zeroed: there is none. */
struct tm_allocation {
  char *job; /* the id of its Slurm job, digits; NULL: there is none */
  char **hosts;
  int64_t *cpus; /* by host; 0: not known */
  size_t hosts_len;
};

/* Whether nodes of the step are steps of the allocation that our environment names. */
bool tm_allocation_is_for(const struct tm_config *c);
/* Finds its hosts, without those that slurm_options of `c` exclude. Runs scontrol, for 20 s at
 * most. TM_EUSAGE if they cannot be found, or if none is left. */
int tm_allocation_find(struct tm_allocation *out, const struct tm_config *c, struct tm_err *err);
/* TM_EUSAGE if it does not run, as in a shell that has survived it, or if Slurm does not answer. */
int tm_allocation_check(const struct tm_allocation *a, struct tm_err *err);
void tm_allocation_release(struct tm_allocation *a);

/* Whether it is known to survive the failure of a machine. Slurm does not tell. True if
 * SALLOC_NO_KILL or SBATCH_NO_KILL is set, if salloc --no-kill has started us, or if the batch
 * script has --no-kill. In a batch script, runs scontrol for 20 s at most. */
bool tm_allocation_is_known_to_survive(const struct tm_allocation *a);
/* Whether these words of a command, each with its NUL, or this batch script have --no-kill or -k.
 * Pure. */
bool tm_allocation_words_survive(const char *words, size_t len);
bool tm_allocation_script_survives(const char *script);

/* The command of a node, for tm_command_words_free(). `host`: one of the hosts of `a`; NULL: the
 * node is a Slurm job of its own, which `exclude`, or NULL, keeps away from hosts. */
char **tm_allocation_node_command(const struct tm_allocation *a, const char *host,
                                  const struct tm_config *c, const char *name, const char *exclude,
                                  const char *program);

#endif
