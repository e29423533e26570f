/* stream_queue.h - messages that wait to be sent in frames (node_stream.h), in their order.
 *
 * Zeroed: empty. A message costs its header and its payload, in however many frames it is sent.
 */
#ifndef TM_SYS_MESSAGES_STREAM_QUEUE_H
#define TM_SYS_MESSAGES_STREAM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "sys/messages/msg.h"

struct tm_stream_queue {
  struct tm_buf bytes; /* messages, as msg.h encodes them */
  size_t at;           /* where the first one begins that is not sent */
  size_t sent;         /* bytes of its payload that are */
};

void tm_stream_queue_add(struct tm_stream_queue *q, const struct tm_msg *f); /* copies it */
size_t tm_stream_queue_len(const struct tm_stream_queue *q); /* bytes that wait; 0: empty */
/* What the next frame costs; it takes up to TM_FRAME_EXTRA bytes more. Not empty. */
size_t tm_stream_queue_cost(const struct tm_stream_queue *q);
/* Adds the next frame to `out`. Not empty. */
void tm_stream_queue_send(struct tm_stream_queue *q, struct tm_buf *out);
/* Drops all messages and frees the memory. True: a piece of the first one was sent. */
bool tm_stream_queue_drop(struct tm_stream_queue *q);

#endif
