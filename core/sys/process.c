/* process.c - starting processes, and noticing their ends.
 *
 *  (1) posix_spawn, not fork: its cost does not grow with the memory of the parent, and it does not
 *      disturb a host's fork handlers and threads.
 *  (2) The child gets only what the struct lists: a session of its own (unless same_session),
 *      default dispositions, an empty signal mask, descriptors 0.. as listed. Every other one is
 *      closed, whatever a host left open without close-on-exec.
 *  (3) The listed descriptors may have any numbers, also those that they are to get: each is first
 *      duplicated above the list, so that no step overwrites what a later step reads.
 *  (4) An end is seen (WNOWAIT) before it is reaped. Until then neither the pid nor the group of
 *      that number can be reused: whoever kills the group of an ended child does so in between.
 */
#include "sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "sys/standard_fds.h"

/* What a start needs besides the attributes; zeroed is empty. */
struct start {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  int *high; /* high[i]: the duplicate that becomes descriptor i, or -1 */
  size_t high_len;
};

static int set_attr(struct start *st, const struct tm_spawn *s)
{
  short session = s->same_session ? 0 : POSIX_SPAWN_SETSID;
  sigset_t all, none;
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&st->attr, &all);
  posix_spawnattr_setsigmask(&st->attr, &none);
  return -posix_spawnattr_setflags(
      &st->attr, (short)(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

/* Keeps (3). */
static int dup_high(struct start *st, const struct tm_spawn *s)
{
  int nothing = tm_fd_lift(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (nothing < 0)
    return -errno;
  int rc = 0;
  for (size_t i = 0; i < st->high_len && rc == 0; i++) {
    int fd = i < s->fds_len && s->fds[i] >= 0 ? s->fds[i] : nothing;
    st->high[i] = fcntl(fd, F_DUPFD_CLOEXEC, (int)st->high_len);
    if (st->high[i] < 0)
      rc = -errno;
  }
  close(nothing);
  return rc;
}

static int set_actions(struct start *st, const struct tm_spawn *s)
{
  int rc = 0;
  for (size_t i = 0; i < st->high_len && rc == 0; i++)
    rc = posix_spawn_file_actions_adddup2(&st->actions, st->high[i], (int)i);
  if (rc == 0) /* keeps (2) */
    rc = posix_spawn_file_actions_addclosefrom_np(&st->actions, (int)st->high_len);
  if (rc == 0 && s->cwd != NULL)
    rc = posix_spawn_file_actions_addchdir_np(&st->actions, s->cwd);
  return -rc;
}

pid_t tm_process_start(const struct tm_spawn *s, struct tm_err *err)
{
  struct start st;
  pid_t pid = -1;
  st.high_len = s->fds_len > 3 ? s->fds_len : 3;
  st.high = tm_xmalloc(st.high_len * sizeof *st.high);
  for (size_t i = 0; i < st.high_len; i++)
    st.high[i] = -1;
  tm_require(posix_spawn_file_actions_init(&st.actions) == 0);
  tm_require(posix_spawnattr_init(&st.attr) == 0);
  int rc = set_attr(&st, s);
  if (rc == 0)
    rc = dup_high(&st, s);
  if (rc == 0)
    rc = set_actions(&st, s);
  if (rc == 0)
    rc = -posix_spawn(&pid, s->program, &st.actions, &st.attr, s->argv,
                      s->env != NULL ? s->env : environ);
  for (size_t i = 0; i < st.high_len; i++)
    if (st.high[i] >= 0)
      close(st.high[i]);
  free(st.high);
  posix_spawnattr_destroy(&st.attr);
  posix_spawn_file_actions_destroy(&st.actions);
  if (rc < 0)
    return tm_process_blame_limits(
        tm_err_system(err, rc, s->cwd != NULL ? "cannot start '%s' in '%s'" : "cannot start '%s'",
                      s->program, s->cwd),
        err);
  return pid;
}

void tm_process_die_with_parent(pid_t parent)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  /* A parent that ended before that call sends no signal. */
  if (parent != 0 && getppid() != parent)
    kill(getpid(), SIGKILL);
}

void tm_process_signal_with_parent(int signal)
{
  prctl(PR_SET_PDEATHSIG, signal);
}

static void on_outlived(int signal)
{
  /* an ignored signal would be ignored by programs that are executed, too */
}

void tm_process_outlive(int signal)
{
  struct sigaction action = { .sa_handler = on_outlived, .sa_flags = SA_RESTART };

  sigaction(signal, &action, NULL);
}

int tm_process_adopt_orphans(void)
{
  return prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -errno : 0;
}

int tm_process_next_end(struct tm_process_end *out)
{
  siginfo_t info;
  int rc;
  memset(&info, 0, sizeof info);
  do
    rc = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT); /* keeps (4) */
  while (rc < 0 && errno == EINTR);
  if (rc < 0)
    return -errno;
  if (info.si_pid == 0)
    return 0;
  bool exited = info.si_code == CLD_EXITED;
  out->pid = info.si_pid;
  out->exit_status = exited ? info.si_status : 0;
  out->signal = exited ? 0 : info.si_status;
  out->core_dumped = info.si_code == CLD_DUMPED;
  return 1;
}

int tm_process_next_stop(pid_t *pid, bool *is_stopped)
{
  siginfo_t info;
  int rc;
  memset(&info, 0, sizeof info);
  do
    rc = waitid(P_ALL, 0, &info, WSTOPPED | WCONTINUED | WNOHANG);
  while (rc < 0 && errno == EINTR);
  if (rc < 0)
    return -errno;
  *pid = info.si_pid;
  *is_stopped = info.si_code == CLD_STOPPED;
  return info.si_pid != 0;
}

void tm_process_reap(pid_t pid, int64_t *max_rss_kb)
{
  struct rusage used;
  pid_t rc;
  if (max_rss_kb != NULL)
    *max_rss_kb = -1;
  if (!tm_check(pid > 0))
    return;
  do
    rc = wait4(pid, NULL, 0, &used);
  while (rc < 0 && errno == EINTR);
  if (rc == pid && max_rss_kb != NULL)
    *max_rss_kb = used.ru_maxrss;
}

void tm_process_kill(pid_t pid, int signal)
{
  if (tm_check(pid > 0)) /* 0 and below are groups: ours, or every process */
    kill(pid, signal);
}

void tm_process_kill_group(pid_t pgid, int signal)
{
  if (tm_check(pgid > 1))
    kill(-pgid, signal);
}

unsigned tm_process_open_standard(void)
{
  unsigned closed = 0;
  int fd;
  while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
    closed |= 1u << fd;
  if (fd >= 0)
    close(fd);
  return closed;
}

static int take_standard(int fd)
{
  int taken = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), null;
  if (taken < 0)
    return -errno;
  null = open("/dev/null", (fd == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, fd);
    close(null);
  }
  return taken;
}

