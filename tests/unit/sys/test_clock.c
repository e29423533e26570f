/* test_clock.c - the clocks run, and each is the clock that its name says. */
#include "unit.h"

#include <stdlib.h>
#include <time.h>

#include "base/time.h"
#include "sys/clock.h"

static void mono_never_goes_back(void **state)
{
  int64_t last = tm_clock_mono_ns();
  assert_true(last > 0);
  for (int i = 0; i < 10000; i++) {
    int64_t now = tm_clock_mono_ns();
    assert_true(now >= last);
    last = now;
  }
}

static void mono_moves(void **state)
{
  int64_t first = tm_clock_mono_ns();
  while (tm_clock_mono_ns() == first)
    ;
  assert_true(tm_clock_mono_ns() > first);
}

static void wall_is_the_time_of_day(void **state)
{
  time_t before = time(NULL);
  int64_t wall = tm_clock_wall_ns();
  time_t after = time(NULL);
  /* time() may be a kernel tick behind. */
  assert_in_range(wall / TM_S, before, after + 1);
}

static void a_pause_is_never_shorter(void **state)
{
  int64_t start = tm_clock_mono_ns();
  tm_clock_pause(TM_MS / 2);
  assert_true(tm_clock_mono_ns() - start >= TM_MS / 2);
}

static void the_offset_of_local_time_is_that_of_the_moment(void **state)
{
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  assert_int_equal(tm_clock_utc_offset_s(1768478400 * TM_S), 3600); /* January 2026 */
  assert_int_equal(tm_clock_utc_offset_s(1784116800 * TM_S), 7200); /* July */
  setenv("TZ", "UTC0", 1);
  tzset();
  assert_int_equal(tm_clock_utc_offset_s(1784116800 * TM_S), 0);
}

UNIT_TESTS({
    cmocka_unit_test(mono_never_goes_back),
    cmocka_unit_test(mono_moves),
    cmocka_unit_test(wall_is_the_time_of_day),
    cmocka_unit_test(a_pause_is_never_shorter),
    cmocka_unit_test(the_offset_of_local_time_is_that_of_the_moment),
});
