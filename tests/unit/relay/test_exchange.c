/* test_exchange.c - messages between a supervisor, a keeper and workers that are all in this
 * process, on one loop. */
#include "unit.h"

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
  int asked;    /* on_control */
  size_t bytes; /* of workers' messages that have reached the supervisor */
  bool is_slow; /* the supervisor consumes nothing */
  bool is_late, keeper_has_ended, has_ended, has_finished;
  enum tm_exchange_end end;
  int code;
};

static void keep(struct fixture *x, struct inbox *in, const struct tm_msg *f)
{
  struct got got = { *f };
  got.f.payload = tm_xstrndup(f->length ? f->payload : "", f->length);
  *TM_ARRAY_ADD(&in->at) = got;
  tm_loop_stop(&x->loop);
}

static void on_stream_open(void *data, const char *skipped, size_t len)
{
}

static void on_stream_msg(void *data, const struct tm_msg *f)
{
  struct fixture *x = data;
  size_t bytes = TM_MSG_HEADER + f->length;
  if (f->type < TM_MSG_HELLO)
    x->bytes += bytes;
  if (f->type < TM_MSG_HELLO && !x->is_slow)
    tm_node_stream_consumed(x->stream, f->worker, bytes);
  keep(x, &x->supervisor_in, f);
}

static void on_stream_end(void *data, int code, const char *text)
{
}

static void on_stream_closed(void *data)
{
}

static void on_keeper_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct fixture *x = c->data;
  keep(x, &x->keeper_in, f);
}

static void on_keeper_end(struct tm_channel *c, int code)
{
  struct fixture *x = c->data;
  x->keeper_has_ended = true;
  tm_loop_stop(&x->loop);
}

static void on_worker_msg(struct tm_channel *c, const struct tm_msg *f)
{
  struct fixture *x = c->data;
  keep(x, &TM_LIST_OWNER(c, struct one_worker, channel)->in, f);
}

static void on_worker_end(struct tm_channel *c, int code)
{
  TM_LIST_OWNER(c, struct one_worker, channel)->has_ended = true;
}

static int on_open(void *data, struct tm_err *err)
{
  struct fixture *x = data;
  int pair[2];
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  assert_int_equal(
      tm_channel_open(&x->keeper, &x->loop, pair[0], on_keeper_msg, on_keeper_end, x, NULL), 0);
  tm_loop_stop(&x->loop);
  return pair[1];
}

static void on_control(void *data, const struct tm_msg *f)
{
  ((struct fixture *)data)->asked++;
}

static void on_end(void *data, enum tm_exchange_end end, int code, const char *text)
{
  struct fixture *x = data;
  assert_false(x->has_ended);
  x->has_ended = true;
  x->end = end;
  x->code = code;
  tm_loop_stop(&x->loop);
}

static void on_limit(struct tm_timer *t)
{
  struct fixture *x = t->data;
  x->is_late = true;
  tm_loop_stop(&x->loop);
}

static void turn(struct fixture *x)
{
  tm_timer_start(&x->limit, LIMIT, 0);
  tm_loop_run(&x->loop);
  tm_timer_stop(&x->limit);
  assert_false(x->is_late);
}

/* Runs all that can happen without an answer of the test. */
static void settle(struct fixture *x)
{
  for (int i = 0; i < 1000; i++)
    tm_loop_turn(&x->loop);
}

static const struct tm_msg *next(struct fixture *x, struct inbox *in)
{
  while (in->next == in->at.len)
    turn(x);
  return &in->at.at[in->next++].f;
}

static void expect(struct fixture *x, struct inbox *in, uint32_t type, uint32_t worker)
{
  const struct tm_msg *f = next(x, in);
  assert_int_equal(f->type, type);
  assert_int_equal(f->worker, worker);
}

static bool is_empty(const struct inbox *in)
{
  return in->next == in->at.len;
}

static void keeper_sends(struct fixture *x, uint32_t type, uint32_t worker, const char *text)
{
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = text, .length = (uint32_t)strlen(text), .fd = -1
  };
  tm_channel_send(&x->keeper, &f);
}