int tm_process_take_stdin(struct tm_err *err)
{
  int fd = take_standard(STDIN_FILENO);
  return fd < 0 ? tm_err_system(err, fd, "cannot read standard input") : fd;
}

int tm_process_take_streams(int *in, int *out, struct tm_err *err)
{
  *in = tm_process_take_stdin(err);
  if (*in < 0)
    return *in;
  *out = take_standard(STDOUT_FILENO);
  if (*out >= 0)
    return 0;
  close(*in);
  return tm_err_system(err, *out, "cannot write standard output");
}

void tm_process_raise_fd_limit(void)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* `rc`: of getrlimit(). */
static int64_t soft_limit(int rc, const struct rlimit *limit)
{
  return rc < 0 || limit->rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit->rlim_cur;
}

int64_t tm_process_fd_limit(void)
{
  struct rlimit limit;
  return soft_limit(getrlimit(RLIMIT_NOFILE, &limit), &limit);
}

int64_t tm_process_file_limit(void)
{
  struct rlimit limit;
  return soft_limit(getrlimit(RLIMIT_FSIZE, &limit), &limit);
}

int tm_process_blame_limits(int code, struct tm_err *err)
{
  struct rlimit limit;
  int64_t processes = soft_limit(getrlimit(RLIMIT_NPROC, &limit), &limit);
  int64_t memory = soft_limit(getrlimit(RLIMIT_AS, &limit), &limit);
  if (!err || (code != -EAGAIN && code != -ENOMEM))
    return code;
  size_t len = strlen(err->text);
  if (memory < INT64_MAX)
    snprintf(err->text + len, sizeof err->text - len,
             "; a process may have %lld MB of address space (ulimit -v)",
             (long long)(memory >> 20));
  len = strlen(err->text);
  if (processes < INT64_MAX)
    snprintf(err->text + len, sizeof err->text - len,
             "; this user may have %lld processes and threads (ulimit -u)", (long long)processes);
  return code;
}
