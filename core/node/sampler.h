/* sampler.h - samples the resources of a node, as rows of CSV files in logs/perf/<node_id>/ or
 * logs/perf/supervisor/.
 *
 *   node_resource_usage.csv       the machine: processors, memory, disks, network, sockets
 *   node_disk_usage.csv           its local file systems, and their usage
 *   processes_resource_usage.csv  the supervisor or the relay, the keeper, the workers or the
 *                                 launches, and their descendants
 *                                 (if the kernel lists them: /proc/PID/task/TID/children)
 *   os/%Y%m%d%H/processes_%M      all processes, in the form of `ps -ef`; when the caller asks for
 *                                 it, at most one a minute
 *
 * Counts of bytes and calls are totals since the machine's start; Cpu Percent is since the last
 * sample (for the machine: of all cores; for a process: of one core). Rows of processes, which are
 * most of the bytes, have decimals only in amounts below 10, and none that is a zero at the end. A
 * file is made when there is something to write.
 *
 * No loop, no clock. Caller: tm_sampler_new(); tm_sampler_take() at intervals; while
 * tm_sampler_is_listing(), tm_sampler_list() between other work: each call reads a few processes,
 * so that it never takes long.
 */
#ifndef TM_NODE_SAMPLER_H
#define TM_NODE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tm_sampler;

/* A process to sample, with all of its descendants except other roots. */
struct tm_sample_root {
  pid_t pid;
  const char *name; /* "keeper", "process000" */
  bool is_alone;    /* without its descendants */
};

/* `dir`: perf/<node_id>, made when needed. `proc`: "/proc". NULL with a message: there is no such
 * /proc. */
struct tm_sampler *tm_sampler_new(const char *dir, const char *proc, struct tm_err *err);
void tm_sampler_free(struct tm_sampler *s); /* NULL is a no-op */

/* Adds one or more rows to each of the CSV files; begins a list of processes if `lists`, and none
 * was begun this minute. */
int tm_sampler_take(struct tm_sampler *s, const struct tm_sample_root *roots, size_t roots_len,
                    bool lists, int64_t wall_ns, int64_t mono_ns, struct tm_err *err);
bool tm_sampler_is_listing(const struct tm_sampler *s);
int tm_sampler_list(struct tm_sampler *s, struct tm_err *err);

#endif
