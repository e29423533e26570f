/* channel.c - messages on a loop.
 *
 *   recvmsg -> in [used | messages | rest] -> on_msg(payload points into it)
 *   send    -> out [written | pending]   -> sendmsg at the turn's end, or when the peer reads
 *
 *  (1) Messages are delivered in the order in which they arrived. An end is reported after all
 *      messages that arrived before it; on_end is called once, and nothing follows it.
 *  (2) If on_msg closes the channel, the channel's memory stays valid until on_closed: the inbox
 *      is released there, since the callback may still read its message.
 *  (3) One turn reads at most READ_TURN bytes, so that a peer which never stops does not starve the
 *      others. Unread bytes make the descriptor readable again at once.
 *  (4) A descriptor travels with the first byte of its message: a write stops before such a byte,
 *      and the next one begins with it. The receiver queues descriptors in the order of arrival and
 *      gives each to the next message that announces one. Descriptors that no message has announced
 *      when all bytes are used are closed.
 *  (5) A failed write does not end the channel: what the peer wrote before it died can still be
 *      read, and its end is seen there. Only the outbox is dropped and the socket shut down, so
 *      that an end is certain to arrive.
 */
#include "sys/messages/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "sys/standard_fds.h"
#include "sys/messages/msg_bytes.h"

#define READ_TURN (1u << 20) /* bytes */
/* bytes; an outbox that grew beyond this is freed when it is empty */
#define OUT_KEPT      (1u << 20)
#define OUT_MOVED     (256u << 10) /* bytes, written before the rest is moved to the front */
#define SOCKET_BUFFER (1 << 20)

static void drop_out(struct tm_channel *c)
{
  for (size_t i = 0; i < c->fd_out.len; i++)
    close(c->fd_out.at[i].fd);
  TM_ARRAY_RELEASE(&c->fd_out);
  tm_buf_release(&c->out);
  c->out_at = 0;
  tm_late_remove(&c->late);
}

static void drop_fds_in(struct tm_channel *c)
{
  for (int i = 0; i < c->fd_in_len; i++)
    close(c->fd_in[i]);
  c->fd_in_len = 0;
}

static void end(struct tm_channel *c, int code)
{
  tm_require(c->is_open && !c->is_ended); /* keeps (1) */
  c->is_ended = true;
  tm_poll_want(&c->poll, 0);
  drop_out(c);
  drop_fds_in(c);
  c->on_end(c, code);
}

/* False when the message announces a descriptor that has not arrived. */
static bool give_fd(struct tm_channel *c, struct tm_msg *f)
{
  if (!(f->type & TM_MSG_FD))
    return true;
  if (c->fd_in_len == 0)
    return false;
  f->type &= ~TM_MSG_FD;
  f->fd = c->fd_in[0];
  memmove(c->fd_in, c->fd_in + 1, (size_t)--c->fd_in_len * sizeof c->fd_in[0]);
  return true;
}

static void deliver(struct tm_channel *c)
{
  struct tm_msg f;
  int rc = 0;
  while (c->is_open && !c->is_ended && !c->is_held &&
         (rc = tm_wire_next(&c->in, &c->in_at, &f)) > 0) {
    if (!give_fd(c, &f)) {
      rc = c->has_lost_fd ? -EMFILE : TM_EPROTOCOL;
      break;
    }
    c->on_msg(c, &f);
  }
  if (!c->is_open || c->is_ended)
    return;
  if (rc < 0)
    end(c, rc);
  else if (c->in_at == c->in.len)
    drop_fds_in(c); /* keeps (4) */
}

static void read_some(struct tm_channel *c, size_t most)
{
  size_t total = 0;
  if (!tm_check(!c->is_reading)) /* the callback's message would move */
    return;
  c->is_reading = true;
  while (c->is_open && !c->is_ended && !c->is_held && total < most) { /* keeps (3) */
    struct tm_wire_fds fds = { c->fd_in, c->fd_in_len, (int)TM_COUNT_OF(c->fd_in), false };
    size_t room;
    char *p = tm_wire_room(&c->in, &c->in_at, &room);
    ssize_t got = tm_wire_read(c->fd, c->is_socket, p, room, false, &fds);
    c->fd_in_len = fds.len;
    c->has_lost_fd |= fds.is_cut;
    if (got == -EAGAIN)
      break;
    /* The writing end of a pipe polls as readable when its reader is gone. */
    if (got == -EBADF && !c->is_socket)
      got = 0;
    if (got <= 0) {
      end(c, (int)got);
      break;
    }
    c->in.len += (size_t)got;
    total += (size_t)got;
    deliver(c);
    /* nothing is left; otherwise the poll reports more */
    if ((size_t)got < room && most == READ_TURN)
      break;
  }
  c->is_reading = false;
}

static void on_ready(struct tm_poll *p, int events)
{
  struct tm_channel *c = p->data;
  if (events & TM_READABLE)
    read_some(c, READ_TURN);
  if (events & TM_WRITABLE)
    tm_channel_flush(c);
}

static void on_late(struct tm_late *l)
{
  tm_channel_flush(l->data);
}

static void on_poll_closed(struct tm_poll *p)
{
  struct tm_channel *c = p->data;
  tm_require(!c->is_open && c->out.len == 0 && c->fd_out.len == 0);
  tm_buf_release(&c->in); /* keeps (2) */
  if (c->on_closed != NULL)
    c->on_closed(c);
}

