/* cores.c - how many cores this process may use.
 *
 * The smaller of two numbers: the cores in its affinity mask, and the CPU time that its control
 * group grants, rounded up (one and a half cores are two). Version 2 has cpu.max ("200000 100000",
 * or "max 100000"); version 1 has two files. Without a limit there, only the affinity counts.
 * Groups: see group.h.
 */
#include "sys/process.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "base/buf.h"
#include "sys/fs.h"
#include "sys/machine/group.h"

#define GROUPS_MAX (64u << 10) /* bytes */

int tm_process_affinity(void)
{
  for (int n = 1024; n <= 1 << 20; n *= 2) { /* the kernel refuses a set smaller than its own */
    cpu_set_t *set = CPU_ALLOC((size_t)n);
    size_t size = CPU_ALLOC_SIZE((size_t)n);
    int count = 0;
    bool retry = false;
    if (set == NULL)
      break;
    CPU_ZERO_S(size, set);
    if (sched_getaffinity(0, size, set) == 0)
      count = CPU_COUNT_S(size, set);
    else
      retry = errno == EINVAL;
    CPU_FREE(set);
    if (!retry)
      return count;
  }
  return 0;
}

/* The quota and period of one group, in microseconds. False: it has no limit. */
static bool read_quota(const char *dir, bool version2, long long *quota, long long *period)
{
  char text[64], more[64];
  if (version2)
    return tm_group_read(dir, "cpu.max", text, sizeof text) &&
           sscanf(text, "%lld %lld", quota, period) == 2;
  return tm_group_read(dir, "cpu.cfs_quota_us", text, sizeof text) &&
         tm_group_read(dir, "cpu.cfs_period_us", more, sizeof more) &&
         sscanf(text, "%lld", quota) == 1 && sscanf(more, "%lld", period) == 1;
}

/* Keeps the smallest limit of a group and those above it. */
static bool on_group(void *data, const char *dir, bool version2)
{
  int *least = data;
  long long quota, period;
  if (!read_quota(dir, version2, &quota, &period) || quota <= 0 || period <= 0)
    return false;
  long long cores = quota / period + (quota % period != 0);
  if (cores >= 1 << 20)
    return false;
  if (*least == 0 || cores < *least)
    *least = (int)cores;
  return true;
}

int tm_process_quota(const char *groups, const char *root)
{
  int least = 0;
  tm_group_walk(groups, root, "cpu", on_group, &least);
  return least;
}

int tm_process_own_quota(void)
{
  struct tm_buf groups = TM_BUF_NONE;
  int quota = 0;
  if (tm_fs_read_file(tm_fs_real(), "/proc/self/cgroup", GROUPS_MAX, &groups, NULL) == 0)
    quota = tm_process_quota(tm_buf_str(&groups), "/sys/fs/cgroup");
  tm_buf_release(&groups);
  return quota;
}

int tm_process_cores(void)
{
  int cores = tm_process_affinity(), quota = tm_process_own_quota();
  if (quota > 0 && (cores == 0 || quota < cores))
    cores = quota;
  return cores > 0 ? cores : 1;
}
