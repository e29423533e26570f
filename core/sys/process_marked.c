/* process_marked.c - ends processes that are not our children, known by a mark in their
 * environment.
 *
 * A killed process could not end what it had started; those processes carry a mark that it gave to
 * all of them. Killing by a mark carelessly would kill strangers' processes, so:
 *
 *  (1) Only processes of this user are considered, and the mark is read from the process itself at
 *      that moment.
 *  (2) A number may be reused between the check and the kill: the process is held first (pidfd),
 *      then checked, and killed through the pidfd.
 *  (3) This process and its ancestors are spared. If it carries the mark itself it kills nothing:
 *      it could not tell leftovers from what its own parent has started since.
 *  (4) A match may be forking: the search repeats until it finds none, or the time is over.
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
#include "sys/standard_fds.h"

#define VALUE_MAX (64u << 10) /* bytes of the variable */
#define HELD_MAX  64          /* in one search; the next one finds the others */
#define ABOVE_MAX 64

struct hunt {
  const struct tm_process_mark *mark;
  char *value; /* VALUE_MAX bytes */
  pid_t above[ABOVE_MAX];
  size_t above_len;
  struct pollfd held[HELD_MAX];
  size_t held_len;
};

static bool has_mark(struct hunt *h, pid_t pid)
{
  const struct tm_process_mark *m = h->mark;
  size_t len = strlen(m->begin);
  if (!tm_process_env(pid, m->name, h->value, VALUE_MAX))
    return false;
  for (const char *at = h->value; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, m->begin, len) == 0 && (!m->is_meant || m->is_meant(m->data, at + len)))
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

/* Waits until the killed processes have ended, or the time is over. */
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

size_t tm_process_kill_marked(const struct tm_process_mark *m, int64_t ns)
{
  struct hunt h = { .mark = m, .value = tm_xmalloc(VALUE_MAX) };
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
