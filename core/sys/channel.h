/* channel.h - frames over a stream socket, or over pipes.
 *
 * A frame is a header of 32 bytes, little-endian, and `length` bytes:
 *
 *   0 length u32   4 type u32   8 index u64   16 worker u32   20 try u32   24 part u64
 *
 * What the types mean: node/message.h and agent/message.h. The top bit of `type` (TM_FRAME_FD)
 * says on the wire that a descriptor comes with the frame, attached to the first byte of its
 * header; it is set by tm_channel_send_fd(), taken off before delivery, and no part of any type.
 *
 * Read and written with recvmsg and sendmsg(MSG_NOSIGNAL), so that a peer that dies never raises
 * SIGPIPE. A descriptor that is no socket is read and written with read and write; a pipe has one
 * direction, so two pipes are two channels, and who writes to one has SIGPIPE blocked or ignored.
 *
 * On a loop (tm_channel): open it, be called per frame, send. Many frames come of one read and go
 * in one write: what was sent during a turn of the loop is written when tm_channel_flush() is
 * called or the turn ends.
 * Without a loop (tm_link): the worker's side, blocking.
 */
#ifndef TM_SYS_CHANNEL_H
#define TM_SYS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "sys/loop.h"

#define TM_FRAME_HEADER 32
/* A longer payload is refused: sent, it is a fault that aborts; read, TM_EPROTOCOL. */
#define TM_FRAME_MAX (64u << 20)
#define TM_FRAME_FD  0x80000000u /* in `type`, on the wire only */

struct tm_frame {
  uint32_t type;
  uint64_t index;  /* of a mini-batch; else as the type says */
  uint32_t worker; /* number of a worker, unique in the job */
  uint32_t try;
  uint64_t part;       /* 0: the whole mini-batch; else (first << 32 | count) of its items */
  uint32_t length;     /* of the payload, bytes */
  const char *payload; /* the channel's, valid until the callback returns or the next read */
  int fd;              /* a descriptor that came with it, now the receiver's, or -1 */
};

/* Encodes the header into 32 bytes; decodes it (false: longer than TM_FRAME_MAX). The bits of
 * `type` stay as they are; payload and fd are not in a header: decoding sets them to NULL and -1.
 */
void tm_frame_encode(const struct tm_frame *f, char header[TM_FRAME_HEADER]);
bool tm_frame_decode(struct tm_frame *f, const char header[TM_FRAME_HEADER]);

/* A descriptor that goes with the byte `at` of the outbox. */
struct tm_fd_at {
  size_t at;
  int fd;
};

struct tm_channel {
  struct tm_loop *loop;
  struct tm_poll poll;
  int fd;
  bool is_open, is_ended; /* ended: no further frame will come */
  struct tm_buf in, out;
  size_t in_at, out_at;    /* what of them is used */
  int fd_in[8], fd_in_len; /* descriptors that came, for the frames that announce them */
  struct TM_ARRAY(struct tm_fd_at) fd_out; /* duplicates that go with the outbox */
  struct tm_late late;                     /* flushes at the turn's end */
  bool is_socket, is_reading;
  bool has_lost_fd; /* one came, and this process could not open it */
  void (*on_frame)(struct tm_channel *c, const struct tm_frame *f);
  /* Once: 0 end of file, or why; frames before it were delivered. */
  void (*on_end)(struct tm_channel *c, int code);
  void (*on_closed)(struct tm_channel *c); /* or NULL */
  void *data;
};

/* Takes the descriptor over (also when it fails), makes it non-blocking, and reads from the loop's
 * next turn on. The end is 0 also when the peer died with unread bytes, or in the middle of a
 * frame, which is then dropped; it is TM_EPROTOCOL when a frame is too long or its descriptor has
 * not come, -EMFILE when that came and this process has too many. From within on_frame everything may be called but tm_channel_drain() of the same
 * channel; after tm_channel_close() no further frame is delivered. */
int tm_channel_open(struct tm_channel *c, struct tm_loop *loop, int fd,
                    void (*on_frame)(struct tm_channel *, const struct tm_frame *),
                    void (*on_end)(struct tm_channel *, int code), void *data, struct tm_err *err);
/* Copies the frame into the outbox; f->length bytes of f->payload. After the end, and not open, it
 * is dropped. f->fd is not looked at. */
void tm_channel_send(struct tm_channel *c, const struct tm_frame *f);
/* The same with a descriptor, which is duplicated into the message and stays the caller's; written
 * at once when the socket takes it, else in its order. Fails with the words when there is no
 * descriptor left, or the channel cannot pass one, or has ended. */
int tm_channel_send_fd(struct tm_channel *c, const struct tm_frame *f, int fd, struct tm_err *err);
/* Writes what it can now; the rest goes when the peer reads. Senders who fill it ask
 * tm_channel_pending() first. */
void tm_channel_flush(struct tm_channel *c);
size_t tm_channel_pending(const struct tm_channel *c); /* bytes in the outbox */
/* Reads and delivers what lies there until EAGAIN or the end: for a peer that is known to have
 * ended. */
void tm_channel_drain(struct tm_channel *c);
/* Tries once to write what is in the outbox, then closes, the descriptor too; not open: a no-op.
 * Memory of the channel's may go in on_closed. */
void tm_channel_close(struct tm_channel *c);

/* A connected pair of stream sockets, close-on-exec. */
int tm_channel_pair(int fds[2], struct tm_err *err);

/* The blocking side. */
struct tm_link {
  int fd;
  struct tm_buf in, out;
  size_t in_at;
  bool is_socket;
};
void tm_link_init(struct tm_link *l, int fd); /* makes it close-on-exec */
void tm_link_release(struct tm_link *l);      /* does not close the descriptor */
/* 1: a frame; 0: end of file; negative: error. With `wait` false 0 also means that no whole frame
 * has come (ended tells; may be NULL when `wait`). A link takes no descriptors: a frame that
 * announces one is TM_EPROTOCOL. */
int tm_link_read(struct tm_link *l, struct tm_frame *f, bool wait, bool *ended, struct tm_err *err);
void tm_link_send(struct tm_link *l, const struct tm_frame *f); /* into the outbox */
int tm_link_flush(struct tm_link *l, struct tm_err *err);       /* writes all of it */

#endif
