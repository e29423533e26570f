/* memory.h - how much memory is available, and whether the kernel has killed for lack of it. */
#ifndef TM_SYS_MACHINE_MEMORY_H
#define TM_SYS_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tm_memory {
  int64_t total;     /* bytes: of the machine, or of the tightest control group */
  int64_t available; /* bytes that can be used without swapping; caches count as available */
};

/* The machine's memory or the limit of this process's control groups, whichever leaves less. False:
 * it cannot be read. `proc` and `groups` are mount points: "/proc", "/sys/fs/cgroup". */
bool tm_memory_read(struct tm_memory *out, const char *proc, const char *groups);

/* The most that this process can ever use, bytes: the machine's memory, or the least limit of its
 * control groups. 0: it cannot be read. */
int64_t tm_memory_limit(const char *proc, const char *groups);

/* The number of processes that the kernel has killed for lack of memory: in this process's control
 * group where that is counted (version 2), else on the machine. Only the difference of two readings
 * is meaningful. */
int64_t tm_memory_kills(const char *proc, const char *groups);
/* Whether the kernel's log says that `pid` was killed for lack of memory, not before `since_ns`
 * (monotonic). False also if the log cannot be read. `path`: "/dev/kmsg". */
bool tm_memory_log_names(const char *path, pid_t pid, int64_t since_ns);

#endif
