/* node_stream.h - messages between a supervisor and a relay, over bytes that another program
 * carries: the stdin and stdout of srun, ssh, or any command that a user names.
 *
 * Such a program may print text before the first message; it delays small writes and cuts large
 * ones, and holds megabytes that neither side sees. So:
 *
 *  - Each side first sends a preface, a line of text: "tidemill-stream 1 NONCE ECHO HELLO\n". NONCE
 *    and ECHO have 16 hexadecimal digits: a number of the sender's, and that of the other side (0:
 *    not known yet). The supervisor sends its preface at once; the relay answers with its own. A
 *    supervisor skips up to 64 KiB of other text before the preface that has its number as ECHO.
 *  - A message is sent as one frame, or in several if its payload is longer than 16 KiB: the header
 *    of msg.h (32 bytes; TM_STREAM_MORE in `type`: more of this message follows), the piece of the
 *    payload, and 4 bytes of a hash of both. A frame with another hash ends the stream: text that a
 *    program printed into the middle never becomes a row.
 *  - srun sends a message of its own for each line break. So bytes 10 and 0xF5 are swapped within
 *    frames, and one line break follows each flush; between frames it is skipped. No frame begins
 *    with one: a piece is sent one byte shorter if its length would end in the byte 0xF5.
 *  - A reader that is left with a part of a frame when there is nothing more to read sends an empty
 *    frame at once (a nudge), unless its outbox holds bytes: the acknowledgement of the peer's TCP
 *    travels with it, instead of 40 ms later.
 *  - A supervisor sends one, too, at the end of each turn in which bytes came and none went out.
 *    Else a result would wait in TCP until the acknowledgement of the bytes before it comes, 40 ms
 *    later. A relay does not answer: its next result brings the acknowledgement.
 *  - Credit: a sender has 256 KiB for each worker (supervisor) or 1 MiB for all workers together
 *    (relay) of messages that the other side has not consumed. What exceeds it waits in the stream,
 *    in the order of its worker; messages of other workers and control messages pass it. Control
 *    messages (type 65 and above) need no credit and are sent before all others. Pieces of a long
 *    message bring credit before all of it has come; a side that sends without is refused.
 *  - Heartbeats (heartbeat.h), from the preface on, if the supervisor has a timeout. One that is
 *    due goes out before all that waits in the stream, behind what the outbox holds already: about
 *    a piece. The relay learns the timeout from them. Both sides learn the round trip, and how far
 *    the other's wall clock is ahead.
 *
 * Everything is called on the loop's thread. Caller: open; send; on_msg, ...; close, whether or not
 * on_end came.
 */
#ifndef TM_SYS_MESSAGES_NODE_STREAM_H
#define TM_SYS_MESSAGES_NODE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/loop.h"
#include "sys/messages/msg.h"
#include "sys/messages/stream_frames.h"

#define TM_STREAM_WORKER_CREDIT ((size_t)256 << 10)
#define TM_STREAM_NODE_CREDIT   ((size_t)1 << 20)

struct tm_node_stream;

struct tm_node_stream_options {
  struct tm_loop *loop;
  int in, out;        /* taken over; may be one descriptor (a socket). If `out` is a pipe, the
                       * process must ignore SIGPIPE */
  bool is_supervisor; /* else the relay */
  int64_t timeout_ns; /* the supervisor's, for heartbeats; 0: it sends none. 0 for a relay. Within
                       * TM_HEARTBEAT_TIMEOUT_MIN_NS and _MAX_NS */
  const char *hello;  /* of both sides; must be equal. Without a line break. Copied */
  /* Once, before any message: the other side's preface has come. `skipped`: the first 200 bytes, at
   * most, of the text before it, and a NUL; `len`: of all of it. */
  void (*on_open)(void *data, const char *skipped, size_t len);
  /* A whole message. f->fd is -1. The payload is valid during the call. */
  void (*on_msg)(void *data, const struct tm_msg *f);
  /* Once, after all messages. `code`: 0 at the end of the bytes, between two frames; TM_EUSAGE if
   * the other side is another build; TM_EPROTOCOL if the bytes cannot be read: `text` says why, and
   * quotes what came instead of a preface; or the error of the read. */
  void (*on_end)(void *data, int code, const char *text);
  void (*on_closed)(void *data); /* the last call; the memory of `data` may be freed */
  void *data;
};

/* NULL with a message; the descriptors are closed then. */
struct tm_node_stream *tm_node_stream_open(const struct tm_node_stream_options *o,
                                           struct tm_err *err);
/* Copies the message; it is written at the end of the loop's turn at the latest, if there is credit
 * for it. Messages before on_open wait for it. Dropped after the end. f->fd is ignored. */
void tm_node_stream_send(struct tm_node_stream *s, const struct tm_msg *f);
/* The caller has consumed `bytes` (header and payload) of the messages of a worker: the other side
 * may send as many more. Not for control messages, and not for more than came. */
void tm_node_stream_consumed(struct tm_node_stream *s, uint32_t worker, size_t bytes);
/* Forgets what waits for the credit of this worker: it has ended. */
void tm_node_stream_forget(struct tm_node_stream *s, uint32_t worker);
/* Bytes that wait, for credit or to be written: of this worker; and of all. */
size_t tm_node_stream_pending_of(const struct tm_node_stream *s, uint32_t worker);
size_t tm_node_stream_pending(const struct tm_node_stream *s);
void tm_node_stream_flush(struct tm_node_stream *s);
/* Nothing more is sent, and what waits is dropped. If `out` is a socket, the other side sees the
 * end of our bytes. What it sends still comes. Again, and after the end: a no-op. */
void tm_node_stream_end_out(struct tm_node_stream *s);
/* What came instead of a preface so far, also after on_end: `*len` bytes, valid until the loop
 * turns; NULL: nothing, or a preface has come. */
const char *tm_node_stream_foreign(const struct tm_node_stream *s, size_t *len);
/* The timeout of the heartbeats: the supervisor's own, or what the relay has learnt; 0: none. */
int64_t tm_node_stream_timeout_ns(const struct tm_node_stream *s);
/* When bytes last came, or it was opened, by tm_clock_boot_ns(). */
int64_t tm_node_stream_heard_ns(const struct tm_node_stream *s);
/* The shortest of the last heartbeats; 0: not known yet. */
int64_t tm_node_stream_round_trip_ns(const struct tm_node_stream *s);
/* The other side's wall clock minus ours; 0 while the round trip is not known. */
int64_t tm_node_stream_clock_offset_ns(const struct tm_node_stream *s);
/* Tries once to write what waits, then closes both descriptors. NULL is a no-op. */
void tm_node_stream_close(struct tm_node_stream *s);

#endif
