/* channel.h - messages over a stream socket, or over pipes.
 *
 * msg.h has the format. node/node_msg.h and agent/agent_msg.h say what the types mean.
 * tm_channel_send_fd() sets TM_MSG_FD, delivery clears it; it is not part of any type.
 *
 * Sockets are read and written with recvmsg and sendmsg(MSG_NOSIGNAL), so that a peer that dies
 * never raises SIGPIPE. Other descriptors are read and written with read and write. A pipe has one
 * direction, so two pipes are two channels; the writer must block or ignore SIGPIPE.
 *
 * On a loop (tm_channel): open it, get a call per message, send. One read may bring many messages,
 * and one write may send many: messages sent during a turn of the loop are written when
 * tm_channel_flush() is called or the turn ends. link.h is for a worker, which has no loop.
 */
#ifndef TM_SYS_MESSAGES_CHANNEL_H
#define TM_SYS_MESSAGES_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "sys/loop.h"
#include "sys/messages/msg.h"

/* A descriptor that is sent with the byte at `at` in the outbox. */
struct tm_fd_at {
  size_t at;
  int fd;
};

struct tm_channel {
  struct tm_loop *loop;
  struct tm_poll poll;
  int fd;
  bool is_open, is_ended; /* ended: no further message arrives */
  bool is_held;
  struct tm_buf in, out;
  size_t in_at, out_at;    /* bytes of them that are used */
  int fd_in[8], fd_in_len; /* descriptors that have arrived, for the messages that announce them */
  struct TM_ARRAY(struct tm_fd_at) fd_out; /* duplicates, to be sent with the outbox */
  struct tm_late late;                     /* flushes at the turn's end */
  bool is_socket, is_reading;
  bool has_lost_fd; /* one arrived, but this process could not open it */
  void (*on_msg)(struct tm_channel *c, const struct tm_msg *f);
  /* Called once, after all messages. `code` is 0 at end of file, or the error. */
  void (*on_end)(struct tm_channel *c, int code);
  void (*on_closed)(struct tm_channel *c); /* or NULL */
  void *data;
};

/* Takes over the descriptor (also on failure), makes it non-blocking, and reads from the loop's
 * next turn on. on_end gets 0 also if the peer died with unread bytes or in the middle of a
 * message, which is then dropped; TM_EPROTOCOL if a message is too long or its descriptor has not
 * arrived; -EMFILE if the descriptor arrived but this process has too many open. on_msg may call
 * everything except tm_channel_drain() of the same channel. After tm_channel_close() no further
 * message is delivered. */
int tm_channel_open(struct tm_channel *c, struct tm_loop *loop, int fd,
                    void (*on_msg)(struct tm_channel *, const struct tm_msg *),
                    void (*on_end)(struct tm_channel *, int code), void *data, struct tm_err *err);
/* Copies the message and f->length bytes of f->payload into the outbox. Drops it if the channel has
 * ended or is not open. Ignores f->fd. */
void tm_channel_send(struct tm_channel *c, const struct tm_msg *f);
/* Like tm_channel_send(), with a descriptor. The message gets a duplicate; `fd` stays the caller's.
 * It is written at once if the socket accepts it, else in its order. Fails with a message if no
 * descriptor is left, the channel cannot pass one, or it has ended. */
int tm_channel_send_fd(struct tm_channel *c, const struct tm_msg *f, int fd, struct tm_err *err);
/* Writes what the peer accepts now; the rest is written when the peer reads. Senders that could
 * fill the outbox ask tm_channel_pending() first. */
void tm_channel_flush(struct tm_channel *c);
size_t tm_channel_pending(const struct tm_channel *c); /* bytes in the outbox */
/* While it is held, it delivers and reads nothing: the peer waits when the socket is full. Within
 * on_msg a channel can be held, not released. */
void tm_channel_hold(struct tm_channel *c, bool is_held);
/* Reads and delivers until EAGAIN or the end, unless it is held. For a peer that is known to have
 * ended. */
void tm_channel_drain(struct tm_channel *c);
/* Tries once to write the outbox, then closes the channel and its descriptor. A channel that is not
 * open: a no-op. on_closed may free the memory of the channel. */
void tm_channel_close(struct tm_channel *c);

/* A connected pair of stream sockets, close-on-exec. */
int tm_channel_pair(int fds[2], struct tm_err *err);

#endif
