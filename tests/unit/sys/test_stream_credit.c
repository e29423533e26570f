/* test_stream_credit.c - credit: what is granted, its limit, and that no message waits forever. */
#include "unit.h"

#include "random.h"
#include "sys/messages/stream_credit.h"
#include "sys/messages/stream_frames.h"

#define LIMIT ((size_t)256 << 10)

static void it_is_granted_in_large_amounts(void **state)
{
  struct tm_credit_in in;
  tm_credit_in_init(&in, LIMIT);
  assert_true(tm_credit_receive(&in, LIMIT));
  tm_credit_complete(&in, LIMIT);
  assert_int_equal(tm_credit_grant(&in), 0);
  tm_credit_consume(&in, LIMIT / 8 - 1);
  assert_int_equal(tm_credit_grant(&in), 0);
  tm_credit_consume(&in, 1);
  assert_int_equal(tm_credit_grant(&in), LIMIT / 8);
  assert_int_equal(tm_credit_grant(&in), 0);
}

static void more_than_the_limit_is_refused(void **state)
{
  struct tm_credit_in in;
  tm_credit_in_init(&in, LIMIT);
  assert_true(tm_credit_receive(&in, LIMIT - 10));
  assert_false(tm_credit_receive(&in, 11));
  assert_true(tm_credit_receive(&in, 10));
  assert_false(tm_credit_receive(&in, 1));
  assert_false(tm_credit_receive(&in, SIZE_MAX));
}

static void more_than_was_sent_is_not_granted(void **state)
{
  struct tm_credit_out out;
  tm_credit_out_init(&out, LIMIT);
  assert_false(tm_credit_granted(&out, 1));
  tm_credit_send(&out, 100);
  assert_false(tm_credit_granted(&out, 101));
  assert_false(tm_credit_granted(&out, UINT64_MAX));
  assert_true(tm_credit_granted(&out, 100));
  assert_true(tm_credit_can_send(&out, LIMIT));
  assert_false(tm_credit_can_send(&out, LIMIT + 1));
}

/* While a long message waits for the caller, the next one stops at the limit. */
static void a_caller_that_does_not_consume_gets_little_more(void **state)
{
  struct tm_credit_in in;
  tm_credit_in_init(&in, LIMIT);
  size_t sent = 0;
  for (; sent < 8 * LIMIT; sent += TM_STREAM_PIECE) {
    assert_true(tm_credit_receive(&in, TM_STREAM_PIECE));
    (void)tm_credit_grant(&in);
  }
  tm_credit_complete(&in, sent);
  for (size_t next = 0; tm_credit_receive(&in, TM_STREAM_PIECE); next += TM_STREAM_PIECE) {
    assert_in_range(next, 0, LIMIT);
    assert_int_equal(tm_credit_grant(&in), 0);
  }
  tm_credit_consume(&in, sent);
  assert_true(tm_credit_grant(&in) > 0);
}

/* Also if they are short: a long message stops while three quarters of the limit wait. */
static void a_long_message_waits_for_those_before_it(void **state)
{
  struct tm_credit_in in;
  size_t before = LIMIT / 4 * 3;
  tm_credit_in_init(&in, LIMIT);
  assert_true(tm_credit_receive(&in, before));
  tm_credit_complete(&in, before);
  while (tm_credit_receive(&in, TM_STREAM_PIECE))
    assert_int_equal(tm_credit_grant(&in), 0);
  tm_credit_consume(&in, LIMIT / 4);
  assert_int_equal(tm_credit_grant(&in), LIMIT / 2); /* and the pieces that came */
}

struct message {
  size_t len, sent;
};

/* Messages of any size, several at a time; the caller consumes now and then. If the sender cannot
 * go on, nothing that waits for the caller may be needed for it beyond half the limit. */
static void no_message_waits_forever(void **state)
{
  struct random r = { 3 };
  struct tm_credit_in in;
  struct tm_credit_out out;
  struct message open[4] = { { 0, 0 } };
  size_t waiting = 0; /* for the caller */
  int sent = 0;
  tm_credit_in_init(&in, LIMIT);
  tm_credit_out_init(&out, LIMIT);
  while (sent < 20000) {
    struct message *m = &open[random_below(&r, 4)];
    if (m->sent == m->len)
      *m = (struct message) { 32 + random_below(&r, random_below(&r, 20) == 0 ? 900000 : 3000), 0 };
    size_t n = m->len - m->sent < TM_STREAM_PIECE ? m->len - m->sent : TM_STREAM_PIECE;
    if (tm_credit_can_send(&out, n)) {
      tm_credit_send(&out, n);
      assert_true(tm_credit_receive(&in, n));
      m->sent += n;
      if (m->sent == m->len) {
        tm_credit_complete(&in, m->len);
        waiting += m->len;
        sent++;
      }
    } else {
      assert_true(waiting > LIMIT / 2);
    }
    if (random_below(&r, 8) == 0 || (waiting > LIMIT / 2 && !tm_credit_can_send(&out, n))) {
      size_t some = random_below(&r, waiting + 1);
      tm_credit_consume(&in, some);
      waiting -= some;
    }
    uint64_t granted = tm_credit_grant(&in);
    assert_true(tm_credit_granted(&out, granted));
  }
}

UNIT_HOOKS(.limit_s = 30);
UNIT_TESTS({
    cmocka_unit_test(it_is_granted_in_large_amounts),
    cmocka_unit_test(more_than_the_limit_is_refused),
    cmocka_unit_test(more_than_was_sent_is_not_granted),
    cmocka_unit_test(a_caller_that_does_not_consume_gets_little_more),
    cmocka_unit_test(a_long_message_waits_for_those_before_it),
    cmocka_unit_test(no_message_waits_forever),
});
