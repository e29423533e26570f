/* cores.c - how many cores this process may use.
 *
 * The least of two: the cores that its affinity names, and the time that its control group grants,
 * rounded up (one and a half cores are two). A group's limit holds for all beneath it, so the
 * groups above are asked too. Version 2 has one hierarchy and cpu.max ("200000 100000", or "max
 * 100000"); version 1 has one for the controller "cpu", mounted under its name or with others
 * ("cpu,cpuacct"), and two files.
 *
 * In a container the path in /proc/self/cgroup may be the host's, while the mount shows the
 * container's own group as the root: files that are not there are passed over, and the way up ends
 * at the mount. No limit found is no limit.
 */
#include "sys/process.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/fs.h"

#define GROUP_FILE_MAX (64u << 10) /* bytes */

static int affinity_cores(void)
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

static bool read_text(const char *dir, const char *name, char *out, size_t out_len)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_xprintf("%s/%s", dir, name);
  bool ok = tm_fs_read_file(tm_fs_real(), path, GROUP_FILE_MAX, &text, NULL) == 0;
  if (ok)
    snprintf(out, out_len, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  free(path);
  return ok;
}

/* Microseconds of time per period, of one group; false: none. */
static bool read_quota(const char *dir, bool version2, long long *quota, long long *period)
{
  char text[64], more[64];
  if (version2)
    return read_text(dir, "cpu.max", text, sizeof text) &&
           sscanf(text, "%lld %lld", quota, period) == 2;
  return read_text(dir, "cpu.cfs_quota_us", text, sizeof text) &&
         read_text(dir, "cpu.cfs_period_us", more, sizeof more) &&
         sscanf(text, "%lld", quota) == 1 && sscanf(more, "%lld", period) == 1;
}

/* The least of a group and those above it, up to the mount. */
static int group_cores(const char *mount, const char *group, bool version2)
{
  char *dir = tm_xprintf("%s%s", mount, group);
  size_t mount_len = strlen(mount);
  int least = 0;
  for (;;) {
    long long quota, period;
    if (read_quota(dir, version2, &quota, &period) && quota > 0 && period > 0) {
      long long cores = quota / period + (quota % period != 0);
      if (cores < 1 << 20 && (least == 0 || cores < least))
        least = (int)cores;
    }
    char *slash = strrchr(dir, '/');
    if (strlen(dir) <= mount_len || slash == NULL)
      break;
    *slash = '\0';
  }
  free(dir);
  return least;
}

static bool has_cpu(const char *controllers, size_t len)
{
  for (size_t at = 0; at < len;) {
    const char *comma = memchr(controllers + at, ',', len - at);
    size_t word = comma != NULL ? (size_t)(comma - controllers) - at : len - at;
    if (word == 3 && memcmp(controllers + at, "cpu", 3) == 0)
      return true;
    at += word + 1;
  }
  return false;
}

/* A line of /proc/self/cgroup is "number:controllers:/path"; no controllers: version 2. */
static int line_cores(const char *line, size_t len, const char *root)
{
  const char *first = memchr(line, ':', len);
  if (first == NULL)
    return 0;
  const char *controllers = first + 1, *end = line + len;
  const char *second = memchr(controllers, ':', (size_t)(end - controllers));
  if (second == NULL)
    return 0;
  size_t controllers_len = (size_t)(second - controllers);
  bool version2 = controllers_len == 0;
  if (!version2 && !has_cpu(controllers, controllers_len))
    return 0;
  const char *const mounts[] = { version2 ? "" : "/cpu", version2 ? "/unified" : NULL };
  char *group = tm_xstrndup(second + 1, (size_t)(end - second - 1));
  int least = 0;
  for (size_t i = 0; i < 3 && least == 0; i++) {
    char *mount = i < 2 && mounts[i] != NULL
                      ? tm_xprintf("%s%s", root, mounts[i])
                      : tm_xprintf("%s/%.*s", root, (int)controllers_len, controllers);
    least = group_cores(mount, strcmp(group, "/") == 0 ? "" : group, version2);
    free(mount);
  }
  free(group);
  return least;
}

int tm_process_quota(const char *groups, const char *root)
{
  int least = 0;
  while (*groups != '\0') {
    size_t len = strcspn(groups, "\n");
    int cores = line_cores(groups, len, root);
    if (cores > 0 && (least == 0 || cores < least))
      least = cores;
    groups += len + (groups[len] == '\n');
  }
  return least;
}

int tm_process_cores(void)
{
  struct tm_buf groups = TM_BUF_NONE;
  int cores = affinity_cores();
  if (tm_fs_read_file(tm_fs_real(), "/proc/self/cgroup", GROUP_FILE_MAX, &groups, NULL) == 0) {
    int quota = tm_process_quota(tm_buf_str(&groups), "/sys/fs/cgroup");
    if (quota > 0 && (cores == 0 || quota < cores))
      cores = quota;
  }
  tm_buf_release(&groups);
  return cores > 0 ? cores : 1;
}
