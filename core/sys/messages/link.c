/* link.c - messages without a loop: a worker between two run()s.
 *
 * The worker asks for the next message and waits. Before it starts long work, it writes its outbox.
 * One recv brings as many messages as are available; whole ones are returned without another call.
 *
 *  (1) A payload stays in place until the next tm_link_read(): only that moves the inbox.
 *  (2) Flushing writes everything or fails. If the peer does not read, it waits.
 */
#include "sys/messages/link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sys/messages/msg_bytes.h"

#define OUT_KEPT (1u << 20) /* bytes; an outbox that grew beyond this is freed when it is empty */

void tm_link_init(struct tm_link *l, int fd)
{
  memset(l, 0, sizeof *l);
  l->fd = fd;
  l->is_socket = tm_wire_is_socket(fd);
  /* it was inherited by exec; processes that this one starts must not have it */
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void tm_link_release(struct tm_link *l)
{
  tm_buf_release(&l->in);
  tm_buf_release(&l->out);
  l->in_at = 0;
  l->fd = -1;
}

int tm_link_read(struct tm_link *l, struct tm_msg *f, bool wait, bool *ended, struct tm_err *err)
{
  if (ended != NULL)
    *ended = false;
  for (;;) {
    size_t room;
    int rc = tm_wire_next(&l->in, &l->in_at, f);
    if (rc < 0)
      return tm_err_set(err, rc, "a message of %lu bytes came, more than %u",
                        (unsigned long)f->length, TM_MSG_MAX);
    if (rc > 0 && (f->type & TM_MSG_FD))
      return tm_err_set(err, TM_EPROTOCOL,
                        "a message with a descriptor came, which a link takes none of");
    if (rc > 0)
      return 1;
    char *p = tm_wire_room(&l->in, &l->in_at, &room);
    ssize_t got = tm_wire_read(l->fd, l->is_socket, p, room, wait, NULL);
    if (got == -EAGAIN)
      return 0;
    if (got < 0)
      return tm_err_system(err, (int)got, "cannot read from the channel");
    if (got == 0) {
      if (ended != NULL)
        *ended = true;
      return 0;
    }
    l->in.len += (size_t)got;
  }
}

bool tm_link_peek(struct tm_link *l, struct tm_msg *f, struct tm_msg *next)
{
  for (;;) {
    size_t at = l->in_at, from = at - f->length, room;
    int rc = tm_wire_next(&l->in, &at, next);
    if (rc != 0)
      return rc > 0 && !(next->type & TM_MSG_FD);
    char *p = tm_wire_room(&l->in, &from, &room); /* moves what is behind `from` */
    l->in_at = from + f->length;
    f->payload = l->in.data + from;
    ssize_t got = tm_wire_read(l->fd, l->is_socket, p, room, false, NULL);
    if (got <= 0)
      return false;
    l->in.len += (size_t)got;
  }
}

void tm_link_send(struct tm_link *l, const struct tm_msg *f)
{
  tm_wire_add(&l->out, f, 0);
}

int tm_link_flush(struct tm_link *l, struct tm_err *err)
{
  for (size_t at = 0; at < l->out.len;) {
    ssize_t put = tm_wire_write(l->fd, l->is_socket, l->out.data + at, l->out.len - at, true, -1);
    if (put < 0) {
      tm_buf_clear(&l->out);
      return tm_err_system(err, (int)put, "cannot write to the channel");
    }
    at += (size_t)put;
  }
  if (l->out.cap > OUT_KEPT)
    tm_buf_release(&l->out);
  else
    tm_buf_clear(&l->out);
  return 0;
}
