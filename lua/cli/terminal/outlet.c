/* outlet.c - see outlet.h.
 *
 *  (1) O_NONBLOCK belongs to the open file, which others share, so it is never set on the given
 *      descriptor. A pipe or a terminal is opened again through /proc; that descriptor does not
 *      block, and is watched. A file never blocks. What cannot be opened again is not watched but
 *      tried repeatedly: a socket, send by send; a pipe, by poll() before a write of a size that it
 *      takes whole.
 *  (2) What has been sent is counted in bytes of the output file. Only one piece is in memory.
 *  (3) At most TURN bytes are sent at once: the loop has other work.
 *  (4) If the reader of a pipe goes away, poll() tells at once, even while there is nothing to
 *      send.
 */
#include "cli/terminal/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/cli.h"

#define PIECE      ((size_t)64 << 10) /* bytes */
#define TURN       (1 << 20)          /* bytes */
#define PIPE_WHOLE 512                /* bytes that poll() promises (POSIX's least PIPE_BUF) */
#define ASK_MS     10                 /* when it cannot watch and must try again */

enum way { TO_FILE, ANEW, TO_SOCKET, ASKED };

static void choose_way(struct tm_outlet *r) /* keeps (1) */
{
  struct stat st = { 0 };
  char path[64];
  fstat(r->fd, &st);
  r->is_pipe = S_ISFIFO(st.st_mode);
  r->is_tty = isatty(r->fd);
  if (S_ISSOCK(st.st_mode)) {
    r->way = TO_SOCKET;
  } else if (r->is_pipe || r->is_tty) {
    snprintf(path, sizeof(path), "/proc/self/fd/%d", r->fd);
    r->own_fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    r->way = r->own_fd < 0 ? ASKED : ANEW;
  } else {
    r->way = TO_FILE;
  }
}

static int descriptor(const struct tm_outlet *r)
{
  return r->own_fd < 0 ? r->fd : r->own_fd;
}

int tm_outlet_open(struct tm_outlet *r, const char *path, int fd, struct tm_err *err)
{
  tm_require(!r->piece && r->sent == 0);
  r->fd = fd;
  r->own_fd = -1;
  r->piece = tm_xmalloc(PIECE);
  r->path = tm_xstrdup(path);
  r->file = open(path, O_RDONLY | O_CLOEXEC);
  if (r->file < 0)
    return tm_err_system(err, -errno, "cannot open '%s'", path);
  choose_way(r);
  return 0;
}

void tm_outlet_advance(struct tm_outlet *r, int64_t end)
{
  if (end > r->end && !r->is_gone)
    r->end = end;
}

static bool may_write(int fd)
{
  struct pollfd p = { .fd = fd, .events = POLLOUT };
  return poll(&p, 1, 0) > 0;
}

/* Writes once without waiting. Returns bytes, 0 if it would have to wait, or a negated errno. */
static ssize_t write_some(struct tm_outlet *r, const char *p, size_t n)
{
  ssize_t put;
  if (r->way == ASKED) {
    if (!may_write(r->fd))
      return 0;
    n = n < PIPE_WHOLE ? n : PIPE_WHOLE;
  }
  do
    put = r->way == TO_SOCKET ? send(r->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL)
                              : write(descriptor(r), p, n);
  while (put < 0 && errno == EINTR);
  if (put < 0)
    return errno == EAGAIN ? 0 : -errno;
  return put;
}

static ssize_t read_some(const struct tm_outlet *r, size_t want, struct tm_err *err)
{
  ssize_t got;
  do
    got = pread(r->file, r->piece, want, (off_t)r->sent);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return tm_err_system(err, -errno, "cannot read '%s'", r->path);
  if (got == 0)
    return tm_err_set(err, TM_EDAMAGE, "'%s' has become shorter while it was read", r->path);
  return got;
}

/* A piece for a terminal ends at the end of a line if possible, because others write there between
 * two pieces; otherwise at the end of a character. */
