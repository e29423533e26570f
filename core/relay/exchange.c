/* exchange.c - see exchange.h.
 *
 *  (1) What a worker sent comes before CLOSED and ENDED. Control messages pass a worker's messages
 *      that wait in the stream, so these two are kept here until none waits.
 *  (2) A worker's socket is read to its end, or until it is empty, before ENDED is passed on. Then
 *      it is closed: a process that the worker left behind may have it open, too.
 *  (3) A worker cannot send control messages: nothing that an entry script writes to its socket can
 *      speak for the keeper.
 *  (4) What may be needed after events is decided in one place, at the end of the loop's turn. If
 *      it has to wait, the stream holds bytes that it could not write, so that an event follows.
 *  (5) At the end, a supervisor that takes nothing delays nobody for longer than the caller allows.
 *  (6) Launches are for the keeper of the supervisor's machine: none is passed on, either way. The
 *      probe and sources are for the relay, which alone reports about the machine.
 *  (7) The supervisor counts as silent if two looks in a row say so: what came while this process
 *      was stopped is read between them. Sleep of this machine counts, because the supervisor's
 *      clock passes meanwhile.
 *  (8) The socket of a worker that sent what cannot be read stays open until ENDED. The supervisor
 *      has the worker killed; a worker whose socket closes would end by itself first, and its end
 *      would have another cause.
 *  (9) The supervisor learns that the keeper is silent, so that it can tell a stopped keeper from a
 *      network that is down. Silence for the supervisor's timeout ends the node.
 */
#include "relay/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/time.h"
#include "node/node_msg.h"
#include "node/node_report.h"
#include "relay/keeper_silence.h"
#include "sys/messages/channel.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/messages/node_stream.h"

#define KEEPER_LOOK_NS (200 * TM_MS)

struct worker {
  struct tm_exchange *x;
  uint32_t number;
  struct tm_channel channel;
  bool is_open;         /* the channel: its on_closed comes */
  bool is_closed;       /* nothing more comes from the worker */
  bool has_told_closed; /* CLOSED was sent */
  bool has_ended;       /* the keeper says so: `ended` */
  bool is_removed;
  int code;            /* why is_closed */
  size_t taken;        /* bytes for the worker that its socket has not taken, or not yet credited */
  struct tm_msg ended; /* the keeper's message */
  struct tm_buf detail; /* its payload */
};

struct tm_exchange {
  struct tm_exchange_options o;
  struct tm_node_stream *stream;
  struct tm_channel control;
  struct tm_turn turn;
  struct TM_ARRAY(struct worker *) workers;
  size_t first;                             /* the worker that is released first, for fairness */
  bool is_held;                             /* no socket is read */
  bool has_hello;                           /* of the keeper */
  bool is_over, is_stream_over, is_doubted; /* the supervisor: by one look */
  void (*on_finished)(void *data);          /* NULL: not asked for, or called */
  bool is_finishing;
  struct tm_timer limit;
  struct tm_timer watch; /* looks whether the supervisor is silent */
  int64_t watched_ns;    /* the timeout by which it looks */
  struct tm_keeper_silence keeper_silence;
  struct tm_timer keeper_look;
  int parts; /* of this memory's users */
};

static void drop(struct tm_exchange *x)
{
  tm_require(x->parts > 0);
  if (--x->parts > 0)
    return;
  TM_ARRAY_RELEASE(&x->workers);
  free(x);
}

static void over(struct tm_exchange *x, enum tm_exchange_end end, int code, const char *text)
{
  if (x->is_over)
    return;
  x->is_over = true;
  x->o.on_end(x->o.data, end, code, text);
}

static struct worker *find_worker(const struct tm_exchange *x, uint32_t number)
{
  for (size_t i = 0; i < x->workers.len; i++)
    if (x->workers.at[i]->number == number)
      return x->workers.at[i];
  return NULL;
}

/* ---- from workers ---- */

static void hold_all(struct tm_exchange *x)
{
  x->is_held = true;
  for (size_t i = 0; i < x->workers.len; i++)
    tm_channel_hold(&x->workers.at[i]->channel, true);
}

