/* stream_link.c - see stream_link.h.
 *
 *   tm_stream_links_take -> on_msg                      if nothing forbids it
 *                        -> waiting -> deliver -> on_msg   while held, not open, or behind others
 *
 *  (1) Messages are delivered in the order in which they came, and the end after them.
 *  (2) Nothing is delivered within on_msg or on_end of the same link.
 *  (3) If on_msg closes the link, the memory stays valid until on_closed, which comes in a later
 *      turn of the loop: when the handle of a timer is closed. The timer also delivers what came
 *      before the link was opened.
 *  (4) A link has a timer, and memory for what waits, only from when it needs them. A job may have
 *      100,000 links.
 */
#include "fleet/stream_link.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/ring.h"

struct waiting {
  uint64_t seq; /* of the ring */
  struct tm_msg f;
  struct tm_buf payload;
};

struct tm_stream_link {
  struct tm_worker_link link;
  struct tm_stream_links *links; /* NULL: they were left */
  struct tm_loop *loop;
  struct tm_timer *timer;  /* NULL: not needed yet */
  struct tm_ring *waiting; /* of struct waiting; likewise */
  uint32_t worker;
  int code; /* of the end */
  bool is_held, is_delivering;
  bool is_ended, has_told_end;
  bool is_closed; /* on_closed follows */
};

static bool has_waiting(const struct tm_stream_link *s)
{
  return s->waiting && s->waiting->len > 0;
}

static void consume(struct tm_stream_link *s, const struct tm_msg *f)
{
  if (s->links)
    tm_node_stream_consumed(s->links->stream, s->worker, TM_MSG_HEADER + f->length);
}

/* Counts it first: on_msg may close the link. */
static void hand_over(struct tm_stream_link *s, const struct tm_msg *f)
{
  consume(s, f);
  s->is_delivering = true;
  s->link.user->on_msg(s->link.data, f);
  s->is_delivering = false;
}

/* Keeps (2). */
static bool may_deliver(const struct tm_stream_link *s)
{
  return s->link.user && !s->is_closed && !s->is_held && !s->is_delivering;
}

static struct waiting take_first(struct tm_stream_link *s)
{
  struct waiting *first = tm_ring_first(s->waiting);
  struct waiting w = *first;

  w.f.payload = w.payload.data;
  first->payload = (struct tm_buf)TM_BUF_NONE;
  tm_ring_remove(s->waiting, first->seq);
  return w;
}

/* Keeps (1). */
static void deliver(struct tm_stream_link *s)
{
  while (may_deliver(s) && has_waiting(s)) {
    struct waiting w = take_first(s);
    hand_over(s, &w.f);
    tm_buf_release(&w.payload);
  }
  if (!may_deliver(s) || !s->is_ended || s->has_told_end)
    return;
  s->has_told_end = true;
  s->is_delivering = true;
  s->link.user->on_end(s->link.data, s->code);
  s->is_delivering = false;
}

static void keep(struct tm_stream_link *s, const struct tm_msg *f)
{
  struct waiting *w;

  if (!s->waiting) {
    s->waiting = TM_NEW(struct tm_ring);
    tm_ring_init(s->waiting, sizeof(struct waiting));
  }
  w = tm_ring_add(s->waiting);
  w->f = *f;
  w->f.fd = -1;
  w->payload = (struct tm_buf)TM_BUF_NONE;
  if (f->length > 0)
    tm_buf_add(&w->payload, f->payload, f->length);
}

static void end(struct tm_stream_link *s, int code)
{
  if (s->is_ended)
    return;
  s->is_ended = true;
  s->code = code;
}

/* ---- the carrier ---- */

static void on_time(struct tm_timer *t)
{
  deliver(t->data);
}

static void on_timer_closed(struct tm_timer *t)
{
  struct tm_stream_link *s = t->data;

  s->link.user->on_closed(s->link.data);
  free(t);
  free(s);
}

/* Keeps (4). */
static struct tm_timer *timer_of(struct tm_stream_link *s)
{
  if (!s->timer) {
    s->timer = TM_NEW(struct tm_timer);
    tm_timer_open(s->timer, s->loop, on_time, s);
    s->timer->on_closed = on_timer_closed; /* keeps (3) */
  }
  return s->timer;
}