int tm_channel_open(struct tm_channel *c, struct tm_loop *loop, int fd,
                    void (*on_msg)(struct tm_channel *, const struct tm_msg *),
                    void (*on_end)(struct tm_channel *, int code), void *data, struct tm_err *err)
{
  tm_require(fd >= 0 && on_msg && on_end);
  memset(c, 0, sizeof *c);
  int rc = tm_poll_open(&c->poll, loop, fd, on_ready, c, err); /* makes it non-blocking */
  if (rc < 0) {
    close(fd);
    return rc;
  }
  c->poll.on_closed = on_poll_closed;
  c->loop = loop;
  c->fd = fd;
  c->on_msg = on_msg;
  c->on_end = on_end;
  c->data = data;
  c->late.on_late = on_late;
  c->late.data = c;
  c->is_socket = tm_wire_is_socket(fd);
  c->is_open = true;
  tm_poll_want(&c->poll, TM_READABLE);
  return 0;
}

void tm_channel_send(struct tm_channel *c, const struct tm_msg *f)
{
  if (!c->is_open || c->is_ended)
    return;
  tm_wire_add(&c->out, f, 0);
  tm_late_add(c->loop, &c->late);
}

int tm_channel_send_fd(struct tm_channel *c, const struct tm_msg *f, int fd, struct tm_err *err)
{
  int code = !c->is_open || c->is_ended ? -EPIPE : !c->is_socket ? -ENOTSOCK : 0;
  int copy = code == 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
  if (code == 0 && copy < 0)
    code = -errno;
  if (code < 0)
    return tm_err_system(err, code, "cannot pass a descriptor on");
  *TM_ARRAY_ADD(&c->fd_out) = (struct tm_fd_at) { c->out.len, copy };
  tm_wire_add(&c->out, f, TM_MSG_FD);
  tm_channel_flush(c);
  return 0;
}

/* How much the next write may hold. *pass is the descriptor that goes with it, or -1. Keeps (4). */
static size_t next_write(const struct tm_channel *c, int *pass)
{
  const struct tm_fd_at *fds = c->fd_out.at;
  size_t end_at = c->out.len;
  *pass = -1;
  tm_require(c->fd_out.len == 0 || (fds[0].at >= c->out_at && fds[0].at < c->out.len));
  if (c->fd_out.len > 0 && fds[0].at == c->out_at) {
    *pass = fds[0].fd;
    if (c->fd_out.len > 1)
      end_at = fds[1].at;
  } else if (c->fd_out.len > 0) {
    end_at = fds[0].at;
  }
  return end_at - c->out_at;
}

static void remove_first_fd(struct tm_channel *c)
{
  close(c->fd_out.at[0].fd);
  c->fd_out.len--;
  memmove(c->fd_out.at, c->fd_out.at + 1, c->fd_out.len * sizeof *c->fd_out.at);
}

/* The outbox after a write: empty, or with little in front that has been written. */
static void tidy_out(struct tm_channel *c)
{
  size_t left = c->out.len - c->out_at;
  if (left == 0 && c->out.cap > OUT_KEPT) {
    tm_buf_release(&c->out);
  } else if (left == 0) {
    tm_buf_clear(&c->out);
  } else if (c->out_at >= OUT_MOVED && c->out_at >= left) {
    for (size_t i = 0; i < c->fd_out.len; i++)
      c->fd_out.at[i].at -= c->out_at;
    tm_buf_remove_front(&c->out, c->out_at);
  } else {
    return;
  }
  c->out_at = 0;
}

static void want(struct tm_channel *c)
{
  tm_poll_want(&c->poll,
               (c->is_held ? 0 : TM_READABLE) | (tm_channel_pending(c) > 0 ? TM_WRITABLE : 0));
}

void tm_channel_flush(struct tm_channel *c)
{
  if (!c->is_open || c->is_ended)
    return;
  tm_late_remove(&c->late);
  while (c->out_at < c->out.len) {
    int pass;
    size_t n = next_write(c, &pass);
    ssize_t put = tm_wire_write(c->fd, c->is_socket, c->out.data + c->out_at, n, false, pass);
    if (put == -EAGAIN)
      break;
    if (put < 0) { /* keeps (5) */
      drop_out(c);
      shutdown(c->fd, SHUT_RDWR);
      break;
    }
    if (pass >= 0)
      remove_first_fd(c);
    c->out_at += (size_t)put;
  }
  tidy_out(c);
  want(c);
}

size_t tm_channel_pending(const struct tm_channel *c)
{
  return c->out.len - c->out_at;
}

void tm_channel_hold(struct tm_channel *c, bool is_held)
{
  if (!c->is_open || c->is_ended || c->is_held == is_held || !tm_check(is_held || !c->is_reading))
    return;
  c->is_held = is_held;
  want(c);
  if (is_held)
    return;
  c->is_reading = true;
  deliver(c); /* what had been read before */
  c->is_reading = false;
}

void tm_channel_drain(struct tm_channel *c)
{
  read_some(c, SIZE_MAX);
}

void tm_channel_close(struct tm_channel *c)
{
  if (!c->is_open)
    return;
  tm_channel_flush(c);
  c->is_open = false;
  drop_out(c);
  drop_fds_in(c);
  tm_poll_close(&c->poll);
  close(c->fd);
  c->fd = -1;
}

/* Best effort: beyond the machine's limit only the privileged may go. */
static void enlarge(int fd)
{
  int size = SOCKET_BUFFER;
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0)
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

int tm_channel_pair(int fds[2], struct tm_err *err)
{
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
    fds[0] = fds[1] = -1;
    return tm_err_system(err, -errno, "cannot make a pair of sockets");
  }
  int rc = tm_fd_lift_pair(fds);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot make a pair of sockets");
  enlarge(fds[0]);
  enlarge(fds[1]);
  return 0;
}