static void close_worker(struct worker *w, int code)
{
  if (w->is_closed)
    return;
  w->is_closed = true;
  w->code = code;
  if (code == 0) /* keeps (8) */
    tm_channel_close(&w->channel);
}

static void on_worker_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct worker *w = c->data;
  struct tm_exchange *x = w->x;
  struct tm_msg up = *f;

  tm_fs_close(tm_fs_real(), f->fd); /* workers send no descriptors */
  if (w->is_closed)
    return;
  if (f->type >= TM_MSG_HELLO) { /* keeps (3) */
    close_worker(w, TM_EPROTOCOL);
    return;
  }
  up.worker = w->number;
  up.fd = -1;
  tm_node_stream_send(x->stream, &up);
  if (tm_node_stream_pending(x->stream) > TM_STREAM_NODE_CREDIT)
    hold_all(x);
}

static void on_worker_end(struct tm_channel *c, int code)
{
  close_worker(c->data, code);
}

static void free_worker(struct worker *w)
{
  tm_buf_release(&w->detail);
  free(w);
}

static void on_worker_closed(struct tm_channel *c)
{
  struct worker *w = c->data;

  w->is_open = false;
  drop(w->x);
  if (w->is_removed)
    free_worker(w);
}

/* The caller removes it from the list. */
static void remove_worker(struct worker *w)
{
  w->is_removed = true;
  tm_channel_close(&w->channel);
  if (!w->is_open)
    free_worker(w);
}

/* ---- from the keeper ---- */

static bool on_started(struct tm_exchange *x, const struct tm_msg *f)
{
  struct worker *w;

  if (f->fd < 0 || find_worker(x, f->worker))
    return false;
  w = TM_NEW(struct worker);
  w->x = x;
  w->number = f->worker;
  *TM_ARRAY_ADD(&x->workers) = w;
  w->code = tm_channel_open(&w->channel, x->o.loop, f->fd, on_worker_msg, on_worker_end, w, NULL);
  w->is_open = w->code == 0;
  w->is_closed = w->code < 0;
  if (w->is_open) {
    w->channel.on_closed = on_worker_closed;
    x->parts++;
    tm_channel_hold(&w->channel, x->is_held);
  }
  return true;
}

/* Keeps (1): it is passed on later. */
static void keep_ended(struct worker *w, const struct tm_msg *f)
{
  w->has_ended = true;
  w->ended = *f;
  tm_buf_add(&w->detail, f->payload, f->length);
  w->ended.payload = w->detail.data;
}

static bool may_come(const struct tm_msg *f) /* keeps (6) */
{
  return f->type == TM_MSG_HELLO || (f->type >= TM_MSG_STARTED && f->type <= TM_MSG_DOING);
}

static void watch_keeper(struct tm_exchange *x)
{
  if (x->has_hello)
    return;
  x->has_hello = true;
  tm_keeper_silence_init(&x->keeper_silence, tm_clock_mono_ns());
  tm_timer_start(&x->keeper_look, KEEPER_LOOK_NS, KEEPER_LOOK_NS);
}

static void on_keeper_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct tm_exchange *x = c->data;
  struct worker *w = f->type == TM_MSG_ENDED ? find_worker(x, f->worker) : NULL;
  bool is_started = f->type == TM_MSG_STARTED && !x->is_over && on_started(x, f);

  if (!is_started)
    tm_fs_close(tm_fs_real(), f->fd);
  if (x->is_over)
    return;
  tm_keeper_silence_heard(&x->keeper_silence);
  if (!may_come(f) || (f->type == TM_MSG_STARTED && !is_started) || (w && w->has_ended)) {
    over(x, TM_EXCHANGE_KEEPER_ENDED, TM_EPROTOCOL, "the keeper sent an impossible message");
    return;
  }
  if (f->type == TM_MSG_HELLO)
    watch_keeper(x);
  if (w)
    keep_ended(w, f);
  else
    tm_node_stream_send(x->stream, f);
}

