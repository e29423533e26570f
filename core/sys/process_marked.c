/* process_marked.c - ending processes that are no children of ours, but known by what stands in their environment.
 *
 * Whoever was killed could not end what it had started; what it had started carries a mark that it gave to all beneath it.
 * To kill by a mark is to kill strangers' processes if it is done carelessly, so:
 *
 *  (1) Only processes of this user are looked at, and the mark is read from the process itself, at the time.
 *  (2) A number may be given to another process between the look and the kill: the process is held (pidfd) first, looked at
 *      then, and killed by what was held.
 *  (3) This process and those above it are spared. When it carries the mark itself it kills nobody: it could not tell what
 *      was left behind from what its own starter has started since.
 *  (4) What is found may be forking: it is looked again until a look finds nothing, or the time is over.
 */
#include "sys/process.h"

#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/low_fds.h"

#define VALUE_MAX (64u << 10) /* bytes of the variable */
#define HELD_MAX  64          /* in one look: the next one finds the others */
#define ABOVE_MAX 64

struct hunt {
  const char *name, *mark;
  char *value; /* VALUE_MAX bytes */
  pid_t above[ABOVE_MAX];
  size_t above_len;
  struct pollfd held[HELD_MAX];
  size_t held_len;
};

static bool has_mark(struct hunt *h, pid_t pid)
{
  size_t len = strlen(h->mark);
  if (!tm_process_env(pid, h->name, h->value, VALUE_MAX))
    return false;
  for (const char *at = h->value; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, h->mark, len) == 0)
      return true;
  }
  return false;
}

static bool is_ours(pid_t pid)
{
  struct stat st;
  char *path = tm_xprintf("/proc/%ld", (long)pid);
  int rc = stat(path, &st);
  free(path);
  return rc == 0 && st.st_uid == geteuid();
}

static bool is_spared(const struct hunt *h, pid_t pid)
{
  for (size_t i = 0; i < h->above_len; i++)
    if (h->above[i] == pid)
      return true;
  return false;
}

static int on_pid(void *data, const char *name, int type)
{
  struct hunt *h = data;
  pid_t pid = isdigit((unsigned char)name[0]) ? (pid_t)atol(name) : 0;
  if (pid <= 0 || h->held_len == HELD_MAX || is_spared(h, pid) || !is_ours(pid) ||
      !has_mark(h, pid))
    return 0;
  int fd = tm_fd_lift((int)syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0)
    return 0;
  if (!has_mark(h, pid) || /* keeps (2) */
      syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0)
    close(fd);
  else
    h->held[h->held_len++] = (struct pollfd) { .fd = fd, .events = POLLIN };
  return 0;
}

/* Waits until what was killed has ended, or the time is over. */
static void wait_for_ends(struct hunt *h, int64_t until_ns)
{
  for (size_t i = 0; i < h->held_len; i++) {
    int64_t left_ns;
    while ((left_ns = until_ns - tm_clock_mono_ns()) > 0 &&
           poll(&h->held[i], 1, (int)((left_ns + TM_MS - 1) / TM_MS)) < 0)
      ;
    close(h->held[i].fd);
  }
}

size_t tm_process_kill_marked(const char *name, const char *mark, int64_t ns)
{
  struct hunt h = { .name = name, .mark = mark, .value = tm_xmalloc(VALUE_MAX) };
  int64_t until_ns = tm_clock_mono_ns() + ns;
  size_t killed = 0;
  for (pid_t pid = getpid(); pid > 0 && h.above_len < ABOVE_MAX; pid = tm_process_parent(pid))
    h.above[h.above_len++] = pid;
  if (!has_mark(&h, getpid())) { /* keeps (3) */
    do {
      h.held_len = 0;
      tm_dir_read("/proc", on_pid, &h);
      killed += h.held_len;
      wait_for_ends(&h, until_ns);
    } while (h.held_len > 0 && tm_clock_mono_ns() < until_ns); /* keeps (4) */
  }
  free(h.value);
  return killed;
}
