/* stream_out.c - what a stream sends next.
 *
 *   add -> queue of the worker --credit--> fill -> outbox
 *   add -> control queue ----------------/
 *   lead ------------------------------------------/
 *
 *  (1) The outbox is filled only when it is empty, with about a piece, from the control queue
 *      first. So a control message waits behind at most one piece here, and a frame that leads,
 *      too.
 *  (2) A filling after which nothing more may be sent ends in a line break. No other one does.
 *  (3) `ready` holds the workers whose queues are not empty, except those that wait for a credit of
 *      their own. If the shared credit does not suffice for the first of them, all wait, so that it
 *      is not overtaken forever.
 *  (4) A message that was sent in part and is forgotten is followed by TM_STREAM_CUT, before any
 *      other message of its worker: control messages are first.
 *  (5) A worker stays until the release: its credit must not begin again. A job may have 100,000
 *      workers, so a worker has a queue only while something waits in it.
 */
#include "sys/messages/stream_out.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "sys/messages/stream_frames.h"

#define FILL (TM_STREAM_PIECE + 2 * TM_FRAME_EXTRA) /* bytes */

struct tm_stream_sender {
  struct tm_list_item in_ready;
  struct tm_stream_queue *queue; /* NULL: empty */
  struct tm_credit_out credit;
  uint64_t filled; /* the last filling that has a frame of it */
  uint32_t filled_bytes, number;
};

