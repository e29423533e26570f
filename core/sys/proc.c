/* proc.c - what /proc says about processes: their parents, their environment, their memory.
 *
 * All of it may change at any time: between reading and acting, a process may end and its number be
 * reused. Callers act on children of their own, whose numbers stay theirs until reaped (process.c),
 * or hold the process first (process_marked.c).
 *
 * In /proc/PID/stat the name of the program is in parentheses and may hold any byte, also blanks
 * and parentheses: the fields after it start after the last ')'.
 */
#include "sys/process.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/fs.h"

/* Of one file in /proc, bytes: an environment is at most a quarter of the stack's limit. */
#define PROC_MAX     (4u << 20)
#define EXEC_NS      TM_S /* the longest wait for an environment: a core may be busy */
#define EXEC_LOOK_NS (TM_MS / 10)

static int read_proc(pid_t pid, const char *name, struct tm_buf *out)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
  return tm_fs_read_file(tm_fs_real(), path, PROC_MAX, out, NULL);
}

static bool read_stat(pid_t pid, struct tm_buf *space, char *state, pid_t *parent)
{
  long ppid;
  tm_buf_clear(space);
  if (read_proc(pid, "stat", space) < 0)
    return false;
  const char *p = strrchr(tm_buf_str(space), ')');
  if (p == NULL || sscanf(p + 1, " %c %ld", state, &ppid) != 2)
    return false;
  *parent = (pid_t)ppid;
  return true;
}

/* False if the process does not exist, or is dead and not reaped. */
static bool read_parent(pid_t pid, struct tm_buf *space, pid_t *parent)
{
  char state;
  return read_stat(pid, space, &state, parent) && state != 'Z' && state != 'X';
}

bool tm_process_is_stopped(pid_t pid)
{
  struct tm_buf space = TM_BUF_NONE;
  char state = 0;
  pid_t parent;
  bool is_stopped = read_stat(pid, &space, &state, &parent) && (state == 'T' || state == 't');
  tm_buf_release(&space);
  return is_stopped;
}

uint64_t tm_process_born(pid_t pid)
{
  struct tm_buf space = TM_BUF_NONE;
  unsigned long long born = 0;
  const char *p;

  if (read_proc(pid, "stat", &space) == 0 && (p = strrchr(tm_buf_str(&space), ')')) &&
      sscanf(p + 1,
             " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
             &born) != 1)
    born = 0;
  tm_buf_release(&space);
  return born;
}

pid_t tm_process_parent(pid_t pid)
{
  struct tm_buf space = TM_BUF_NONE;
  pid_t parent = 0;
  (void)read_parent(pid, &space, &parent);
  tm_buf_release(&space);
  return parent;
}

struct open_files {
  char dir[40], name[NAME_MAX + 1]; /* /proc/PID/fd; the last part of the path */
  struct tm_stat st;
  size_t count;
};

