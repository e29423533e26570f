/* machine.h - what this machine offers to a job: the contents of REPORT (node/node_report.h). */
#ifndef TM_RELAY_MACHINE_H
#define TM_RELAY_MACHINE_H

#include <stdbool.h>

#include "node/node_report.h"

struct tm_machine_cpus {
  int count;       /* 1 ... TM_NODE_CPUS_MAX */
  const char *why; /* what limits it, for messages */
};
/* The least of three limits. `affinity`, `quota`: 0 if there is none. `slurm`: the value of
 * SLURM_JOB_CPUS_PER_NODE, or NULL; a list, such as "2(x3),4", of which the first number counts. A
 * value of another form is ignored. Pure. */
struct tm_machine_cpus tm_machine_cpus(int affinity, int quota, const char *slurm);
/* `id` if it consists of digits, else "". `id` may be NULL. Pure. */
const char *tm_machine_slurm_job(const char *id);
/* `name` if it can be the name of a host: blanks, control characters and the like are not in it.
 * Else NULL. `name` may be NULL. Pure. */
const char *tm_machine_host(const char *name);

/* Whether it is a folder. False also if the file system does not answer within `patience_ns`. */
bool tm_machine_has_folder(const char *path, int64_t patience_ns);

/* Describes this machine and this process, by the environment of this process. *bad_tmpdir: the
 * value of TMPDIR, if it names no folder of this machine, so that /tmp is used; else NULL. Release
 * `out` with tm_node_report_release(). */
void tm_machine_describe(struct tm_node_report *out, const char **bad_tmpdir);

#endif