/* The place of the first worker with this number, or a higher one. */
static size_t place_of(const struct tm_stream_out *o, uint32_t worker)
{
  size_t low = 0, high = o->workers.len;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (o->workers.at[middle]->number < worker)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static struct tm_stream_sender *find(const struct tm_stream_out *o, uint32_t worker)
{
  size_t at = place_of(o, worker);
  return at < o->workers.len && o->workers.at[at]->number == worker ? o->workers.at[at] : NULL;
}

/* Keeps (5). New workers have the highest number, as a rule. */
static struct tm_stream_sender *get(struct tm_stream_out *o, uint32_t worker)
{
  struct tm_stream_sender *w = find(o, worker);
  if (w != NULL)
    return w;
  w = TM_NEW(struct tm_stream_sender);
  w->number = worker;
  tm_credit_out_init(&w->credit, o->limit);
  (void)TM_ARRAY_ADD(&o->workers);
  size_t to = o->workers.len - 1;
  for (; to > 0 && o->workers.at[to - 1]->number > worker; to--)
    o->workers.at[to] = o->workers.at[to - 1];
  return o->workers.at[to] = w;
}

static struct tm_credit_out *credit_of(struct tm_stream_out *o, struct tm_stream_sender *w)
{
  return o->is_by_worker ? &w->credit : &o->credit;
}

static size_t len_of(const struct tm_stream_sender *w)
{
  return w->queue != NULL ? tm_stream_queue_len(w->queue) : 0;
}

/* Something was added, sent or granted. */
static void settle(struct tm_stream_out *o, struct tm_stream_sender *w)
{
  tm_list_set(&o->ready, &w->in_ready, len_of(w) > 0);
  if (len_of(w) > 0)
    return;
  free(w->queue); /* an empty one has no memory of its own */
  w->queue = NULL;
}

/* Whether a piece of a message was sent whose rest is dropped now. */
static bool drop(struct tm_stream_out *o, struct tm_stream_sender *w)
{
  bool is_cut = w->queue != NULL && tm_stream_queue_drop(w->queue);
  settle(o, w);
  return is_cut;
}

void tm_stream_out_init(struct tm_stream_out *o, bool is_by_worker, size_t limit)
{
  *o = (struct tm_stream_out) { .is_by_worker = is_by_worker, .limit = limit };
  tm_credit_out_init(&o->credit, limit);
  tm_list_init(&o->ready);
}

void tm_stream_out_drop(struct tm_stream_out *o)
{
  for (size_t i = 0; i < o->workers.len; i++)
    drop(o, o->workers.at[i]);
  tm_stream_queue_drop(&o->control);
  o->waiting = 0;
}

void tm_stream_out_release(struct tm_stream_out *o)
{
  tm_stream_out_drop(o);
  TM_ARRAY_RELEASE_EACH(&o->workers);
}

void tm_stream_out_add(struct tm_stream_out *o, const struct tm_msg *f)
{
  o->waiting += TM_MSG_HEADER + (size_t)f->length;
  if ((f->type & ~TM_MSG_FD) >= TM_STREAM_CONTROL) {
    tm_stream_queue_add(&o->control, f);
    return;
  }
  struct tm_stream_sender *w = get(o, f->worker);
  if (w->queue == NULL)
    w->queue = TM_NEW(struct tm_stream_queue);
  tm_stream_queue_add(w->queue, f);
  settle(o, w);
}

void tm_stream_out_forget(struct tm_stream_out *o, uint32_t worker)
{
  struct tm_stream_sender *w = find(o, worker);
  if (w == NULL)
    return;
  o->waiting -= len_of(w);
  if (drop(o, w)) /* keeps (4) */
    tm_stream_out_add(o, &(struct tm_msg) { .type = TM_STREAM_CUT, .worker = worker });
}

bool tm_stream_out_granted(struct tm_stream_out *o, uint32_t worker, uint64_t bytes)
{
  struct tm_stream_sender *w = o->is_by_worker ? find(o, worker) : NULL;
  if (!o->is_by_worker)
    return tm_credit_granted(&o->credit, bytes);
  if (w == NULL || !tm_credit_granted(&w->credit, bytes))
    return false;
  settle(o, w);
  return true;
}

/* The worker whose frame is next, or NULL. Keeps (3). */
static struct tm_stream_sender *next(struct tm_stream_out *o)
{
  struct tm_list_item *item;
  while ((item = tm_list_first(&o->ready)) != NULL) {
    struct tm_stream_sender *w = TM_LIST_OWNER(item, struct tm_stream_sender, in_ready);
    if (tm_credit_can_send(credit_of(o, w), tm_stream_queue_cost(w->queue)))
      return w;
    if (!o->is_by_worker)
      return NULL;
    tm_list_remove(&o->ready, item);
  }
  return NULL;
}

bool tm_stream_out_can_fill(struct tm_stream_out *o)
{
  return tm_stream_queue_len(&o->control) > 0 || next(o) != NULL;
}

static void account(struct tm_stream_out *o, struct tm_stream_sender *w, size_t cost)
{
  tm_credit_send(credit_of(o, w), cost);
  w->filled_bytes = (uint32_t)cost + (w->filled == o->fills ? w->filled_bytes : 0);
  w->filled = o->fills;
  tm_list_remove(&o->ready, &w->in_ready); /* the others are next */
}

void tm_stream_out_lead(struct tm_stream_out *o, const struct tm_msg *f, struct tm_buf *out)
{
  tm_require(out->len == 0 && f->length + 2 * TM_FRAME_EXTRA <= FILL); /* keeps (1) */
  tm_frame_add(out, f);
  o->needs_break = true;
}

void tm_stream_out_fill(struct tm_stream_out *o, struct tm_buf *out)
{
  tm_require(out->len < FILL); /* keeps (1) */
  o->fills++;
  while (tm_stream_out_can_fill(o)) {
    struct tm_stream_sender *w = tm_stream_queue_len(&o->control) > 0 ? NULL : next(o);
    struct tm_stream_queue *q = w == NULL ? &o->control : w->queue;
    size_t cost = tm_stream_queue_cost(q);
    if (out->len > 0 && out->len + cost + TM_FRAME_EXTRA > FILL)
      return;
    tm_require(cost <= o->waiting);
    o->waiting -= cost;
    o->needs_break = true;
    if (w != NULL)
      account(o, w, cost);
    tm_stream_queue_send(q, out);
    if (w != NULL)
      settle(o, w);
  }
  if (o->needs_break) /* keeps (2) */
    tm_buf_add_char(out, '\n');
  o->needs_break = false;
}

size_t tm_stream_out_pending_of(const struct tm_stream_out *o, uint32_t worker, bool has_outbox)
{
  const struct tm_stream_sender *w = find(o, worker);
  if (w == NULL)
    return 0;
  return len_of(w) + (has_outbox && w->filled == o->fills ? w->filled_bytes : 0);
}
