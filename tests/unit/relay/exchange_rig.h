/* exchange_rig.h - an exchange whose supervisor, keeper and workers are all in this process, on one
 * loop. */
#ifndef TM_TESTS_EXCHANGE_RIG_H
#define TM_TESTS_EXCHANGE_RIG_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/time.h"
#include "node/node_msg.h"
#include "relay/exchange.h"
#include "sys/messages/node_stream.h"

#define LIMIT (30 * TM_S)
#define PIECE 60000 /* bytes */

struct got {
  struct tm_msg f; /* payload: its own */
};
struct inbox {
  struct TM_ARRAY(struct got) at;
  size_t next; /* the first that no test has looked at */
};

struct one_worker {
  struct tm_channel channel; /* its end */
  struct inbox in;
  bool has_ended;
};

struct fixture {
  struct tm_loop loop;
  struct tm_timer limit;
  struct tm_exchange *exchange;
  struct tm_node_stream *stream; /* the supervisor's side */
  struct tm_channel keeper;      /* its end of the control channel */
  struct inbox supervisor_in, keeper_in;
  struct one_worker workers[3];
  int asked; /* on_control */
  int probes;
  bool refuses_probes;
  size_t bytes; /* of workers' messages that have reached the supervisor */
  bool is_slow; /* the supervisor consumes nothing */
  bool is_late, keeper_has_ended, has_ended, has_finished;
  enum tm_exchange_end end;
  int code;
};

static inline void keep(struct fixture *x, struct inbox *in, const struct tm_msg *f)
{
  struct got got = { *f };
  got.f.payload = tm_xstrndup(f->length ? f->payload : "", f->length);
  *TM_ARRAY_ADD(&in->at) = got;
  tm_loop_stop(&x->loop);
}

static inline void on_stream_open(void *data, const char *skipped, size_t len)
{
}

static inline void on_stream_msg(void *data, const struct tm_msg *f)
{
  struct fixture *x = data;
  size_t bytes = TM_MSG_HEADER + f->length;
  if (f->type < TM_MSG_HELLO)
    x->bytes += bytes;
  if (f->type < TM_MSG_HELLO && !x->is_slow)
    tm_node_stream_consumed(x->stream, f->worker, bytes);
  keep(x, &x->supervisor_in, f);
}

static inline void on_stream_end(void *data, int code, const char *text)
{
}

static inline void on_stream_closed(void *data)
{
}

static inline void on_keeper_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct fixture *x = c->data;
  keep(x, &x->keeper_in, f);
}

static inline void on_keeper_end(struct tm_channel *c, int code)
{
  struct fixture *x = c->data;
  x->keeper_has_ended = true;
  tm_loop_stop(&x->loop);
}

static inline void on_worker_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct fixture *x = c->data;
  keep(x, &TM_LIST_OWNER(c, struct one_worker, channel)->in, f);
}

static inline void on_worker_end(struct tm_channel *c, int code)
{
  TM_LIST_OWNER(c, struct one_worker, channel)->has_ended = true;
}

static inline int on_open(void *data, struct tm_err *err)
{
  struct fixture *x = data;
  int pair[2];
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  assert_int_equal(
      tm_channel_open(&x->keeper, &x->loop, pair[0], on_keeper_msg, on_keeper_end, x, NULL), 0);
  tm_loop_stop(&x->loop);
  return pair[1];
}

static inline void on_control(void *data, const struct tm_msg *f)
{
  ((struct fixture *)data)->asked++;
}

static inline int on_own(void *data, const struct tm_msg *f, struct tm_err *err)
{
  struct fixture *x = data;
  assert_int_equal(f->length, 5);
  assert_memory_equal(f->payload, "probe", 5);
  x->probes++;
  if (x->refuses_probes)
    return tm_err_set(err, TM_EPROTOCOL, "refused");
  tm_exchange_send(x->exchange, TM_MSG_PROBED, "probed", 6);
  return 0;
}

static inline void on_end(void *data, enum tm_exchange_end end, int code, const char *text)
{
  struct fixture *x = data;
  assert_false(x->has_ended);
  x->has_ended = true;
  x->end = end;
  x->code = code;
  tm_loop_stop(&x->loop);
}

static inline void on_limit(struct tm_timer *t)
{
  struct fixture *x = t->data;
  x->is_late = true;
  tm_loop_stop(&x->loop);
}

static inline void turn(struct fixture *x)
{
  tm_timer_start(&x->limit, LIMIT, 0);
  tm_loop_run(&x->loop);
  tm_timer_stop(&x->limit);
  assert_false(x->is_late);
}

