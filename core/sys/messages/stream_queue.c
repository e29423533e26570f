/* stream_queue.c - see the header. Bytes are moved to the front only when as many were sent. An
 * empty queue has no memory: each worker of a job has a queue, and the first message to each worker
 * is a long one. */
#include "sys/messages/stream_queue.h"

#include "base/check.h"
#include "sys/messages/msg_bytes.h"
#include "sys/messages/stream_frames.h"

#define MOVED (256u << 10) /* bytes, sent before the rest is moved to the front */

/* The first message, whole. */
static void look(const struct tm_stream_queue *q, struct tm_msg *f)
{
  size_t at = q->at;
  tm_require(tm_wire_next(&q->bytes, &at, f) == 1);
  tm_require(q->sent == 0 || q->sent < f->length);
}

void tm_stream_queue_add(struct tm_stream_queue *q, const struct tm_msg *f)
{
  tm_wire_add(&q->bytes, f, 0);
}

size_t tm_stream_queue_len(const struct tm_stream_queue *q)
{
  return q->bytes.len - q->at - (q->sent > 0 ? TM_MSG_HEADER + q->sent : 0);
}

size_t tm_stream_queue_cost(const struct tm_stream_queue *q)
{
  struct tm_msg f;
  look(q, &f);
  return tm_frame_piece(f.length - q->sent) + (q->sent > 0 ? 0 : TM_MSG_HEADER);
}

static void tidy(struct tm_stream_queue *q)
{
  size_t left = q->bytes.len - q->at;
  if (left == 0) {
    tm_buf_release(&q->bytes);
  } else if (q->at >= MOVED && q->at >= left) {
    tm_buf_remove_front(&q->bytes, q->at);
  } else {
    return;
  }
  q->at = 0;
}

void tm_stream_queue_send(struct tm_stream_queue *q, struct tm_buf *out)
{
  struct tm_msg f;
  look(q, &f);
  size_t whole = f.length, piece = tm_frame_piece(whole - q->sent);
  bool has_more = q->sent + piece < whole;
  f.payload += q->sent;
  f.length = (uint32_t)piece;
  f.type |= has_more ? TM_STREAM_MORE : 0;
  tm_frame_add(out, &f);
  q->sent += piece;
  if (has_more)
    return;
  q->at += TM_MSG_HEADER + whole;
  q->sent = 0;
  tidy(q);
}

bool tm_stream_queue_drop(struct tm_stream_queue *q)
{
  bool was_begun = q->sent > 0;
  tm_buf_release(&q->bytes);
  q->at = q->sent = 0;
  return was_begun;
}
