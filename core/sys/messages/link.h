/* link.h - messages over a descriptor without a loop: the worker's side, blocking.
 *
 * channel.h is the other side; msg.h has the format.
 */
#ifndef TM_SYS_MESSAGES_LINK_H
#define TM_SYS_MESSAGES_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/messages/msg.h"

struct tm_link {
  int fd;
  struct tm_buf in, out;
  size_t in_at;
  bool is_socket;
};
void tm_link_init(struct tm_link *l, int fd); /* makes it close-on-exec */
void tm_link_release(struct tm_link *l);      /* does not close the descriptor */
/* 1: a message; 0: end of file; negative: an error. With `wait` false, 0 also means that no whole
 * message has arrived; *ended tells the two apart (it may be NULL if `wait`). A link takes no
 * descriptors: a message that announces one is TM_EPROTOCOL. */
int tm_link_read(struct tm_link *l, struct tm_msg *f, bool wait, bool *ended, struct tm_err *err);
/* The message behind `f`, the last one that was read, if it has arrived; never waits. It is read
 * again by the next tm_link_read(), which also reports what is wrong with it. May move the payload
 * of `f`, and keeps it in place afterwards, like that of `next`. */
bool tm_link_peek(struct tm_link *l, struct tm_msg *f, struct tm_msg *next);
void tm_link_send(struct tm_link *l, const struct tm_msg *f); /* into the outbox */
int tm_link_flush(struct tm_link *l, struct tm_err *err);     /* writes all of it */

#endif