/* Keeps (9). */
static void report_silence(struct tm_exchange *x, int64_t ns)
{
  char bytes[8];

  tm_put_u32(bytes, (uint32_t)(uint64_t)ns);
  tm_put_u32(bytes + 4, (uint32_t)((uint64_t)ns >> 32));
  tm_exchange_send(x, TM_MSG_KEEPER_SILENT, bytes, sizeof bytes);
}

static void on_keeper_look(struct tm_timer *t)
{
  struct tm_exchange *x = t->data;
  struct tm_msg ping = { .type = TM_MSG_PING, .fd = -1 };
  struct tm_keeper_doing doing;

  if (x->is_over)
    return;
  doing = tm_keeper_silence_look(&x->keeper_silence, tm_node_stream_timeout_ns(x->stream),
                                 tm_clock_mono_ns());
  if (doing.asks)
    tm_channel_send(&x->control, &ping);
  if (doing.reports || doing.is_over)
    report_silence(x, doing.silent_ns);
  if (!doing.is_over)
    return;
  char *text =
      tm_xprintf("the keeper has not answered for %.0f s: it may have been stopped; the node ends",
                 (double)doing.silent_ns / 1e9);
  over(x, TM_EXCHANGE_KEEPER_ENDED, 0, text);
  free(text);
}

static void on_keeper_end(struct tm_channel *c, int code)
{
  struct tm_exchange *x = c->data;
  char *text = code < 0 ? tm_xprintf("the keeper cannot be read: %s", tm_code_text(code))
                        : tm_xstrdup("the keeper has ended");

  for (size_t i = 0; i < x->workers.len; i++) /* what they have sent so far may be results */
    tm_channel_drain(&x->workers.at[i]->channel);
  over(x, TM_EXCHANGE_KEEPER_ENDED, code, text);
  free(text);
}

static void on_keeper_closed(struct tm_channel *c)
{
  drop(c->data);
}

/* ---- from the supervisor ---- */

static void on_stream_open(void *data, const char *skipped, size_t len)
{
  struct tm_exchange *x = data;
  struct tm_err err = TM_ERR_NONE;
  int fd;

  if (x->is_over)
    return;
  fd = x->o.on_open(x->o.data, &err);
  if (fd < 0 ||
      tm_channel_open(&x->control, x->o.loop, fd, on_keeper_msg, on_keeper_end, x, &err) < 0) {
    over(x, TM_EXCHANGE_KEEPER_ENDED, err.code, err.text);
    return;
  }
  x->control.on_closed = on_keeper_closed;
  x->parts++;
}

static bool is_own(const struct tm_msg *f)
{
  return f->type == TM_MSG_PROBE || f->type == TM_MSG_SOURCE || f->type == TM_MSG_SOURCE_DATA;
}

static void on_own(struct tm_exchange *x, const struct tm_msg *f)
{
  struct tm_err err = TM_ERR_NONE;

  if (x->o.on_own(x->o.data, f, &err) < 0)
    over(x, TM_EXCHANGE_STREAM_ENDED, err.code, err.text);
}

static void on_stream_msg(void *data, const struct tm_msg *f)
{
  struct tm_exchange *x = data;
  struct worker *w;

  if (x->is_over)
    return;
  if (f->type == TM_MSG_LAUNCH || f->type == TM_MSG_END_LAUNCH || f->type == TM_MSG_KILL_LAUNCH ||
      f->type == TM_MSG_AT_END || f->type == TM_MSG_ADOPT) { /* keeps (6) */
    over(x, TM_EXCHANGE_STREAM_ENDED, TM_EPROTOCOL,
         "the supervisor asked for a command to be launched, which only the keeper of its own "
         "machine does");
    return;
  }
  if (is_own(f)) { /* keeps (6) */
    on_own(x, f);
    return;
  }
  if (f->type >= TM_MSG_HELLO) {
    x->o.on_control(x->o.data, f);
    tm_channel_send(&x->control, f);
    return;
  }
  w = find_worker(x, f->worker);
  if (!w) /* its ENDED is on the way */
    return;
  tm_channel_send(&w->channel, f);
  w->taken += TM_MSG_HEADER + f->length;
}

