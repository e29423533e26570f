/* program_run.c - runs a program to its end: reads its output as it arrives, with a limit of time
 * and a limit of bytes.
 *
 *  (1) The run ends when the program ends, not when its output does: a pipe that a background
 *      process holds open is not waited for. Only what was in the pipes when the program ended is
 *      read.
 *  (2) Both pipes are read in one loop, so that neither fills up while the other is waited for.
 *  (3) In every case the child is reaped and both pipes are closed when the call returns.
 *
 * When time or bytes are used up, the descendants of the program are killed with it. A parent is
 * stopped before its children are listed, so that it starts no more of them meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/standard_fds.h"
#include "sys/program.h"

#define PIECE        (64u << 10) /* bytes of one read: the capacity of a pipe */
#define CHILDREN_MAX 256
#define DEPTH_MAX    32

struct source {
  int fd, far; /* our end, and the program's; -1: not captured, or closed */
  struct tm_buf *to;
  bool is_shown;
};

struct run {
  const struct tm_program *program;
  struct source sources[2];
  size_t max;
  pid_t pid;
  int pidfd;
  int64_t until; /* on the monotonic clock; 0: no limit */
  bool timed_out;
};

static void close_fd(int *fd)
{
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static int open_source(struct source *s, struct tm_buf *to, bool is_shown, struct tm_err *err)
{
  int fds[2];
  if (to == NULL)
    return 0;
  int code = pipe2(fds, O_CLOEXEC) < 0 ? -errno : tm_fd_lift_pair(fds);
  if (code < 0)
    return tm_err_system(err, code, "cannot make a pipe");
  *s = (struct source) { fds[0], fds[1], to, is_shown };
  return fcntl(s->fd, F_SETFL, O_NONBLOCK) < 0 ? tm_err_system(err, -errno, "cannot prepare a pipe")
                                               : 0;
}

static void kill_tree(pid_t pid, int depth)
{
  pid_t children[CHILDREN_MAX];
  kill(pid, SIGSTOP);
  size_t n = depth < DEPTH_MAX ? tm_process_children(pid, children, CHILDREN_MAX) : 0;
  for (size_t i = 0; i < n; i++)
    kill_tree(children[i], depth + 1);
  kill(pid, SIGKILL);
}

/* Reads up to `want` bytes. 1: there may be more; 0: nothing now; negative: an error. */
static int read_some(struct run *r, struct source *s, size_t want, struct tm_err *err)
{
  size_t had = s->to->len;
  ssize_t got = read(s->fd, tm_buf_extend(s->to, want), want);
  int code = got < 0 ? -errno : 0;
  s->to->len = had + (got > 0 ? (size_t)got : 0);
  s->to->data[s->to->len] = '\0';
  if (code == -EAGAIN || code == -EINTR)
    return code == -EINTR;
  if (code < 0)
    return tm_err_system(err, code, "cannot read what '%s' writes", r->program->argv[0]);
  if (got == 0) {
    close_fd(&s->fd);
    return 0;
  }
  if (s->is_shown) /* the run does not fail if stderr cannot be written */
    (void)tm_fd_append(STDERR_FILENO, s->to->data + had, (size_t)got);
  if (s->to->len > r->max)
    return tm_err_set(err, TM_ELIMIT,
                      "'%s' wrote more than %zu bytes and was killed; let it write to a file",
                      r->program->argv[0], r->max);
  return 1;
}

/* Keeps (1): the program has ended. */
static int read_rest(struct run *r, struct source *s, struct tm_err *err)
{
  int left = 0, rc = 1;
  if (s->fd < 0 || ioctl(s->fd, FIONREAD, &left) < 0)
    return 0;
  size_t end = s->to->len + (size_t)left;
  while (rc > 0 && s->fd >= 0 && s->to->len < end)
    rc = read_some(r, s, end - s->to->len, err);
  return rc;
}

static int time_left_ms(const struct run *r)
{
  if (r->until == 0 || r->timed_out)
    return -1;
  int64_t ms = (r->until - tm_clock_mono_ns() + 999999) / 1000000;
  return ms <= 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* Until the program has ended. Keeps (2). */
static int follow(struct run *r, struct tm_err *err)
{
  for (;;) {
    struct pollfd fds[3] = {
      { .fd = r->pidfd, .events = POLLIN },
      { .fd = r->sources[0].fd, .events = POLLIN },
      { .fd = r->sources[1].fd, .events = POLLIN },
    };
    int rc = poll(fds, 3, time_left_ms(r));
    if (rc < 0 && errno != EINTR)
      return tm_err_system(err, -errno, "cannot wait for '%s'", r->program->argv[0]);
    if (rc >= 0 && time_left_ms(r) == 0) {
      /* an end within the time counts, however late we notice */
      r->timed_out = fds[0].revents == 0;
      if (r->timed_out)
        kill_tree(r->pid, 0);
    }
    for (int i = 0; i < 2 && rc > 0; i++)
      if (fds[i + 1].revents != 0 && (rc = read_some(r, &r->sources[i], PIECE, err)) < 0)
        return rc;
      else
        rc = 1;
    if (rc > 0 && fds[0].revents != 0)
      break;
  }
  int rc = read_rest(r, &r->sources[0], err);
  return rc < 0 ? rc : read_rest(r, &r->sources[1], err);
}

int tm_program_run(const struct tm_program *p, const struct tm_program_capture *c, int64_t ns,
                   struct tm_process_end *end, bool *timed_out, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE, later;
  struct run r = { .program = p, .max = c->max, .pidfd = -1 };
  for (int i = 0; i < 2; i++)
    r.sources[i].fd = r.sources[i].far = -1;
  int rc = open_source(&r.sources[0], c->out, false, &why);
  if (rc == 0)
    rc = open_source(&r.sources[1], c->err, c->is_err_shown, &why);
  if (rc == 0)
    rc = r.pid = tm_program_start_with(p, r.sources[0].far, r.sources[1].far, &why);
  for (int i = 0; i < 2; i++)
    close_fd(&r.sources[i].far);
  r.until = ns > 0 ? tm_clock_mono_ns() + ns : 0;
  if (rc > 0 && c->is_interrupted != NULL && c->is_interrupted(c->data))
    kill(r.pid, SIGINT);
  if (rc > 0) {
    r.pidfd = tm_fd_lift((int)syscall(SYS_pidfd_open, r.pid, 0));
    rc = r.pidfd >= 0 ? follow(&r, &why)
                      : tm_err_system(&why, -errno, "cannot watch '%s'", p->argv[0]);
    if (rc < 0)
      kill_tree(r.pid, 0);
    int waited = tm_program_wait(r.pid, -1, end, rc < 0 ? &later : &why); /* keeps (3) */
    rc = rc < 0 ? rc : waited < 0 ? waited : 0;
  }
  close_fd(&r.pidfd);
  for (int i = 0; i < 2; i++)
    close_fd(&r.sources[i].fd);
  *timed_out = r.timed_out;
  return rc < 0 ? tm_err_set(err, rc, "%s", why.text) : 0;
}