static void worker_sends(struct fixture *x, uint32_t worker, uint32_t type, const char *p, size_t n)
{
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = p, .length = (uint32_t)n, .fd = -1
  };
  tm_channel_send(&x->workers[worker].channel, &f);
}

static void supervisor_sends(struct fixture *x, uint32_t type, uint32_t worker, const char *p,
                             size_t n)
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
static void keeper_starts(struct fixture *x, uint32_t worker)
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

static int setup(void **state)
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
                                   .on_open = on_open,
                                   .on_control = on_control,
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

static void release_inbox(struct inbox *in)
{
  for (size_t i = 0; i < in->at.len; i++)
    free((char *)in->at.at[i].f.payload);
  TM_ARRAY_RELEASE(&in->at);
}

static int teardown(void **state)
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

static void messages_go_through_unchanged(void **state)
{
  struct fixture *x = *state;
  supervisor_sends(x, TM_MSG_KILL, 2, "bytes\0\n", 7);
  const struct tm_msg *f = next(x, &x->keeper_in);
  assert_true(f->type == TM_MSG_KILL && f->index == 7 && f->worker == 2 && f->try == 3);
  assert_true(f->part == 9 && f->length == 7 && memcmp(f->payload, "bytes\0\n", 7) == 0);
  assert_int_equal(x->asked, 1);
  keeper_sends(x, TM_MSG_NOTE, 0, "words");
  f = next(x, &x->supervisor_in);
  assert_true(f->type == TM_MSG_NOTE && f->length == 5 && memcmp(f->payload, "words", 5) == 0);
}

static void each_worker_gets_and_sends_its_own(void **state)
{
  struct fixture *x = *state;
  keeper_starts(x, 0);
  keeper_starts(x, 2);
  supervisor_sends(x, 5, 2, "for 2", 5);
  supervisor_sends(x, 6, 0, "for 0", 5);
  supervisor_sends(x, 6, 1, "nobody", 6);
  const struct tm_msg *f = next(x, &x->workers[2].in);
  assert_true(f->type == 5 && f->index == 7 && f->try == 3 && f->part == 9 && f->worker == 2);
  assert_memory_equal(f->payload, "for 2", 5);
  expect(x, &x->workers[0].in, 6, 0);
  worker_sends(x, 2, 8, "from 2", 6);
  f = next(x, &x->supervisor_in);
  assert_true(f->type == 8 && f->worker == 2 && f->length == 6);
  /* It speaks for itself alone. */
  struct tm_msg other = { .type = 9, .worker = 0, .fd = -1 };
  tm_channel_send(&x->workers[2].channel, &other);
  expect(x, &x->supervisor_in, 9, 2);
  assert_int_equal(x->asked, 0);
}

static void a_worker_that_closes_its_socket_is_reported_once(void **state)
{
  struct fixture *x = *state;
  keeper_starts(x, 1);
  worker_sends(x, 1, 8, "last", 4);
  tm_channel_close(&x->workers[1].channel);
  expect(x, &x->supervisor_in, 8, 1);
  const struct tm_msg *f = next(x, &x->supervisor_in);
  assert_true(f->type == TM_MSG_CLOSED && f->worker == 1 && f->length == 4 &&
              tm_get_u32(f->payload) == 0);
  supervisor_sends(x, 5, 1, "too late", 8);
  keeper_sends(x, TM_MSG_TAKEN, 1, "");
  expect(x, &x->supervisor_in, TM_MSG_TAKEN, 1);
  keeper_sends(x, TM_MSG_ENDED, 1, "killed");
  f = next(x, &x->supervisor_in);
  assert_true(f->type == TM_MSG_ENDED && f->length == 6 && memcmp(f->payload, "killed", 6) == 0);
}

