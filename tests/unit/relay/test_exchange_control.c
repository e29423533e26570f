/* test_exchange_control.c - whom a message is for: nobody can speak for another, and what is for
 * the relay is not passed on. */
#include "unit.h"

#include "exchange_rig.h"
#include "sys/clock.h"

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
  static const uint32_t types[] = {
    TM_MSG_STARTED, TM_MSG_CLOSED,    TM_MSG_REPORT, TM_MSG_PROBED,    TM_MSG_PROBE,
    TM_MSG_STEP,    TM_MSG_DOING + 1, 120,           TM_STREAM_CREDIT, 8
  };
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

/* The keeper, which comes to life after a probe, hears nothing of it. */
static void a_probe_is_answered_by_the_relay(void **state)
{
  struct fixture *x = *state;
  supervisor_sends(x, TM_MSG_PROBE, 0, "probe", 5);
  const struct tm_msg *f = next(x, &x->supervisor_in);
  assert_true(f->type == TM_MSG_PROBED && f->length == 6 && memcmp(f->payload, "probed", 6) == 0);
  supervisor_sends(x, TM_MSG_PING, 0, "", 0);
  expect(x, &x->keeper_in, TM_MSG_PING, 0);
  assert_true(x->probes == 1 && x->asked == 1);
}

static void a_probe_that_is_refused_ends_it(void **state)
{
  struct fixture *x = *state;
  x->refuses_probes = true;
  supervisor_sends(x, TM_MSG_PROBE, 0, "probe", 5);
  while (!x->has_ended)
    turn(x);
  assert_int_equal(x->end, TM_EXCHANGE_STREAM_ENDED);
  assert_int_equal(x->code, TM_EPROTOCOL);
  assert_true(is_empty(&x->keeper_in));
}

/* Only the keeper of the supervisor's own machine launches commands. */
static void no_launch_is_passed_on(void **state)
{
  static const uint32_t down[] = { TM_MSG_LAUNCH, TM_MSG_END_LAUNCH, TM_MSG_ADOPT };
  static const uint32_t up[] = { TM_MSG_LAUNCHED, TM_MSG_LAUNCH_FAILED, TM_MSG_LAUNCH_ENDED,
                                 TM_MSG_ADOPTED };
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

/* Its machine may have vanished when the relay had just been started. */
static void a_supervisor_of_whom_nothing_ever_comes_ends_it(void **state)
{
  struct fixture x = { .code = 1 };
  int64_t timeout_ns = 20 * TM_MS, began_ns = tm_clock_boot_ns();
  int pair[2];
  assert_int_equal(tm_loop_init(&x.loop, NULL), 0);
  tm_timer_open(&x.limit, &x.loop, on_limit, &x);
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  struct tm_exchange_options o = { .loop = &x.loop,
                                   .in = pair[0],
                                   .out = pair[0],
                                   .hello = "hello",
                                   .timeout_ns = timeout_ns,
                                   .on_end = on_end,
                                   .data = &x };
  x.exchange = tm_exchange_open(&o, NULL);
  assert_non_null(x.exchange);
  turn(&x);
  assert_true(x.has_ended && x.end == TM_EXCHANGE_STREAM_SILENT && x.code == 0);
  assert_true(tm_clock_boot_ns() - began_ns >= TM_EXCHANGE_TIMEOUTS * timeout_ns);
  close(pair[1]);
  tm_exchange_close(x.exchange);
  tm_timer_close(&x.limit);
  tm_loop_release(&x.loop);
}

UNIT_HOOKS(.limit_s = 120);
UNIT_TESTS({
    CASE(a_worker_cannot_speak_for_the_keeper),
    CASE(an_impossible_message_of_the_keeper_ends_it),
    CASE(a_probe_is_answered_by_the_relay),
    CASE(a_probe_that_is_refused_ends_it),
    cmocka_unit_test(no_launch_is_passed_on),
    cmocka_unit_test(a_supervisor_of_whom_nothing_ever_comes_ends_it),
});
