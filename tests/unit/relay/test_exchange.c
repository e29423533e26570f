/* test_exchange.c - messages of workers, the credit of the supervisor, and the end. */
#include "unit.h"

#include "exchange_rig.h"

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

/* It is to die by the supervisor's kill, and by nothing else. */
static void a_worker_that_cannot_be_read_keeps_its_socket_until_its_end(void **state)
{
  struct fixture *x = *state;
  char too_long[TM_MSG_HEADER];
  memset(too_long, -1, sizeof too_long);
  for (uint32_t i = 0; i < 2; i++) {
    struct one_worker *w = &x->workers[i];
    keeper_starts(x, i);
    if (i == 0)
      worker_sends(x, i, TM_MSG_ENDED, "", 0); /* only the keeper may say so */
    else
      assert_int_equal(write(w->channel.fd, too_long, sizeof too_long), sizeof too_long);
    expect(x, &x->supervisor_in, TM_MSG_CLOSED, i);
    settle(x);
    assert_false(w->has_ended);
    keeper_sends(x, TM_MSG_ENDED, i, "killed");
    expect(x, &x->supervisor_in, TM_MSG_ENDED, i);
    while (!w->has_ended)
      turn(x);
  }
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

UNIT_HOOKS(.limit_s = 120);
UNIT_TESTS({
    CASE(messages_go_through_unchanged),
    CASE(each_worker_gets_and_sends_its_own),
    CASE(a_worker_that_closes_its_socket_is_reported_once),
    CASE(a_worker_that_cannot_be_read_keeps_its_socket_until_its_end),
    CASE(the_end_of_a_worker_follows_all_that_it_sent),
    CASE(the_end_of_a_worker_does_not_wait_for_its_socket),
    CASE(it_reads_no_more_from_workers_than_the_supervisor_takes),
    CASE(a_worker_that_does_not_read_delays_no_other),
    CASE(the_end_of_the_keeper_is_reported_after_what_workers_sent),
    CASE(the_end_of_the_stream_is_reported),
    CASE(what_waits_is_sent_before_the_end),
    CASE(a_supervisor_that_takes_nothing_does_not_delay_the_end),
    CASE(nothing_waits_at_the_end_of_a_lost_stream),
});
