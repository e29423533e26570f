/* worker_link.c - see worker_link.h; and the carrier for workers of this machine, their socket. */
#include "fleet/worker_link.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "sys/messages/channel.h"
#include "sys/fs.h"

int tm_worker_link_open(struct tm_worker_link *l, struct tm_loop *loop,
                        const struct tm_worker_link_user *user, void *data, struct tm_err *err)
{
  int rc;

  tm_require(!l->user && user->on_msg && user->on_end && user->on_closed);
  rc = l->carrier->open(l, loop, err);
  if (rc < 0) {
    l->carrier->close(l);
    return rc;
  }
  l->user = user;
  l->data = data;
  return 0;
}

void tm_worker_link_send(struct tm_worker_link *l, const struct tm_msg *f)
{
  if (l)
    l->carrier->send(l, f);
}

void tm_worker_link_hold(struct tm_worker_link *l, bool is_held)
{
  if (l)
    l->carrier->hold(l, is_held);
}

void tm_worker_link_drain(struct tm_worker_link *l)
{
  if (l)
    l->carrier->drain(l);
}

void tm_worker_link_close(struct tm_worker_link *l)
{
  if (l)
    l->carrier->close(l);
}

/* ---- the socket ---- */

struct socket_link {
  struct tm_worker_link link;
  int fd; /* until it is the channel's; then -1 */
  struct tm_channel channel;
};

static void on_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct socket_link *s = c->data;

  tm_fs_close(tm_fs_real(), f->fd); /* workers send no descriptors */
  s->link.user->on_msg(s->link.data, f);
}

static void on_end(struct tm_channel *c, int code)
{
  struct socket_link *s = c->data;

  s->link.user->on_end(s->link.data, code);
}

static void on_closed(struct tm_channel *c)
{
  struct socket_link *s = c->data;

  s->link.user->on_closed(s->link.data);
  free(s);
}

static int open_socket(struct tm_worker_link *l, struct tm_loop *loop, struct tm_err *err)
{
  struct socket_link *s = (struct socket_link *)l;
  int rc = tm_channel_open(&s->channel, loop, s->fd, on_msg, on_end, s, err);

  s->fd = -1;
  if (rc == 0)
    s->channel.on_closed = on_closed;
  return rc;
}

static void send_socket(struct tm_worker_link *l, const struct tm_msg *f)
{
  tm_channel_send(&((struct socket_link *)l)->channel, f);
}

static void hold_socket(struct tm_worker_link *l, bool is_held)
{
  tm_channel_hold(&((struct socket_link *)l)->channel, is_held);
}

static void drain_socket(struct tm_worker_link *l)
{
  tm_channel_drain(&((struct socket_link *)l)->channel);
}

static void close_socket(struct tm_worker_link *l)
{
  struct socket_link *s = (struct socket_link *)l;

  if (l->user) {
    tm_channel_close(&s->channel);
    return;
  }
  tm_fs_close(tm_fs_real(), s->fd);
  free(s);
}

static const struct tm_worker_carrier socket_carrier = { .open = open_socket,
                                                         .send = send_socket,
                                                         .hold = hold_socket,
                                                         .drain = drain_socket,
                                                         .close = close_socket };

struct tm_worker_link *tm_worker_link_of_socket(int fd)
{
  struct socket_link *s = TM_NEW(struct socket_link);

  tm_require(fd >= 0);
  s->link.carrier = &socket_carrier;
  s->fd = fd;
  return &s->link;
}
