/* process_wait.c - waiting for one known child, with a limit; and randomness. See process.h.
 *
 * It waits on the child's pidfd, not for a signal: a host keeps its SIGCHLD and reaps its own
 * children. If a host reaps ours too, no stranger is killed by mistake.
 */
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/standard_fds.h"
#include "sys/process.h"

/* Polls, where there is no pidfd: Linux before 5.3, valgrind, too many open files. */
static bool look_until(pid_t pid, int64_t until_ns)
{
  siginfo_t info;

  for (;;) {
    memset(&info, 0, sizeof(info));
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD)
      return true;
    if (info.si_pid != 0 || tm_clock_mono_ns() >= until_ns)
      return info.si_pid != 0;
    tm_clock_pause(TM_MS);
  }
}

/* The pidfd of a process, or a negated errno. */
static int pidfd_of(pid_t pid)
{
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);

  return fd < 0 ? -errno : tm_fd_lift(fd);
}

int tm_process_hold(pid_t pid, uint64_t born)
{
  int held = pidfd_of(pid);

  if (held >= 0 && (born == 0 || tm_process_born(pid) != born)) {
    close(held);
    return -ESRCH;
  }
  return held;
}

void tm_process_kill_held(int held, int signal)
{
  (void)syscall(SYS_pidfd_send_signal, held, signal, NULL, 0);
}

/* True if it has ended within the time. */
static bool has_ended(pid_t pid, int64_t ns)
{
  int64_t until = tm_clock_mono_ns() + ns;
  struct pollfd p = { .fd = pidfd_of(pid), .events = POLLIN };
  int rc = 0;

  if (p.fd == -ESRCH)
    return true; /* reaped by the host: its number may already be reused */
  if (p.fd < 0)
    return look_until(pid, until);
  do {
    int64_t left = (until - tm_clock_mono_ns() + 999999) / 1000000;
    rc = poll(&p, 1, left > 0 ? (int)left : 0);
  } while (rc < 0 && errno == EINTR);
  close(p.fd);
  return rc > 0;
}

void tm_process_wait(pid_t pid, int64_t ns, struct tm_process_end *out)
{
  siginfo_t info;
  int rc;

  if (!has_ended(pid, ns))
    kill(pid, SIGKILL);
  memset(&info, 0, sizeof(info));
  do
    rc = waitid(P_PID, (id_t)pid, &info, WEXITED);
  while (rc < 0 && errno == EINTR);
  if (!out)
    return;
  memset(out, 0, sizeof(*out));
  out->pid = pid;
  if (rc < 0) {
    out->exit_status = -1; /* a host that reaps every child came first */
    return;
  }
  if (info.si_code == CLD_EXITED)
    out->exit_status = info.si_status;
  else
    out->signal = info.si_status;
  out->core_dumped = info.si_code == CLD_DUMPED;
}

char *tm_process_user(void)
{
  char room[4096];
  struct passwd entry, *found = NULL;
  if (getpwuid_r(geteuid(), &entry, room, sizeof(room), &found) == 0 && found && *found->pw_name)
    return tm_xstrdup(found->pw_name);
  return tm_xprintf("uid-%ld", (long)geteuid());
}

uint64_t tm_process_random(void)
{
  uint64_t n = 0;

  tm_require(getrandom(&n, sizeof(n), 0) == (ssize_t)sizeof(n));
  return n;
}