/* All that the worker sent comes before its end; what concerns others does not wait. */
static void the_end_of_a_worker_follows_all_that_it_sent(void **state)
{
  struct fixture *x = *state;
  char *piece = tm_xcalloc(1, PIECE);
  int n = (int)(2 * TM_STREAM_NODE_CREDIT / PIECE);
  keeper_starts(x, 0);
  keeper_starts(x, 1);
  x->is_slow = true;
  for (int i = 0; i < n; i++)
    worker_sends(x, 0, 8, piece, PIECE);
  settle(x);
  tm_channel_flush(&x->workers[0].channel);
  while (tm_channel_pending(&x->workers[0].channel) > 0) /* until its socket has taken all */
    turn(x);
  tm_channel_close(&x->workers[0].channel);
  keeper_sends(x, TM_MSG_ENDED, 0, "killed");
  keeper_sends(x, TM_MSG_NOTE, 0, "words");
  settle(x);
  size_t notes = 0;
  for (size_t i = x->supervisor_in.next; i < x->supervisor_in.at.len; i++) {
    notes += x->supervisor_in.at.at[i].f.type == TM_MSG_NOTE;
    assert_int_not_equal(x->supervisor_in.at.at[i].f.type, TM_MSG_ENDED);
  }
  assert_int_equal(notes, 1);
  x->is_slow = false;
  tm_node_stream_consumed(x->stream, 0, x->bytes);
  for (int i = 0; i < n;) {
    const struct tm_msg *f = next(x, &x->supervisor_in);
    assert_true(f->type == 8 || f->type == TM_MSG_NOTE);
    i += f->type == 8;
  }
  expect(x, &x->supervisor_in, TM_MSG_ENDED, 0);
  free(piece);
}

/* A process that the worker left has its socket, and may even write. */
static void the_end_of_a_worker_does_not_wait_for_its_socket(void **state)
{
  struct fixture *x = *state;
  keeper_starts(x, 0);
  worker_sends(x, 0, 8, "last", 4);
  keeper_sends(x, TM_MSG_ENDED, 0, "");
  expect(x, &x->supervisor_in, 8, 0);
  expect(x, &x->supervisor_in, TM_MSG_ENDED, 0);
  worker_sends(x, 0, 8, "a ghost", 7);
  keeper_sends(x, TM_MSG_PONG, 0, "");
  while (!x->workers[0].has_ended)
    tm_loop_turn(&x->loop);
  expect(x, &x->supervisor_in, TM_MSG_PONG, 0);
  assert_true(is_empty(&x->supervisor_in));
}

/* It holds what was credited, one message more, and what the sockets hold. */
static void it_reads_no_more_from_workers_than_the_supervisor_takes(void **state)
{
  struct fixture *x = *state;
  char *piece = tm_xcalloc(1, PIECE);
  size_t sent = 0, bytes = TM_MSG_HEADER + PIECE;
  keeper_starts(x, 0);
  keeper_starts(x, 1);
  x->is_slow = true;
  for (; sent < 32 * TM_STREAM_NODE_CREDIT; sent += 2 * bytes) {
    worker_sends(x, 0, 8, piece, PIECE);
    worker_sends(x, 1, 8, piece, PIECE);
  }
  settle(x);
  assert_in_range(x->bytes, TM_STREAM_NODE_CREDIT / 2, TM_STREAM_NODE_CREDIT + bytes);
  size_t waiting =
      tm_channel_pending(&x->workers[0].channel) + tm_channel_pending(&x->workers[1].channel);
  assert_true(waiting > 16 * TM_STREAM_NODE_CREDIT);
  x->is_slow = false;
  tm_node_stream_consumed(x->stream, 0, x->bytes);
  while (x->bytes < sent)
    turn(x);
  free(piece);
}