static void on_stream_end(void *data, int code, const char *text)
{
  ((struct tm_exchange *)data)->is_stream_over = true;
  over(data, TM_EXCHANGE_STREAM_ENDED, code, text ? text : "");
}

static void on_stream_closed(void *data)
{
  drop(data);
}

static void on_watch(struct tm_timer *t)
{
  struct tm_exchange *x = t->data;
  int64_t limit_ns = TM_EXCHANGE_TIMEOUTS * x->watched_ns;
  bool was_doubted = x->is_doubted;

  x->is_doubted = tm_clock_boot_ns() - tm_node_stream_heard_ns(x->stream) >= limit_ns;
  if (x->is_over || !was_doubted || !x->is_doubted) /* keeps (7) */
    return;
  char *text = tm_xprintf("nothing has come from the supervisor for %g s: it, its machine or the "
                          "network may be stopped; the workers of this machine are ended",
                          (double)limit_ns / 1e9);
  over(x, TM_EXCHANGE_STREAM_SILENT, 0, text);
  free(text);
}

/* Again when a heartbeat has come. */
static void watch(struct tm_exchange *x)
{
  int64_t known_ns = tm_node_stream_timeout_ns(x->stream),
          timeout_ns = known_ns > 0 ? known_ns : x->o.timeout_ns;

  if (x->watched_ns == timeout_ns)
    return;
  x->watched_ns = timeout_ns;
  tm_timer_start(&x->watch, timeout_ns, timeout_ns);
}

/* ---- at the end of a turn ---- */

static void credit(struct worker *w)
{
  size_t pending;

  if (w->taken == 0)
    return;
  tm_channel_flush(&w->channel);
  pending = tm_channel_pending(&w->channel);
  if (pending >= w->taken)
    return;
  tm_node_stream_consumed(w->x->stream, w->number, w->taken - pending);
  w->taken = pending;
}

/* Keeps (2). */
static void read_rest(struct worker *w)
{
  if (!(w->has_ended || w->x->is_finishing) || w->is_closed || w->x->is_held)
    return;
  tm_channel_drain(&w->channel);
  if (!w->x->is_held)
    close_worker(w, 0);
}

static void tell_closed(struct worker *w)
{
  char code[4];
  struct tm_msg f = {
    .type = TM_MSG_CLOSED, .worker = w->number, .payload = code, .length = sizeof code, .fd = -1
  };

  tm_put_u32(code, (uint32_t)w->code);
  w->has_told_closed = true;
  tm_node_stream_send(w->x->stream, &f);
}

/* Keeps (1). True: the worker is gone. */
static bool tell_end(struct worker *w)
{
  struct tm_node_stream *stream = w->x->stream;

  if (!w->is_closed || (w->has_told_closed && !w->has_ended))
    return false;
  if (tm_node_stream_pending_of(stream, w->number) > 0)
    tm_node_stream_flush(stream);
  if (tm_node_stream_pending_of(stream, w->number) > 0)
    return false;
  if (w->has_ended)
    tm_node_stream_send(stream, &w->ended);
  else if (!w->x->is_finishing) /* else the node ends, which says it */
    tell_closed(w);
  return w->has_ended;
}

/* Sockets are read again when there is room in the stream. A release delivers what was read before,
 * which may fill it again. */
static void release(struct tm_exchange *x)
{
  while (x->is_held) {
    tm_node_stream_flush(x->stream); /* keeps (4) */
    if (x->is_stream_over || tm_node_stream_pending(x->stream) > TM_STREAM_NODE_CREDIT)
      return;
    x->is_held = false;
    x->first++;
    for (size_t i = 0; i < x->workers.len && !x->is_held; i++)
      tm_channel_hold(&x->workers.at[(x->first + i) % x->workers.len]->channel, false);
  }
}

static void finish(struct tm_exchange *x)
{
  void (*on_finished)(void *) = x->on_finished;

  x->on_finished = NULL;
  if (on_finished)
    on_finished(x->o.data);
}

