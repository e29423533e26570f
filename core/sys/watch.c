/* watch.c - the things that can happen on a loop: timer, poll, wake, signal, turn.
 *
 * Each is a libuv handle with its callback turned into ours. All have the same life:
 *
 *   open (counted in loop->open) -> callbacks -> close -> [libuv's turn] -> on_closed: the caller
 *                                                                        may free the memory
 *
 *  (1) After _close() the only callback is on_closed; closing twice is a no-op.
 *  (2) A failed open leaves nothing to close.
 *  (3) A timer is never early: libuv counts whole milliseconds of a clock read at the start of the
 *      turn, so the moment is computed here from the current clock, and rounded up to libuv's next
 *      tick.
 */
#include "sys/loop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"

/* For each kind: tm_<noun>_close(x), and libuv's callback for it. x: as in the header. */
#define DEFINE_CLOSE(noun, x)                                                                      \
  static void on_##noun##_closed(uv_handle_t *handle)                                              \
  {                                                                                                \
    struct tm_##noun *x = handle->data;                                                            \
    struct tm_loop *loop = x->loop;                                                                \
    if (x->on_closed != NULL)                                                                      \
      x->on_closed(x);                                                                             \
    tm_loop_closed_one(loop);                                                                      \
  }                                                                                                \
  void tm_##noun##_close(struct tm_##noun *x)                                                      \
  {                                                                                                \
    if (!x->is_open)                                                                               \
      return;                                                                                      \
    x->is_open = false; /* keeps (1) */                                                            \
    uv_close((uv_handle_t *)&x->uv, on_##noun##_closed);                                           \
  }

DEFINE_CLOSE(timer, t)
DEFINE_CLOSE(poll, p)
DEFINE_CLOSE(wake, w)
DEFINE_CLOSE(signal, s)
DEFINE_CLOSE(turn, t)

static void on_uv_timer(uv_timer_t *uv)
{
  struct tm_timer *t = uv->data;
  tm_require(t->is_open); /* keeps (1) */
  t->on_time(t);
}

void tm_timer_open(struct tm_timer *t, struct tm_loop *loop, void (*on_time)(struct tm_timer *),
                   void *data)
{
  memset(t, 0, sizeof *t);
  uv_timer_init(loop->uv, &t->uv);
  t->uv.data = t;
  t->loop = loop;
  t->on_time = on_time;
  t->data = data;
  t->is_open = true;
  loop->open++;
}

void tm_timer_start(struct tm_timer *t, int64_t after_ns, int64_t repeat_ns)
{
  uint64_t after_ms = 0, repeat_ms = 0;
  if (!tm_check(t->is_open))
    return;
  if (after_ns > 0) { /* keeps (3) */
    uv_update_time(t->uv.loop);
    uint64_t due_ms = (uv_hrtime() + (uint64_t)after_ns + TM_MS - 1) / TM_MS;
    after_ms = due_ms - uv_now(t->uv.loop);
  }
  if (repeat_ns > 0)
    repeat_ms = ((uint64_t)repeat_ns + TM_MS - 1) / TM_MS;
  uv_timer_start(&t->uv, on_uv_timer, after_ms, repeat_ms);
}

void tm_timer_stop(struct tm_timer *t)
{
  if (t->is_open)
    uv_timer_stop(&t->uv);
}

static void on_uv_poll(uv_poll_t *uv, int status, int events)
{
  struct tm_poll *p = uv->data;
  int ready = 0;
  p->loop->has_happened = true;
  if (status < 0) { /* libuv has stopped polling; the owner reads, and gets the error */
    int wanted = p->wanted;
    p->wanted = 0;
    tm_poll_want(p, wanted);
    ready = TM_READABLE;
  }
  if (events & UV_READABLE)
    ready |= TM_READABLE;
  if (events & UV_WRITABLE)
    ready |= TM_WRITABLE;
  p->on_ready(p, ready);
}

int tm_poll_open(struct tm_poll *p, struct tm_loop *loop, int fd,
                 void (*on_ready)(struct tm_poll *, int), void *data, struct tm_err *err)
{
  tm_require(fd >= 0 && on_ready);
  memset(p, 0, sizeof *p);
  int rc = uv_poll_init(loop->uv, &p->uv, fd);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot watch descriptor %d", fd);
  p->uv.data = p;
  p->loop = loop;
  p->on_ready = on_ready;
  p->data = data;
  p->is_open = true;
  loop->open++;
  return 0;
}

void tm_poll_want(struct tm_poll *p, int events)
{
  if (!p->is_open || events == p->wanted)
    return;
  p->wanted = events;
  int uv = (events & TM_READABLE ? UV_READABLE : 0) | (events & TM_WRITABLE ? UV_WRITABLE : 0);
  if (uv == 0)
    uv_poll_stop(&p->uv);
  else
    tm_check(uv_poll_start(&p->uv, uv, on_uv_poll) == 0);
}

static void on_uv_wake(uv_async_t *uv)
{
  struct tm_wake *w = uv->data;
  w->loop->has_happened = true;
  w->on_wake(w);
}

void tm_wake_open(struct tm_wake *w, struct tm_loop *loop, void (*on_wake)(struct tm_wake *),
                  void *data)
{
  memset(w, 0, sizeof *w);
  tm_require(uv_async_init(loop->uv, &w->uv, on_uv_wake) == 0);
  w->uv.data = w;
  w->loop = loop;
  w->on_wake = on_wake;
  w->data = data;
  w->is_open = true;
  loop->open++;
}

void tm_wake_send(struct tm_wake *w)
{
  uv_async_send(&w->uv);
}

static void on_uv_signal(uv_signal_t *uv, int number)
{
  struct tm_signal *s = uv->data;
  tm_require(s->is_open);
  s->loop->has_happened = true;
  s->on_signal(s, number);
}

int tm_signal_open(struct tm_signal *s, struct tm_loop *loop, int number,
                   void (*on_signal)(struct tm_signal *, int), void *data, struct tm_err *err)
{
  struct sigaction now;
  memset(s, 0, sizeof *s);
  int rc =
      sigaction(number, NULL, &now) < 0 || number == SIGKILL || number == SIGSTOP ? -EINVAL : 0;
  if (rc == 0) /* whatever can fail comes before there is a handle: keeps (2) */
    rc = uv_signal_init(loop->uv, &s->uv);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot watch signal %d", number);
  s->uv.data = s;
  s->loop = loop;
  s->on_signal = on_signal;
  s->data = data;
  s->is_open = true;
  loop->open++;
  tm_require(uv_signal_start(&s->uv, on_uv_signal, number) == 0);
  return 0;
}

static void on_uv_turn(uv_prepare_t *uv)
{
  struct tm_turn *t = uv->data;
  t->on_turn(t);
}

void tm_turn_open(struct tm_turn *t, struct tm_loop *loop, void (*on_turn)(struct tm_turn *),
                  void *data)
{
  memset(t, 0, sizeof *t);
  uv_prepare_init(loop->uv, &t->uv);
  t->uv.data = t;
  t->loop = loop;
  t->on_turn = on_turn;
  t->data = data;
  t->is_open = true;
  loop->open++;
  uv_prepare_start(&t->uv, on_uv_turn);
}