static void a_worker_that_does_not_read_delays_no_other(void **state)
{
  struct fixture *x = *state;
  char *piece = tm_xcalloc(1, PIECE);
  size_t n = 32 * TM_STREAM_WORKER_CREDIT / PIECE;
  keeper_starts(x, 0);
  keeper_starts(x, 1);
  tm_channel_hold(&x->workers[0].channel, true);
  for (size_t i = 0; i < n; i++)
    supervisor_sends(x, 5, 0, piece, PIECE);
  supervisor_sends(x, 6, 1, "for 1", 5);
  expect(x, &x->workers[1].in, 6, 1);
  settle(x);
  assert_true(tm_node_stream_pending_of(x->stream, 0) > 8 * TM_STREAM_WORKER_CREDIT);
  tm_channel_hold(&x->workers[0].channel, false);
  for (size_t i = 0; i < n; i++)
    expect(x, &x->workers[0].in, 5, 0);
  settle(x);
  assert_int_equal(tm_node_stream_pending_of(x->stream, 0), 0);
  free(piece);
}

static void a_worker_cannot_speak_for_the_keeper(void **state)
{
  static const uint32_t types[] = { TM_MSG_ENDED, TM_STREAM_CREDIT, 8 | TM_STREAM_MORE };
  struct fixture *x = *state;
  for (uint32_t i = 0; i < TM_COUNT_OF(types); i++) {
    keeper_starts(x, i);
    worker_sends(x, i, types[i], "", 0);
    worker_sends(x, i, 8, "", 0);
    const struct tm_msg *f = next(x, &x->supervisor_in);
    assert_true(f->type == TM_MSG_CLOSED && f->worker == i);
    assert_true((int32_t)tm_get_u32(f->payload) == TM_EPROTOCOL);
  }
  assert_false(x->has_ended);
}

static void an_impossible_message_of_the_keeper_ends_it(void **state)
{
  /* the first: without a descriptor */
  static const uint32_t types[] = { TM_MSG_STARTED, TM_MSG_CLOSED, TM_STREAM_CREDIT, 8 };
  for (size_t i = 0; i < TM_COUNT_OF(types); i++) {
    if (i > 0)
      assert_int_equal(setup(state), 0);
    struct fixture *x = *state;
    keeper_sends(x, types[i], 0, "1234");
    while (!x->has_ended)
      turn(x);
    assert_int_equal(x->end, TM_EXCHANGE_KEEPER_ENDED);
    assert_int_equal(x->code, TM_EPROTOCOL);
    assert_true(is_empty(&x->supervisor_in));
    if (i + 1 < TM_COUNT_OF(types))
      teardown(state);
  }
}

static void the_end_of_the_keeper_is_reported_after_what_workers_sent(void **state)
{
  struct fixture *x = *state;
  keeper_starts(x, 0);
  worker_sends(x, 0, 8, "last", 4);
  tm_channel_flush(&x->workers[0].channel);
  tm_channel_close(&x->keeper);
  while (!x->has_ended)
    turn(x);
  assert_int_equal(x->end, TM_EXCHANGE_KEEPER_ENDED);
  assert_int_equal(x->code, 0);
  expect(x, &x->supervisor_in, 8, 0);
}

static void the_end_of_the_stream_is_reported(void **state)
{
  struct fixture *x = *state;
  keeper_starts(x, 0);
  tm_node_stream_close(x->stream);
  x->stream = NULL;
  while (!x->has_ended)
    turn(x);
  assert_int_equal(x->end, TM_EXCHANGE_STREAM_ENDED);
  assert_int_equal(x->code, 0);
  assert_false(x->keeper_has_ended);
  tm_exchange_end_keeper(x->exchange);
  while (!x->keeper_has_ended)
    turn(x);
}

static void on_finished(void *data)
{
  struct fixture *x = data;
  assert_false(x->has_finished);
  x->has_finished = true;
  tm_loop_stop(&x->loop);
}

/* More than the supervisor's credit, and the end of the worker behind it. */
static void fill_and_end_keeper(struct fixture *x, char *piece, int n)
{
  keeper_starts(x, 0);
  x->is_slow = true;
  for (int i = 0; i < n; i++)
    worker_sends(x, 0, 8, piece, PIECE);
  settle(x);
  tm_channel_flush(&x->workers[0].channel);
  keeper_sends(x, TM_MSG_ENDED, 0, "killed");
  settle(x);
  tm_exchange_end_keeper(x->exchange);
  tm_exchange_note(x->exchange, "not before the keeper's HELLO");
}