/* Files of other names are not looked at: their file systems may hang. */
static int on_descriptor(void *data, const char *name, int type)
{
  struct open_files *f = data;
  struct tm_stat st;
  char link[80], path[PATH_MAX];
  const char *last;
  if ((size_t)snprintf(link, sizeof link, "%s/%s", f->dir, name) >= sizeof link)
    return 0;
  ssize_t len = readlink(link, path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  if ((last = strrchr(path, '/')) && strcmp(last + 1, f->name) == 0 &&
      tm_fs_real()->stat(tm_fs_real()->self, link, true, &st) == 0)
    f->count += st.dev == f->st.dev && st.ino == f->st.ino;
  return 0;
}

size_t tm_process_count_open(pid_t pid, int fd, const char *name)
{
  struct open_files f = { .count = 0 };
  tm_require(strlen(name) <= NAME_MAX);
  snprintf(f.dir, sizeof f.dir, "/proc/%ld/fd", (long)pid);
  snprintf(f.name, sizeof f.name, "%s", name);
  if (tm_fs_real()->fstat(tm_fs_real()->self, fd, &f.st) == 0)
    tm_dir_read(f.dir, on_descriptor, &f);
  return f.count;
}

struct children {
  pid_t parent, *out;
  size_t len, max;
  struct tm_buf space;
};

static int on_pid(void *data, const char *name, int type)
{
  struct children *c = data;
  pid_t parent;
  if (!isdigit((unsigned char)name[0]) || c->len == c->max)
    return 0;
  pid_t pid = (pid_t)atol(name);
  if (read_parent(pid, &c->space, &parent) && parent == c->parent)
    c->out[c->len++] = pid;
  return 0;
}

size_t tm_process_children(pid_t parent, pid_t *out, size_t max)
{
  struct children c = { .parent = parent, .out = out, .max = max };
  tm_dir_read("/proc", on_pid, &c);
  tm_buf_release(&c.space);
  return c.len;
}

/* The process seems to have no environment. False: it will have one, which exec() passes to it a
 * moment after it has given it new memory. */
static bool has_none(pid_t pid, struct tm_buf *space)
{
  enum { MEMORY = 23, BEGIN = 50, END = 51 }; /* the numbers of fields; 0: not there */
  char state;
  pid_t parent;
  unsigned long long begin = 0;
  if (!read_stat(pid, space, &state, &parent) || state == 'Z' || state == 'X')
    return true;
  const char *at = strrchr(tm_buf_str(space), ')') + 1;
  for (int field = 3; *at; field++) {
    char *end;
    at += strspn(at, " ");
    unsigned long long value = strtoull(at, &end, 10);
    if (field == MEMORY && value == 0)
      return true; /* a part of the kernel */
    if (field == BEGIN)
      begin = value;
    if (field == END)
      return value != 0 && value == begin;
    at = end + strcspn(end, " ");
  }
  return true;
}

/* Negative: it cannot be read. */
static int read_environment(pid_t pid, struct tm_buf *out)
{
  int64_t until_ns = tm_clock_mono_ns() + EXEC_NS;
  struct tm_buf space = TM_BUF_NONE;
  int rc;
  while ((rc = read_proc(pid, "environ", out)) >= 0 && out->len == 0 && !has_none(pid, &space) &&
         tm_clock_mono_ns() < until_ns)
    tm_clock_pause(EXEC_LOOK_NS);
  tm_buf_release(&space);
  return rc;
}

bool tm_process_env(pid_t pid, const char *name, char *out, size_t out_len)
{
  struct tm_buf all = TM_BUF_NONE;
  size_t name_len = strlen(name);
  bool found = false;
  if (read_environment(pid, &all) < 0)
    goto done;
  for (size_t at = 0; at < all.len && !found;) {
    const char *entry = all.data + at;
    size_t len = strnlen(entry, all.len - at);
    at += len + 1;
    if (len <= name_len || entry[name_len] != '=' || memcmp(entry, name, name_len) != 0)
      continue;
    size_t value_len = len - name_len - 1;
    if (value_len >= out_len)
      break;
    memcpy(out, entry + name_len + 1, value_len);
    out[value_len] = '\0';
    found = true;
  }
done:
  tm_buf_release(&all);
  return found;
}

/* A field of /proc/PID/status: "RssAnon:\t  1234 kB". False: it is not there. */
static bool status_kb(const char *status, const char *name, int64_t *out)
{
  const char *at = strstr(status, name);
  long long kb;
  if (!at || sscanf(at + strlen(name), "%lld", &kb) != 1)
    return false;
  *out = kb;
  return true;
}

bool tm_process_memory_parse(const char *status, struct tm_process_memory *out)
{
  int64_t anonymous, shared, all;
  *out = (struct tm_process_memory) { 0 };
  if (status_kb(status, "\nRssAnon:", &anonymous) && status_kb(status, "\nRssShmem:", &shared) &&
      status_kb(status, "\nRssFile:", &out->mapped_kb)) {
    out->own_kb = anonymous + shared;
    return true;
  }
  if (!status_kb(status, "\nVmRSS:", &all))
    return false;
  *out = (struct tm_process_memory) { .own_kb = all };
  return true;
}

bool tm_process_memory(pid_t pid, struct tm_process_memory *out)
{
  struct tm_buf text = TM_BUF_NONE;
  bool is_read =
      read_proc(pid, "status", &text) == 0 && tm_process_memory_parse(tm_buf_str(&text), out);
  tm_buf_release(&text);
  return is_read;
}

char *tm_process_boot_id(void)
{
  struct tm_buf text = TM_BUF_NONE;
  if (tm_fs_read_file(tm_fs_real(), "/proc/sys/kernel/random/boot_id", PROC_MAX, &text, NULL) < 0)
    tm_buf_clear(&text);
  size_t len = strcspn(tm_buf_str(&text), "\n");
  char *id = tm_xstrndup(tm_buf_str(&text), len);
  tm_buf_release(&text);
  return id;
}

char *tm_process_program(void)
{
  static const char itself[] = "/proc/self/exe";

  for (size_t size = 256;; size *= 2) {
    char *path = tm_xmalloc(size);
    ssize_t len = readlink(itself, path, size);
    if (len >= 0 && (size_t)len < size) {
      path[len] = '\0';
      if (access(path, F_OK) == 0)
        return path;
      free(path);
      return tm_xstrdup(itself);
    }
    free(path);
    if (len < 0)
      return NULL;
  }
}
