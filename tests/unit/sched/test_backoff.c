/* test_backoff.c - delays that double, and their jitter. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sched/backoff.h"

static void expect_within(int64_t delay_ns, int64_t whole_ns)
{
  assert_true(delay_ns <= whole_ns);
  assert_true(delay_ns >= whole_ns * 3 / 4);
}

static void test_it_doubles_up_to_the_longest(void **state)
{
  struct tm_backoff b = { .first_ns = 500 * TM_MS, .max_ns = 60 * TM_S };
  static const double whole_s[] = { 0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60 };

  assert_int_equal(tm_backoff_delay(&b, 0, 1), 0);
  for (int64_t i = 0; i < 10; i++)
    for (uint64_t seed = 0; seed < 50; seed++)
      expect_within(tm_backoff_delay(&b, i + 1, seed), (int64_t)(whole_s[i] * 1e9));
  expect_within(tm_backoff_delay(&b, INT64_MAX, 7), 60 * TM_S);
}

static void test_jitter_is_the_seed_s_and_spreads(void **state)
{
  struct tm_backoff b = { .first_ns = 1000, .max_ns = 1000 };
  int in_quarter[4] = { 0 };

  for (uint64_t seed = 0; seed < 400; seed++) {
    int64_t delay = tm_backoff_delay(&b, 1, seed);
    assert_int_equal(delay, tm_backoff_delay(&b, 1, seed));
    assert_true(delay >= 750 && delay <= 1000);
    in_quarter[(delay - 750) * 4 / 251]++;
  }
  for (int i = 0; i < 4; i++)
    assert_true(in_quarter[i] > 50); /* of 100 */
}

static void test_without_retry_delay_only_one_lost_with_its_worker_waits(void **state)
{
  assert_int_equal(tm_backoff_retry(-1, false, 1, 3), 0);
  assert_int_equal(tm_backoff_retry(-1, false, 5, 3), 0);
  expect_within(tm_backoff_retry(-1, true, 1, 3), 500 * TM_MS);
  expect_within(tm_backoff_retry(-1, true, 3, 3), 2 * TM_S);
  expect_within(tm_backoff_retry(-1, true, 100, 3), 60 * TM_S);
}

static void test_a_given_delay_holds_for_all(void **state)
{
  for (int i = 0; i < 2; i++) {
    expect_within(tm_backoff_retry(5 * TM_S, i == 1, 1, 9), 5 * TM_S);
    expect_within(tm_backoff_retry(5 * TM_S, i == 1, 2, 9), 10 * TM_S);
    expect_within(tm_backoff_retry(5 * TM_S, i == 1, 9, 9), 60 * TM_S);
    expect_within(tm_backoff_retry(90 * TM_S, i == 1, 2, 9), 90 * TM_S);
    assert_int_equal(tm_backoff_retry(0, i == 1, 9, 9), 0);
  }
}

UNIT_TESTS({
    cmocka_unit_test(test_it_doubles_up_to_the_longest),
    cmocka_unit_test(test_jitter_is_the_seed_s_and_spreads),
    cmocka_unit_test(test_without_retry_delay_only_one_lost_with_its_worker_waits),
    cmocka_unit_test(test_a_given_delay_holds_for_all),
});
