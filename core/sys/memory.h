/* memory.h - how much memory there is to be had, and whether the kernel has killed for want of it. */
#ifndef TM_SYS_MEMORY_H
#define TM_SYS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tm_memory {
  int64_t total;     /* bytes: of the machine, or of the tightest control group */
  int64_t available; /* bytes that could be had without swapping; caches count as available */
};

/* What the machine has, and the limits of this process's control groups, whichever leaves less. False: it cannot be read.
 * `proc` and `groups` are where the two file systems are mounted: "/proc", "/sys/fs/cgroup". */
bool tm_memory_read(struct tm_memory *out, const char *proc, const char *groups);

/* Processes that the kernel has killed for want of memory: of this process's control group where that is counted (version 2),
 * else of the machine. Only the difference of two readings says anything. */
int64_t tm_memory_kills(const char *proc, const char *groups);
/* Whether the kernel's log names `pid` as killed for want of memory, not earlier than `since_ns` (monotonic). False also where
 * the log may not be read. `path`: "/dev/kmsg". */
bool tm_memory_log_names(const char *path, pid_t pid, int64_t since_ns);

#endif
