/* stream_frames.h - the bytes of a stream to a node (node_stream.h): its preface, messages as
 * frames, frames as messages. It touches no descriptor. Bytes that are read may be hostile.
 *
 * A frame is the header of msg.h, a piece of the payload, and 4 bytes of a hash of both. In header
 * and piece, bytes 10 and 0xF5 are swapped; the hash is of the swapped bytes, and none of its own
 * is a 10. So a frame has a byte 10 only where a message has a 0xF5. A byte 10 before a frame
 * separates: it cannot begin one, because the length of no piece ends in the byte 0xF5.
 */
#ifndef TM_SYS_MESSAGES_STREAM_FRAMES_H
#define TM_SYS_MESSAGES_STREAM_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/messages/msg.h"

#define TM_STREAM_PIECE    ((size_t)16 << 10)  /* of a payload, in one frame */
#define TM_STREAM_MORE     0x40000000u         /* in `type`: more of the message follows */
#define TM_STREAM_SKIP_MAX ((size_t)64 << 10)  /* bytes before the preface */
#define TM_FRAME_EXTRA     (TM_MSG_HEADER + 4) /* bytes of a frame besides the piece */

#define TM_STREAM_CONTROL 65u /* types from here on are of control messages */

/* Types of the stream's own frames, which are not delivered and have no payload, except those of
 * heartbeats. Those of messages are below. */
enum tm_stream_msg {
  TM_STREAM_NUDGE = 1000,
  TM_STREAM_CREDIT, /* index: bytes that were consumed; worker: whose, towards the supervisor */
  TM_STREAM_CUT,    /* worker: the rest of its message, of which pieces were sent, was forgotten */
  TM_STREAM_HEARTBEAT, /* payload: the bytes of heartbeat.h */
};

#define TM_PREFACE_VERSION   1
#define TM_PREFACE_HELLO_MAX 256 /* bytes */

struct tm_preface {
  uint32_t version;
  uint64_t nonce, echo; /* the number of the sender; that of the other side, 0: not known yet */
  const char *hello;    /* without a line break */
  size_t hello_len;
};

/* Adds the line. The nonce is not 0. */
void tm_preface_add(struct tm_buf *out, const struct tm_preface *p);
/* Finds the first preface with this `echo` in n bytes. 1: it is the `*len` bytes at *at, and
 * p->hello points into them. 0: it may follow; *at: it does not begin before, so that the next call
 * may begin there. TM_EPROTOCOL: it does not begin within TM_STREAM_SKIP_MAX bytes. A preface of
 * another version is found as well. */
int tm_preface_find(const char *bytes, size_t n, uint64_t echo, size_t *at, size_t *len,
                    struct tm_preface *p);

/* How much of a payload the next frame takes, if `rest` bytes of it remain. */
size_t tm_frame_piece(size_t rest);
/* Adds a frame of the header as it is, with TM_STREAM_MORE or not, and f->length bytes. */
void tm_frame_add(struct tm_buf *out, const struct tm_msg *f);
/* Decodes the next whole frame of an inbox (msg_bytes.h), in its place: 1, and the payload points
 * into the inbox; 0: it is incomplete, and in->data + *at is its first byte; TM_EPROTOCOL with a
 * message. Skips line breaks before it. Advances *at. */
int tm_frame_next(struct tm_buf *in, size_t *at, struct tm_msg *f, struct tm_err *err);

/* A message that arrives in pieces. Zeroed: none has begun. It grows with the bytes received. */
struct tm_join {
  bool has_begun;
  struct tm_msg head;
  struct tm_buf bytes;
};
/* 1: *whole is a message: of this frame alone, or of all pieces, valid until the next call. 0: more
 * follows. TM_EPROTOCOL with a message: the frame does not belong to those before it. */
int tm_join_add(struct tm_join *j, const struct tm_msg *frame, struct tm_msg *whole,
                struct tm_err *err);
/* Drops the pieces and frees the memory. */
void tm_join_drop(struct tm_join *j);

#endif