static void what_waits_is_sent_before_the_end(void **state)
{
  struct fixture *x = *state;
  char *piece = tm_xcalloc(1, PIECE);
  int n = (int)(TM_STREAM_NODE_CREDIT / PIECE) + 2;
  fill_and_end_keeper(x, piece, n);
  tm_exchange_finish(x->exchange, LIMIT, on_finished);
  settle(x);
  assert_false(x->has_finished);
  x->is_slow = false;
  tm_node_stream_consumed(x->stream, 0, x->bytes);
  for (int i = 0; i < n; i++)
    expect(x, &x->supervisor_in, 8, 0);
  expect(x, &x->supervisor_in, TM_MSG_ENDED, 0);
  while (!x->has_finished)
    turn(x);
  assert_true(is_empty(&x->supervisor_in));
  free(piece);
}

static void a_supervisor_that_takes_nothing_does_not_delay_the_end(void **state)
{
  struct fixture *x = *state;
  char *piece = tm_xcalloc(1, PIECE);
  fill_and_end_keeper(x, piece, (int)(TM_STREAM_NODE_CREDIT / PIECE) + 2);
  tm_exchange_finish(x->exchange, TM_MS, on_finished);
  while (!x->has_finished)
    turn(x);
  free(piece);
}

static void nothing_waits_at_the_end_of_a_lost_stream(void **state)
{
  struct fixture *x = *state;
  keeper_starts(x, 0);
  worker_sends(x, 0, 8, "last", 4);
  tm_node_stream_close(x->stream);
  x->stream = NULL;
  tm_exchange_finish(x->exchange, LIMIT, on_finished);
  while (!x->has_finished)
    turn(x);
}

/* Only the keeper of the supervisor's own machine launches commands. */
static void no_launch_is_passed_on(void **state)
{
  static const uint32_t down[] = { TM_MSG_LAUNCH, TM_MSG_END_LAUNCH };
  static const uint32_t up[] = { TM_MSG_LAUNCHED, TM_MSG_LAUNCH_FAILED, TM_MSG_LAUNCH_ENDED };
  for (size_t i = 0; i < TM_COUNT_OF(down) + TM_COUNT_OF(up); i++) {
    bool is_down = i < TM_COUNT_OF(down);
    struct fixture *x;
    setup((void **)&x);
    if (is_down)
      supervisor_sends(x, down[i], 0, "", 0);
    else
      keeper_sends(x, up[i - TM_COUNT_OF(down)], 0, "");
    while (!x->has_ended)
      turn(x);
    assert_int_equal(x->code, TM_EPROTOCOL);
    assert_int_equal(x->end, is_down ? TM_EXCHANGE_STREAM_ENDED : TM_EXCHANGE_KEEPER_ENDED);
    assert_true(x->asked == 0 && is_empty(&x->keeper_in) && is_empty(&x->supervisor_in));
    teardown((void **)&x);
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT_HOOKS(.limit_s = 120);
UNIT_TESTS({
    CASE(messages_go_through_unchanged),
    CASE(each_worker_gets_and_sends_its_own),
    CASE(a_worker_that_closes_its_socket_is_reported_once),
    CASE(the_end_of_a_worker_follows_all_that_it_sent),
    CASE(the_end_of_a_worker_does_not_wait_for_its_socket),
    CASE(it_reads_no_more_from_workers_than_the_supervisor_takes),
    CASE(a_worker_that_does_not_read_delays_no_other),
    CASE(a_worker_cannot_speak_for_the_keeper),
    CASE(an_impossible_message_of_the_keeper_ends_it),
    cmocka_unit_test(no_launch_is_passed_on),
    CASE(the_end_of_the_keeper_is_reported_after_what_workers_sent),
    CASE(the_end_of_the_stream_is_reported),
    CASE(what_waits_is_sent_before_the_end),
    CASE(a_supervisor_that_takes_nothing_does_not_delay_the_end),
    CASE(nothing_waits_at_the_end_of_a_lost_stream),
});
