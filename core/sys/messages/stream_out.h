/* stream_out.h - what a stream sends next (node_stream.h): messages by worker, credit, order. It
 * touches no descriptor.
 *
 * Control messages are first and need no credit. Workers send one frame in turn. A heartbeat passes
 * all of them: the caller adds it when the outbox is empty.
 */
#ifndef TM_SYS_MESSAGES_STREAM_OUT_H
#define TM_SYS_MESSAGES_STREAM_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/mem.h"
#include "sys/messages/stream_credit.h"
#include "sys/messages/stream_queue.h"

struct tm_stream_sender;

struct tm_stream_out {
  bool is_by_worker; /* each worker has a credit of its own; else all share `credit` */
  size_t limit;      /* of a credit, bytes */
  struct tm_credit_out credit;
  struct tm_stream_queue control;
  struct TM_ARRAY(struct tm_stream_sender *) workers; /* sorted by number */
  struct tm_list ready; /* workers that may send, as far as their own credit goes */
  size_t waiting;       /* bytes in all queues */
  uint64_t fills;       /* calls of tm_stream_out_fill() */
  bool needs_break;     /* what was filled in last does not end in a line break */
};

void tm_stream_out_init(struct tm_stream_out *o, bool is_by_worker, size_t limit);
void tm_stream_out_release(struct tm_stream_out *o);
void tm_stream_out_drop(struct tm_stream_out *o); /* all that waits */
/* Copies the message; one of the stream itself, too. */
void tm_stream_out_add(struct tm_stream_out *o, const struct tm_msg *f);
/* Drops what waits for the worker. If a piece of a message was sent, TM_STREAM_CUT follows. */
void tm_stream_out_forget(struct tm_stream_out *o, uint32_t worker);
/* False: the other side grants more than was sent. */
bool tm_stream_out_granted(struct tm_stream_out *o, uint32_t worker, uint64_t bytes);
/* Whether there is a message that may be sent now. */
bool tm_stream_out_can_fill(struct tm_stream_out *o);
/* Adds a frame without credit to the empty outbox, before what waits. A fill follows. */
void tm_stream_out_lead(struct tm_stream_out *o, const struct tm_msg *f, struct tm_buf *out);
/* Fills the outbox, which is empty or holds a frame that leads, with about a piece; with a line
 * break at its end if nothing more may be sent. It stays empty if there is nothing to send. */
void tm_stream_out_fill(struct tm_stream_out *o, struct tm_buf *out);
/* Bytes of the worker that wait; with `has_outbox`, also those that were filled in last. */
size_t tm_stream_out_pending_of(const struct tm_stream_out *o, uint32_t worker, bool has_outbox);

#endif