static int open_link(struct tm_worker_link *l, struct tm_loop *loop, struct tm_err *err)
{
  struct tm_stream_link *s = (struct tm_stream_link *)l;

  s->loop = loop;
  if (has_waiting(s) || s->is_ended)
    tm_timer_start(timer_of(s), 0, 0);
  return 0;
}

static void send_link(struct tm_worker_link *l, const struct tm_msg *f)
{
  struct tm_stream_link *s = (struct tm_stream_link *)l;
  struct tm_msg copy = *f;

  if (!s->links || s->is_ended)
    return;
  copy.worker = s->worker;
  tm_node_stream_send(s->links->stream, &copy);
}

static void hold_link(struct tm_worker_link *l, bool is_held)
{
  struct tm_stream_link *s = (struct tm_stream_link *)l;

  if (s->is_held == is_held || !tm_check(is_held || !s->is_delivering))
    return;
  s->is_held = is_held;
  deliver(s);
}

static void drain_link(struct tm_worker_link *l)
{
  deliver((struct tm_stream_link *)l);
}

static void close_link(struct tm_worker_link *l)
{
  struct tm_stream_link *s = (struct tm_stream_link *)l;

  while (has_waiting(s)) {
    struct waiting w = take_first(s);
    consume(s, &w.f);
    tm_buf_release(&w.payload);
  }
  if (s->waiting)
    tm_ring_release(s->waiting, NULL);
  free(s->waiting);
  s->waiting = NULL;
  if (s->links) {
    s->links->places.at[s->worker].link = NULL;
    tm_node_stream_flush(s->links->stream);
    tm_node_stream_forget(s->links->stream, s->worker);
    s->links = NULL;
  }
  if (!l->user) {
    free(s);
    return;
  }
  s->is_closed = true;
  tm_timer_close(timer_of(s));
}

static const struct tm_worker_carrier carrier = {
  .open = open_link, .send = send_link, .hold = hold_link, .drain = drain_link, .close = close_link
};

/* ---- all links of a node ---- */

struct tm_worker_link *tm_stream_links_add(struct tm_stream_links *l, uint32_t worker)
{
  struct tm_stream_link *s = TM_NEW(struct tm_stream_link);

  while (l->places.len <= worker)
    *TM_ARRAY_ADD(&l->places) = (struct tm_stream_link_place) { 0 };
  tm_require(!l->places.at[worker].was_started);
  s->link.carrier = &carrier;
  s->links = l;
  s->worker = worker;
  l->places.at[worker] = (struct tm_stream_link_place) { .was_started = true, .link = s };
  return &s->link;
}

static bool was_started(const struct tm_stream_links *l, uint32_t worker)
{
  return worker < l->places.len && l->places.at[worker].was_started;
}

bool tm_stream_links_take(struct tm_stream_links *l, const struct tm_msg *f)
{
  struct tm_stream_link *s;

  if (!was_started(l, f->worker))
    return false;
  s = l->places.at[f->worker].link;
  if (!s || s->is_ended)
    tm_node_stream_consumed(l->stream, f->worker, TM_MSG_HEADER + f->length);
  else if (may_deliver(s) && !has_waiting(s))
    hand_over(s, f);
  else
    keep(s, f);
  return true;
}

bool tm_stream_links_end(struct tm_stream_links *l, uint32_t worker, int code)
{
  if (!was_started(l, worker))
    return false;
  if (l->places.at[worker].link) {
    end(l->places.at[worker].link, code);
    deliver(l->places.at[worker].link);
  }
  return true;
}

void tm_stream_links_leave(struct tm_stream_links *l)
{
  for (size_t i = 0; i < l->places.len; i++) {
    struct tm_stream_link *s = l->places.at[i].link;
    if (!s)
      continue;
    end(s, 0);
    s->links = NULL;
    if (s->link.user)
      tm_timer_start(timer_of(s), 0, 0);
  }
  TM_ARRAY_RELEASE(&l->places);
}
