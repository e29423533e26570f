/* delay - runs a command, and carries what it reads and writes: a network between a job and its
 * node that becomes slow.
 *
 *   delay FILE MILLISECONDS COMMAND [ARGUMENT]...
 *
 * Bytes that come while FILE exists take MILLISECONDS, or until FILE is gone. SIGTERM does not end
 * it: what is on its way arrives. It ends when the command has closed its output and all bytes were
 * written.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE   65536
#define LOOK_MS 5

/* Bytes that came together. */
struct piece {
  struct piece *next;
  int64_t due_ms;
  size_t len, at;
  char bytes[];
};

struct way {
  int from, to; /* -1: closed */
  struct piece *first, **last;
};

static const char *file;
static int64_t delay_ms;

static int64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_slow(void)
{
  return access(file, F_OK) == 0;
}

static void open_way(struct way *w, int from, int to)
{
  fcntl(from, F_SETFL, O_NONBLOCK);
  fcntl(to, F_SETFL, O_NONBLOCK);
  *w = (struct way) { .from = from, .to = to };
  w->last = &w->first;
}

/* Also the end takes its time: it is a piece without bytes. */
static void add(struct way *w, const char *bytes, size_t len)
{
  struct piece *p = malloc(sizeof *p + len);
  if (p == NULL)
    abort();
  *p = (struct piece) { .len = len, .due_ms = now_ms() };
  p->due_ms += is_slow() ? delay_ms : 0;
  memcpy(p->bytes, bytes, len);
  *w->last = p;
  w->last = &p->next;
}

static void take(struct way *w)
{
  static char bytes[PIECE];
  ssize_t n = w->from < 0 ? 0 : read(w->from, bytes, sizeof bytes);
  if (w->from < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
    return;
  add(w, bytes, n > 0 ? (size_t)n : 0);
  if (n <= 0)
    w->from = -1;
}

static void drop_first(struct way *w)
{
  struct piece *p = w->first;
  w->first = p->next;
  if (w->first == NULL)
    w->last = &w->first;
  free(p);
}

static void end(struct way *w)
{
  if (shutdown(w->to, SHUT_WR) < 0)
    close(w->to);
  w->to = -1;
}

static void give(struct way *w)
{
  while (w->first != NULL && (w->first->due_ms <= now_ms() || !is_slow())) {
    struct piece *p = w->first;
    ssize_t n = w->to < 0 || p->len == p->at ? 0 : write(w->to, p->bytes + p->at, p->len - p->at);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    if (n < 0 || p->len == 0)
      end(w);
    p->at += n > 0 ? (size_t)n : 0;
    if (w->to < 0 || p->at == p->len)
      drop_first(w);
  }
}

static pid_t start(char **argv, int *end_of_pair)
{
  int pair[2];
  pid_t pid;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 || (pid = fork()) < 0)
    exit(125);
  if (pid == 0) {
    dup2(pair[1], 0);
    dup2(pair[1], 1);
    execvp(argv[0], argv);
    _exit(127);
  }
  close(pair[1]);
  *end_of_pair = pair[0];
  return pid;
}

int main(int argc, char **argv)
{
  struct way down, up;
  int fd, status = 0;
  if (argc < 4) {
    fprintf(stderr, "usage: delay FILE MILLISECONDS COMMAND [ARGUMENT]...\n");
    return 125;
  }
  file = argv[1];
  delay_ms = atoll(argv[2]);
  pid_t pid = start(argv + 3, &fd);
  signal(SIGTERM, SIG_IGN); /* the command has its own */
  signal(SIGPIPE, SIG_IGN);
  open_way(&down, 0, fd);
  open_way(&up, fd, dup(1));
  close(1);
  while (up.from >= 0 || up.first != NULL) {
    struct pollfd fds[] = { { down.from, POLLIN, 0 }, { up.from, POLLIN, 0 } };
    bool waits = down.first != NULL || up.first != NULL;
    poll(fds, 2, waits ? LOOK_MS : 1000);
    take(&down);
    take(&up);
    give(&down);
    give(&up);
  }
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