static size_t whole_lines(const struct tm_outlet *r, size_t got)
{
  tm_require(got > 0 && got <= PIECE);
  const char *end = memrchr(r->piece, '\n', got);
  size_t cut = got;
  if (end)
    return (size_t)(end + 1 - r->piece);
  while (cut > 1 && got - cut < 3 && ((unsigned char)r->piece[cut - 1] & 0xC0) == 0x80)
    cut--;
  return cut > 1 && ((unsigned char)r->piece[cut - 1] & 0xC0) == 0xC0 ? cut - 1 : got;
}

/* Sends a piece to a terminal, with control characters escaped. Returns as send_piece() does. */
static int send_shown(struct tm_outlet *r, size_t want, struct tm_err *err)
{
  if (r->shown_at == r->shown.len) {
    ssize_t got = read_some(r, want, err);
    if (got < 0)
      return (int)got;
    r->shown_for = (int64_t)whole_lines(r, (size_t)got);
    r->shown_at = 0;
    tm_buf_clear(&r->shown);
    tm_cli_add_shown(&r->shown, r->piece, (size_t)r->shown_for);
  }
  ssize_t put = write_some(r, r->shown.data + r->shown_at, r->shown.len - r->shown_at);
  if (put < 0)
    return tm_err_system(err, (int)put, "cannot write rows to standard output");
  r->shown_at += (size_t)put;
  tm_require(r->shown_at <= r->shown.len);
  if (put > 0)
    r->is_mid_line = r->shown.data[r->shown_at - 1] != '\n';
  if (r->shown_at == r->shown.len)
    r->sent += r->shown_for;
  return put > 0;
}

/* Sends a piece: 1; 0: the reader takes no more now; negative and an error. Keeps (2). */
static int send_piece(struct tm_outlet *r, struct tm_err *err)
{
  tm_require(r->sent < r->end);
  size_t want = r->end - r->sent < (int64_t)PIECE ? (size_t)(r->end - r->sent) : PIECE;
  if (r->is_tty)
    return send_shown(r, want, err);
  ssize_t got = read_some(r, want, err), put;
  if (got < 0)
    return (int)got;
  put = write_some(r, r->piece, (size_t)got);
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

int tm_outlet_send(struct tm_outlet *r, struct tm_err *err)
{
  tm_require(r->piece && r->sent >= 0);
  int64_t stop = r->sent + TURN; /* keeps (3) */
  int rc = 1;
  if (r->is_gone)
    return 0;
  if (has_lost_reader(r))
    rc = tm_err_system(err, -EPIPE, "cannot write rows to standard output");
  while (rc > 0 && r->sent < r->end && r->sent < stop)
    rc = send_piece(r, err);
  tm_require(r->is_tty || r->sent <= r->end);
  r->is_full = rc == 0;
  r->is_gone = rc < 0;
  return rc < 0 ? rc : 0;
}

int tm_outlet_wait(const struct tm_outlet *r, struct pollfd *p)
{
  bool has_more = r->sent < r->end && !r->is_gone, is_watched = r->way == ANEW && !r->is_gone;
  *p = (struct pollfd) { .fd = -1, .events = has_more && r->is_full ? POLLOUT : 0 };
  if (is_watched && (p->events || r->is_pipe)) /* keeps (4): poll() always reports its end */
    p->fd = r->own_fd;
  if (!has_more || (r->is_full && is_watched))
    return -1;
  return r->is_full ? ASK_MS : 0;
}

bool tm_outlet_is_idle(const struct tm_outlet *r)
{
  return r->is_gone || r->sent >= r->end;
}

void tm_outlet_close(struct tm_outlet *r)
{
  if (!r->piece)
    return;
  if (r->file >= 0)
    close(r->file);
  if (r->own_fd >= 0)
    close(r->own_fd);
  tm_buf_release(&r->shown);
  free(r->piece);
  free(r->path);
  r->piece = NULL;
}
