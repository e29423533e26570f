/* outlet.c - see outlet.h.
 *
 *  (1) O_NONBLOCK belongs to the open file, which others share: it is never set on the descriptor that we were given. A pipe or
 *      a terminal is opened anew through /proc, and that one does not block, and is watched. A file does not wait. What cannot
 *      be opened anew is not watched (to watch is to set O_NONBLOCK) but asked again and again: a socket, send by send; a pipe,
 *      poll() before a write of what it takes whole.
 *  (2) What has been sent is counted in bytes of the output file. Nothing is held in memory but one piece.
 *  (3) At most TURN bytes are sent at once: the loop has other work.
 *  (4) A pipe whose reader goes is noticed at once, also while there is nothing to send: poll says so.
 */
#include "cli/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"

#define PIECE      ((size_t)64 << 10) /* bytes */
#define TURN       (1 << 20)          /* bytes */
#define PIPE_WHOLE 512                /* bytes that poll() promises (POSIX's least PIPE_BUF) */
#define ASK_NS     (10 * TM_MS)       /* where it must be asked */

enum way { TO_FILE, ANEW, TO_SOCKET, ASKED };

static void pump(struct tm_outlet *r);

static void choose_way(struct tm_outlet *r) /* keeps (1) */
{
  struct stat st = { 0 };
  char path[64];
  fstat(r->o.fd, &st);
  r->is_pipe = S_ISFIFO(st.st_mode);
  if (S_ISSOCK(st.st_mode)) {
    r->way = TO_SOCKET;
  } else if (r->is_pipe || isatty(r->o.fd)) {
    snprintf(path, sizeof(path), "/proc/self/fd/%d", r->o.fd);
    r->own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    r->way = r->own_fd < 0 ? ASKED : ANEW;
  } else {
    r->way = TO_FILE;
  }
}

static int descriptor(const struct tm_outlet *r)
{
  return r->own_fd < 0 ? r->o.fd : r->own_fd;
}

static void on_ready(struct tm_poll *p, int events)
{
  pump(p->data);
}

static void on_again(struct tm_timer *t)
{
  pump(t->data);
}

int tm_outlet_open(struct tm_outlet *r, const struct tm_outlet_options *o, struct tm_err *err)
{
  r->o = *o;
  r->own_fd = r->file = -1;
  r->piece = tm_xmalloc(PIECE);
  r->path = tm_xstrdup(o->path);
  tm_timer_open(&r->again, o->loop, on_again, r);
  if ((r->file = tm_fs_open(o->fs, o->path, O_RDONLY, 0, err)) < 0)
    return r->file;
  choose_way(r);
  if (r->way == ANEW && tm_poll_open(&r->poll, o->loop, r->own_fd, on_ready, r, err) < 0)
    return err->code;
  if (r->way == ANEW && r->is_pipe)
    tm_poll_want(&r->poll,
                 TM_READABLE); /* keeps (4): never readable but when its reader has gone */
  return 0;
}

static bool may_write(int fd)
{
  struct pollfd p = { .fd = fd, .events = POLLOUT };
  return poll(&p, 1, 0) > 0;
}

/* One write that does not wait: bytes, 0 when nothing can be now, or a negated errno. */
static ssize_t write_some(struct tm_outlet *r, const char *p, size_t n)
{
  ssize_t put;
  if (r->way == ASKED) {
    if (!may_write(r->o.fd))
      return 0;
    n = n < PIPE_WHOLE ? n : PIPE_WHOLE;
  }
  do
    put = r->way == TO_SOCKET ? send(r->o.fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL)
                              : write(descriptor(r), p, n);
  while (put < 0 && errno == EINTR);
  if (put < 0)
    return errno == EAGAIN ? 0 : -errno;
  return put;
}

static void lose(struct tm_outlet *r, const struct tm_err *err)
{
  r->is_gone = true;
  if (r->way == ANEW)
    tm_poll_want(&r->poll, 0);
  tm_timer_stop(&r->again);
  r->o.on_gone(r->o.data, err);
}

/* Sends a piece: 1, 0 when the reader takes no more now, or negative with words. Keeps (2). */
static int send_piece(struct tm_outlet *r, struct tm_err *err)
{
  size_t want = r->end - r->sent < (int64_t)PIECE ? (size_t)(r->end - r->sent) : PIECE;
  int64_t got = tm_fs_read_at(r->o.fs, r->file, r->path, r->piece, want, r->sent, err);
  if (got < 0)
    return (int)got;
  if (got == 0)
    return tm_err_set(err, TM_EDAMAGE, "'%s' has become shorter while it was read", r->path);
  ssize_t put = write_some(r, r->piece, (size_t)got);
  if (put < 0)
    return tm_err_system(err, (int)put, "cannot write rows to standard output");
  r->sent += put;
  return put > 0;
}

static bool has_lost_reader(const struct tm_outlet *r)
{
  struct pollfd p = { .fd = descriptor(r), .events = POLLOUT };
  return r->is_pipe && poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP));
}

/* What wakes us next. */
static void wait_on(struct tm_outlet *r, bool is_full)
{
  bool has_more = r->sent < r->end;
  if (r->way == ANEW)
    tm_poll_want(&r->poll,
                 (has_more && is_full ? TM_WRITABLE : 0) | (r->is_pipe ? TM_READABLE : 0));
  if (has_more && (!is_full || r->way != ANEW))
    tm_timer_start(&r->again, is_full ? ASK_NS : 0, 0);
}

static void pump(struct tm_outlet *r)
{
  struct tm_err err = TM_ERR_NONE;
  int64_t stop = r->sent + TURN; /* keeps (3) */
  int rc = 1;
  bool had_more = r->sent < r->end;
  if (r->is_gone)
    return;
  if (has_lost_reader(r))
    rc = tm_err_system(&err, -EPIPE, "cannot write rows to standard output");
  while (rc > 0 && r->sent < r->end && r->sent < stop)
    rc = send_piece(r, &err);
  if (rc < 0) {
    lose(r, &err);
    return;
  }
  wait_on(r, rc == 0);
  if (had_more && r->sent == r->end && r->o.on_idle)
    r->o.on_idle(r->o.data);
}

void tm_outlet_advance(struct tm_outlet *r, int64_t end)
{
  bool was_waiting = r->sent < r->end;
  if (end <= r->end || r->is_gone)
    return;
  r->end = end;
  if (!was_waiting)
    tm_timer_start(&r->again, 0, 0);
}

bool tm_outlet_is_idle(const struct tm_outlet *r)
{
  return r->is_gone || r->sent >= r->end;
}

void tm_outlet_close(struct tm_outlet *r)
{
  if (!r->piece)
    return;
  if (r->poll.is_open)
    tm_poll_close(&r->poll);
  tm_timer_close(&r->again);
  tm_fs_close(r->o.fs, r->file);
  if (r->own_fd >= 0)
    close(r->own_fd);
  free(r->piece);
  free(r->path);
  r->piece = NULL;
}
