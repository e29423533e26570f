/* memory.c - see memory.h.
 *
 * A control group counts the page cache of files as used. The kernel frees it when memory is
 * needed, so it is subtracted: a job that reads many files is not short of memory.
 *
 * The kernel's log is read from beginning to end, one record per read. This takes some
 * milliseconds, and happens only when an unknown party has killed a worker. In a container, the log
 * may give a process another number; then no record matches.
 */
#include "sys/machine/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"
#include "sys/fs.h"
#include "sys/machine/group.h"
#include "sys/standard_fds.h"

#define FILE_MAX     (256u << 10) /* bytes */
#define NO_LIMIT     (INT64_C(1) << 53)
#define RECORD_MAX   8192 /* bytes of the kernel's log */
#define RECORDS_MAX  100000
#define CLOCKS_APART (5 * TM_S) /* at most, between the log's clock and ours */

/* The number after `name` at the beginning of a line ("MemTotal:", "inactive_file"), or -1. */
static int64_t find_number(const char *text, const char *name)
{
  size_t n = strlen(name);
  for (const char *at = text; at != NULL; at = strchr(at, '\n'), at += at != NULL) {
    long long value;
    if (strncmp(at, name, n) == 0 && (at[n] == ' ' || at[n] == '\t') &&
        sscanf(at + n, "%lld", &value) == 1)
      return value;
  }
  return -1;
}

static bool read_proc_file(const char *proc, const char *name, struct tm_buf *out)
{
  char *path = tm_xprintf("%s/%s", proc, name);
  bool ok = tm_fs_read_file(tm_fs_real(), path, FILE_MAX, out, NULL) == 0;
  free(path);
  return ok;
}

static int64_t read_number(const char *dir, const char *name)
{
  char text[64];
  long long value;
  return tm_group_read(dir, name, text, sizeof text) && sscanf(text, "%lld", &value) == 1 ? value
                                                                                          : -1;
}

static int64_t or_none(int64_t value)
{
  return value > 0 ? value : 0;
}

static bool on_group(void *data, const char *dir, bool version2)
{
  struct tm_memory *least = data;
  char stat[FILE_MAX / 16] = "";
  int64_t limit = read_number(dir, version2 ? "memory.max" : "memory.limit_in_bytes");
  int64_t used = read_number(dir, version2 ? "memory.current" : "memory.usage_in_bytes");
  if (limit < 0 || limit >= NO_LIMIT || used < 0)
    return false;
  (void)tm_group_read(dir, "memory.stat", stat, sizeof stat);
  used -= or_none(find_number(stat, version2 ? "inactive_file" : "total_inactive_file"));
  used -= or_none(find_number(stat, version2 ? "active_file" : "total_active_file"));
  used -= or_none(find_number(stat, "slab_reclaimable"));
  int64_t available = used > 0 ? limit - used : limit;
  if (available >= least->available)
    return true;
  least->total = limit < least->total ? limit : least->total;
  least->available = or_none(available);
  return true;
}

bool tm_memory_read(struct tm_memory *out, const char *proc, const char *groups)
{
  struct tm_buf text = TM_BUF_NONE;
  bool ok = read_proc_file(proc, "meminfo", &text);
  if (ok) {
    out->total = find_number(tm_buf_str(&text), "MemTotal:") * 1024;
    out->available = find_number(tm_buf_str(&text), "MemAvailable:") * 1024;
    ok = out->total > 0 && out->available >= 0;
  }
  tm_buf_clear(&text);
  if (ok && read_proc_file(proc, "self/cgroup", &text))
    tm_group_walk(tm_buf_str(&text), groups, "memory", on_group, out);
  tm_buf_release(&text);
  return ok;
}

static bool on_limit(void *data, const char *dir, bool version2)
{
  int64_t *least = data;
  int64_t limit = read_number(dir, version2 ? "memory.max" : "memory.limit_in_bytes");
  if (limit < 0 || limit >= *least)
    return false;
  *least = limit;
  return true;
}

int64_t tm_memory_limit(const char *proc, const char *groups)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t least = 0;
  if (read_proc_file(proc, "meminfo", &text))
    least = or_none(find_number(tm_buf_str(&text), "MemTotal:")) * 1024;
  tm_buf_clear(&text);
  if (least > 0 && read_proc_file(proc, "self/cgroup", &text))
    tm_group_walk(tm_buf_str(&text), groups, "memory", on_limit, &least);
  tm_buf_release(&text);
  return least;
}

/* The kernel counts a kill in the groups above as well, so the process's own group is enough. */
static bool on_events(void *data, const char *dir, bool version2)
{
  int64_t *kills = data;
  char text[512];
  if (*kills >= 0 || !version2 || !tm_group_read(dir, "memory.events", text, sizeof text))
    return false;
  *kills = find_number(text, "oom_kill");
  return *kills >= 0;
}

int64_t tm_memory_kills(const char *proc, const char *groups)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t kills = -1;
  if (read_proc_file(proc, "self/cgroup", &text))
    tm_group_walk(tm_buf_str(&text), groups, "memory", on_events, &kills);
  tm_buf_clear(&text);
  if (kills < 0 && read_proc_file(proc, "vmstat", &text))
    kills = find_number(tm_buf_str(&text), "oom_kill");
  tm_buf_release(&text);
  return or_none(kills);
}

/* "6,1234,98765432,-;Out of memory: Killed process 4711 (tidemill) ..." */
static bool names(const char *record, pid_t pid, int64_t since_ns)
{
  long long micros;
  long found;
  const char *at = strstr(record, "Killed process ");
  return at != NULL && sscanf(record, "%*d,%*d,%lld", &micros) == 1 &&
         sscanf(at, "Killed process %ld", &found) == 1 && found == (long)pid &&
         micros * 1000 >= since_ns - CLOCKS_APART;
}

bool tm_memory_log_names(const char *path, pid_t pid, int64_t since_ns)
{
  char record[RECORD_MAX];
  bool found = false;
  int fd = tm_fd_lift(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd < 0)
    return false;
  for (int i = 0; i < RECORDS_MAX && !found; i++) {
    ssize_t n = read(fd, record, sizeof record - 1);
    if (n < 0 && (errno == EPIPE || errno == EINTR)) /* records were overwritten meanwhile */
      continue;
    if (n <= 0)
      break;
    record[n] = '\0';
    found = names(record, pid, since_ns);
  }
  close(fd);
  return found;
}
