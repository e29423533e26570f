/* replays.c - see replays.h. */
#include "portal/replays.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "portal/child.h"
#include "portal/pipe_writers.h"

#define GRACE_NS (500 * TM_MS)

bool tm_replays_has(const struct tm_replays *r, const char *dir)
{
  for (size_t i = 0; i < r->len; i++)
    if (strcmp(r->at[i].dir, dir) == 0)
      return true;
  return false;
}

static void kill_all(pid_t pid)
{
  (void)kill(-pid, SIGKILL);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

int tm_replays_start(struct tm_replays *r, const char *program, const char *const *argv,
                     const char *dir, int *reader)
{
  int ends[2];
  struct tm_replay replay = { .pid = 0 };
  if (pipe2(ends, O_CLOEXEC) < 0)
    return errno;
  int code = tm_child_start(program, argv, NULL, ends[1], &replay.pid);
  if (code == 0 && ((replay.process = pidfd_open(replay.pid, 0)) < 0 ||
                    fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)) {
    code = errno;
    if (replay.process >= 0)
      close(replay.process);
    kill_all(replay.pid);
  }
  if (code != 0) {
    close(ends[0]);
    close(ends[1]);
    return code;
  }
  replay.dir = tm_xstrdup(dir);
  replay.pipe = ends[1];
  r->at[r->len++] = replay;
  *reader = ends[0];
  return 0;
}

size_t tm_replays_polls(const struct tm_replays *r, struct pollfd *polls)
{
  size_t n = 0;
  for (size_t i = 0; i < r->len; i++) {
    const struct tm_replay *p = &r->at[i];
    bool is_ending = p->pid > 0 && p->kill_ns != 0; /* that its reader is gone is known */
    polls[n++] = (struct pollfd) { .fd = p->pid > 0 ? p->process : -1, .events = POLLIN };
    polls[n++] =
        (struct pollfd) { .fd = is_ending ? -1 : p->pipe, .events = p->pid > 0 ? 0 : POLLOUT };
  }
  return n;
}

int tm_replays_timeout_ms(const struct tm_replays *r, int64_t now)
{
  int64_t next = INT64_MAX;
  for (size_t i = 0; i < r->len; i++)
    if (r->at[i].pid > 0 && r->at[i].kill_ns != 0 && r->at[i].kill_ns < next)
      next = r->at[i].kill_ns;
  return next == INT64_MAX ? -1 : next <= now ? 0 : (int)((next - now) / TM_MS) + 1;
}

static bool has_reader(const struct tm_replay *p)
{
  struct pollfd one = { .fd = p->pipe };
  return poll(&one, 1, 0) <= 0 || !(one.revents & POLLERR);
}

static void say_end(struct tm_replay *p, int status)
{
  static const char *const meanings[] = { ": all items succeeded",
                                          ": the script failed, or an item did" };
  if (WIFSIGNALED(status)) {
    snprintf(p->last, sizeof p->last, "\ntidemill: signal %d (%s) has ended the replay\n",
             WTERMSIG(status), strsignal(WTERMSIG(status)));
    return;
  }
  size_t code = (size_t)WEXITSTATUS(status);
  snprintf(p->last, sizeof p->last, "\ntidemill: the replay has ended with exit status %zu%s\n",
           code, code < TM_COUNT_OF(meanings) ? meanings[code] : "");
}

/* Keeps (2). Until it is waited for, nobody else gets its number. */
static void take_end(struct tm_replay *p)
{
  siginfo_t info = { .si_pid = 0 };
  int status = 0;
  if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == 0)
    return;
  (void)kill(-p->pid, SIGKILL);
  (void)waitpid(p->pid, &status, 0);
  p->pid = 0;
  tm_pipe_writers_kill(p->pipe);
  say_end(p, status);
  (void)fcntl(p->pipe, F_SETFL, O_NONBLOCK);
}

/* Keeps (1). */
static void end_unread(struct tm_replay *p, int64_t now)
{
  if (p->kill_ns == 0) {
    (void)kill(-p->pid, SIGINT);
    p->kill_ns = now + GRACE_NS;
  } else if (p->kill_ns <= now) {
    (void)kill(-p->pid, SIGKILL);
    p->kill_ns = INT64_MAX;
  }
}

/* Whether nothing is left to do: its last line is written, or nobody reads it. */
static bool is_over(struct tm_replay *p, int64_t now)
{
  if (p->pid > 0)
    take_end(p);
  if (p->pid > 0 && !has_reader(p))
    end_unread(p, now);
  return p->pid == 0 && (write(p->pipe, p->last, strlen(p->last)) >= 0 || errno != EAGAIN);
}

void tm_replays_turn(struct tm_replays *r, int64_t now)
{
  for (size_t i = r->len; i-- > 0;)
    if (is_over(&r->at[i], now)) {
      free(r->at[i].dir);
      close(r->at[i].process);
      close(r->at[i].pipe);
      r->at[i] = r->at[--r->len];
    }
}
