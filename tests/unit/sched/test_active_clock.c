/* test_active_clock.c - which time counts, on a clock that the test sets. */
#include "unit.h"

#include <string.h>

#include "base/time.h"
#include "sched/active_clock.h"

static void test_looks_in_short_distances_count_in_full(void **state)
{
  struct tm_active_clock a;

  tm_active_clock_init(&a, 500);
  for (int64_t i = 1; i <= 100; i++)
    assert_int_equal(tm_active_clock_look(&a, 500 + i * 100 * TM_MS), i * 100 * TM_MS);
}

static void test_of_a_gap_a_second_counts(void **state)
{
  struct tm_active_clock a;

  tm_active_clock_init(&a, 0);
  assert_int_equal(tm_active_clock_look(&a, 3600 * TM_S), TM_S);
  assert_int_equal(tm_active_clock_look(&a, 3600 * TM_S + 10), TM_S + 10);
}

static void test_a_clock_that_goes_back_takes_nothing_away(void **state)
{
  struct tm_active_clock a;

  tm_active_clock_init(&a, 10 * TM_S);
  assert_int_equal(tm_active_clock_look(&a, 5 * TM_S), 0);
  assert_int_equal(tm_active_clock_look(&a, 5 * TM_S + 7), 7);
}

static void a_clock_that_is_paused_stands_still(void **state)
{
  struct tm_active_clock a;
  tm_active_clock_init(&a, 0);
  tm_active_clock_pause(&a, true, 10); /* it went until then */
  assert_int_equal(tm_active_clock_look(&a, 1000), 10);
  tm_active_clock_pause(&a, true, 1500);
  tm_active_clock_pause(&a, false, 2000);
  assert_int_equal(tm_active_clock_look(&a, 2003), 13);
}

UNIT_TESTS({
    cmocka_unit_test(a_clock_that_is_paused_stands_still),
    cmocka_unit_test(test_looks_in_short_distances_count_in_full),
    cmocka_unit_test(test_of_a_gap_a_second_counts),
    cmocka_unit_test(test_a_clock_that_goes_back_takes_nothing_away),
});