/* Runs all that can happen without an answer of the test. */
static inline void settle(struct fixture *x)
{
  for (int i = 0; i < 1000; i++)
    tm_loop_turn(&x->loop);
}

static inline const struct tm_msg *next(struct fixture *x, struct inbox *in)
{
  while (in->next == in->at.len)
    turn(x);
  return &in->at.at[in->next++].f;
}

static inline void expect(struct fixture *x, struct inbox *in, uint32_t type, uint32_t worker)
{
  const struct tm_msg *f = next(x, in);
  assert_int_equal(f->type, type);
  assert_int_equal(f->worker, worker);
}

static inline bool is_empty(const struct inbox *in)
{
  return in->next == in->at.len;
}

static inline void keeper_sends(struct fixture *x, uint32_t type, uint32_t worker, const char *text)
{
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = text, .length = (uint32_t)strlen(text), .fd = -1
  };
  tm_channel_send(&x->keeper, &f);
}

static inline void worker_sends(struct fixture *x, uint32_t worker, uint32_t type, const char *p,
                                size_t n)
{
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = p, .length = (uint32_t)n, .fd = -1
  };
  tm_channel_send(&x->workers[worker].channel, &f);
}

static inline void supervisor_sends(struct fixture *x, uint32_t type, uint32_t worker,
                                    const char *p, size_t n)
{
  struct tm_msg f = { .type = type,
                      .index = 7,
                      .worker = worker,
                      .try = 3,
                      .part = 9,
                      .payload = p,
                      .length = (uint32_t)n,
                      .fd = -1 };
  tm_node_stream_send(x->stream, &f);
}

/* The descriptor is the relay's end of the worker's socket. */
static inline void keeper_starts(struct fixture *x, uint32_t worker)
{
  int pair[2];
  struct one_worker *w = &x->workers[worker];
  struct tm_msg f = {
    .type = TM_MSG_STARTED, .worker = worker, .payload = "\1\0\0", .length = 4, .fd = -1
  };
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  assert_int_equal(
      tm_channel_open(&w->channel, &x->loop, pair[0], on_worker_msg, on_worker_end, x, NULL), 0);
  assert_int_equal(tm_channel_send_fd(&x->keeper, &f, pair[1], NULL), 0);
  close(pair[1]);
  expect(x, &x->supervisor_in, TM_MSG_STARTED, worker);
}

static inline int setup(void **state)
{
  struct fixture *x = TM_NEW(struct fixture);
  int pair[2];
  assert_int_equal(tm_loop_init(&x->loop, NULL), 0);
  tm_timer_open(&x->limit, &x->loop, on_limit, x);
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  struct tm_exchange_options o = { .loop = &x->loop,
                                   .in = pair[0],
                                   .out = pair[0],
                                   .hello = "hello",
                                   .timeout_ns = LIMIT,
                                   .on_open = on_open,
                                   .on_control = on_control,
                                   .on_own = on_own,
                                   .on_end = on_end,
                                   .data = x };
  struct tm_node_stream_options s = { .loop = &x->loop,
                                      .in = pair[1],
                                      .out = pair[1],
                                      .is_supervisor = true,
                                      .hello = "hello",
                                      .on_open = on_stream_open,
                                      .on_msg = on_stream_msg,
                                      .on_end = on_stream_end,
                                      .on_closed = on_stream_closed,
                                      .data = x };
  x->exchange = tm_exchange_open(&o, NULL);
  x->stream = tm_node_stream_open(&s, NULL);
  assert_true(x->exchange && x->stream);
  while (!x->keeper.is_open)
    turn(x);
  *state = x;
  return 0;
}

static inline void release_inbox(struct inbox *in)
{
  for (size_t i = 0; i < in->at.len; i++)
    free((char *)in->at.at[i].f.payload);
  TM_ARRAY_RELEASE(&in->at);
}

static inline int teardown(void **state)
{
  struct fixture *x = *state;
  tm_exchange_close(x->exchange);
  tm_node_stream_close(x->stream);
  tm_channel_close(&x->keeper);
  for (size_t i = 0; i < TM_COUNT_OF(x->workers); i++) {
    tm_channel_close(&x->workers[i].channel);
    release_inbox(&x->workers[i].in);
  }
  tm_timer_close(&x->limit);
  tm_loop_release(&x->loop);
  release_inbox(&x->supervisor_in);
  release_inbox(&x->keeper_in);
  free(x);
  return 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