static void on_limit(struct tm_timer *t) /* keeps (5) */
{
  finish(t->data);
}

static bool has_passed_all(const struct tm_exchange *x)
{
  for (size_t i = 0; i < x->workers.len; i++)
    if (!x->workers.at[i]->is_closed || x->workers.at[i]->has_ended)
      return false;
  tm_node_stream_flush(x->stream);
  return tm_node_stream_pending(x->stream) == 0;
}

static void on_turn(struct tm_turn *t)
{
  struct tm_exchange *x = t->data;
  size_t len = 0;

  if (x->is_stream_over) {
    finish(x);
    return;
  }
  watch(x);
  release(x);
  for (size_t i = 0; i < x->workers.len; i++) {
    struct worker *w = x->workers.at[i];
    credit(w);
    read_rest(w);
    if (tell_end(w))
      remove_worker(w);
    else
      x->workers.at[len++] = w;
  }
  x->workers.len = len;
  if (x->on_finished && has_passed_all(x))
    finish(x);
}

/* ---- the whole ---- */

static void on_turn_closed(struct tm_turn *t)
{
  drop(t->data);
}

static void on_timer_closed(struct tm_timer *t)
{
  drop(t->data);
}

struct tm_exchange *tm_exchange_open(const struct tm_exchange_options *o, struct tm_err *err)
{
  struct tm_exchange *x = TM_NEW(struct tm_exchange);
  struct tm_node_stream_options s = { .loop = o->loop,
                                      .in = o->in,
                                      .out = o->out,
                                      .hello = o->hello,
                                      .on_open = on_stream_open,
                                      .on_msg = on_stream_msg,
                                      .on_end = on_stream_end,
                                      .on_closed = on_stream_closed,
                                      .data = x };

  x->o = *o;
  x->stream = tm_node_stream_open(&s, err);
  if (!x->stream) {
    free(x);
    return NULL;
  }
  tm_turn_open(&x->turn, o->loop, on_turn, x);
  x->turn.on_closed = on_turn_closed;
  tm_timer_open(&x->limit, o->loop, on_limit, x);
  tm_timer_open(&x->watch, o->loop, on_watch, x);
  tm_timer_open(&x->keeper_look, o->loop, on_keeper_look, x);
  x->limit.on_closed = x->watch.on_closed = x->keeper_look.on_closed = on_timer_closed;
  x->parts = 5;
  watch(x);
  return x;
}

void tm_exchange_end_keeper(struct tm_exchange *x)
{
  tm_channel_close(&x->control);
}

void tm_exchange_send(struct tm_exchange *x, uint32_t type, const void *p, size_t n)
{
  struct tm_msg f = { .type = type, .payload = p, .length = (uint32_t)n, .fd = -1 };

  tm_require(type >= TM_MSG_HELLO && n <= UINT32_MAX);
  tm_node_stream_send(x->stream, &f);
}

void tm_exchange_consumed(struct tm_exchange *x, size_t bytes)
{
  tm_node_stream_consumed(x->stream, TM_SOURCE_WORKER, bytes);
}

void tm_exchange_note(struct tm_exchange *x, const char *text)
{
  if (x->has_hello)
    tm_exchange_send(x, TM_MSG_NOTE, text, strlen(text));
}

void tm_exchange_finish(struct tm_exchange *x, int64_t limit_ns, void (*on_finished)(void *data))
{
  tm_require(!x->is_finishing);
  x->is_over = x->is_finishing = true;
  x->on_finished = on_finished;
  tm_timer_start(&x->limit, limit_ns, 0);
}

void tm_exchange_close(struct tm_exchange *x)
{
  if (!x)
    return;
  x->is_over = true;
  x->on_finished = NULL;
  tm_turn_close(&x->turn);
  tm_timer_close(&x->limit);
  tm_timer_close(&x->watch);
  tm_timer_close(&x->keeper_look);
  tm_channel_close(&x->control);
  for (size_t i = 0; i < x->workers.len; i++)
    remove_worker(x->workers.at[i]);
  x->workers.len = 0;
  tm_node_stream_close(x->stream);
}
