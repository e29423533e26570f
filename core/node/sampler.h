/* sampler.h - the resources of a node, looked at now and then, as rows of CSV files in logs/perf/<node_id>/.
 *
 *   node_resource_usage.csv       the machine: processors, memory, disks, network, sockets
 *   node_disk_usage.csv           its local file systems, and how full they are
 *   processes_resource_usage.csv  the supervisor, the keeper, the workers, and what these have started (where the kernel
 *                                 says so: /proc/PID/task/TID/children)
 *   os/%Y%m%d%H/processes_%M      all processes, as `ps -ef` shows them; at most one a minute
 *
 * Counts of bytes and of calls are those since the machine's start, Cpu Percent is that since the sample before (of the
 * machine: of all its cores; of a process: of one core). A file is made when there is something to write.
 *
 * No loop, no clock. Caller: tm_sampler_new(); tm_sampler_take() now and then; while tm_sampler_is_listing(),
 * tm_sampler_list() between other things: each looks at a few processes, so that nothing waits for long.
 */
#ifndef TM_NODE_SAMPLER_H
#define TM_NODE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tm_sampler;

/* A process to look at, with all that descends from it but what is named itself. */
struct tm_sample_root {
  pid_t pid;
  const char *name; /* "keeper", "process000" */
  bool is_alone;    /* not what descends from it */
};

/* `dir`: perf/<node_id>, made when it is needed. `proc`: "/proc". NULL: there is no such /proc, with words. */
struct tm_sampler *tm_sampler_new(const char *dir, const char *proc, struct tm_err *err);
void tm_sampler_free(struct tm_sampler *s); /* NULL is a no-op */

/* One row, or some, for each of the CSV files; begins a list of processes when none was begun this minute. */
int tm_sampler_take(struct tm_sampler *s, const struct tm_sample_root *roots, size_t roots_len,
                    int64_t wall_ns, int64_t mono_ns, struct tm_err *err);
bool tm_sampler_is_listing(const struct tm_sampler *s);
int tm_sampler_list(struct tm_sampler *s, struct tm_err *err);

#endif
