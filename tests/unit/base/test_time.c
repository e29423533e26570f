/* test_time.c - times before and after 1970 and at the ends of int64_t; durations round up. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"

static void assert_written(void (*write)(struct tm_buf *, int64_t), int64_t ns,
                           const char *expected)
{
  struct tm_buf b = TM_BUF_NONE;
  write(&b, ns);
  assert_string_equal(tm_buf_str(&b), expected);
  tm_buf_release(&b);
}

static void known_moments(void **state)
{
  int64_t ns = INT64_C(1769903998) * TM_S + 123456789;
  assert_written(tm_time_log, ns, "2026-01-31 23:59:58,123");
  assert_written(tm_time_second, ns, "2026-01-31 23:59:58");
  assert_written(tm_time_iso, ns, "2026-01-31T23:59:58.123456Z");
  assert_written(tm_time_compact, ns, "20260131-235958");
  assert_written(tm_time_iso, 0, "1970-01-01T00:00:00.000000Z");
}

static void before_1970(void **state)
{
  assert_written(tm_time_iso, -1, "1969-12-31T23:59:59.999999Z");
  assert_written(tm_time_log, -TM_MS, "1969-12-31 23:59:59,999");
  assert_written(tm_time_log, -TM_S, "1969-12-31 23:59:59,000");
  assert_written(tm_time_compact, -86400 * TM_S, "19691231-000000");
}

static void ends_of_the_range(void **state)
{
  assert_written(tm_time_iso, INT64_MAX, "2262-04-11T23:47:16.854775Z");
  assert_written(tm_time_iso, INT64_MIN, "1677-09-21T00:12:43.145224Z");
}

static void agrees_with_gmtime_on_every_day(void **state)
{
  for (int64_t day = -106000; day <= 106000; day++) { /* 1679 to 2260 */
    char expected[32];
    struct tm_buf b = TM_BUF_NONE;
    time_t seconds = (time_t)(day * 86400 + (day & 1 ? 86399 : 0));
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(expected, sizeof expected, "%Y%m%d-%H%M%S", &parts);
    tm_time_compact(&b, (int64_t)seconds * TM_S);
    if (strcmp(b.data, expected) != 0)
      fail_msg("'%s' is not '%s'", b.data, expected);
    tm_buf_release(&b);
  }
}

static void days_are_counted_back(void **state)
{
  for (int64_t day = -719528; day <= 106000; day++) { /* 0000-01-01 to 2260 */
    time_t seconds = (time_t)(day * 86400);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    assert_int_equal(tm_time_days(parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday), day);
  }
  assert_int_equal(tm_time_days(2026, 2, 31), tm_time_days(2026, 3, 3));
}

static void durations(void **state)
{
  static const struct {
    int64_t ns;
    const char *expected;
  } cases[] = {
    { 0, "0.00 s" },
    { 420 * TM_MS, "0.42 s" },
    { 4999999, "0.00 s" },
    { 5000000, "0.01 s" },
    { 9994 * TM_MS, "9.99 s" },
    { 9995 * TM_MS, "10.0 s" },
    { 12300 * TM_MS, "12.3 s" },
    { 59949 * TM_MS, "59.9 s" },
    { 59960 * TM_MS, "1 min 00 s" },
    { 185 * TM_S, "3 min 05 s" },
    { 3599 * TM_S, "59 min 59 s" },
    { 3599600 * TM_MS, "1 h 00 min" },
    { 7380 * TM_S, "2 h 03 min" },
    { -420 * TM_MS, "-0.42 s" },
    { -1, "0.00 s" },
    { INT64_MAX, "2562047 h 47 min" },
    { INT64_MIN, "-2562047 h 47 min" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_written(tm_time_duration, cases[i].ns, cases[i].expected);
}

static void short_durations_have_their_unit(void **state)
{
  static const struct {
    int64_t ns;
    const char *expected;
  } cases[] = {
    { 0, "0 µs" },
    { 499, "0 µs" },
    { 420 * TM_US, "420 µs" },
    { 999499, "999 µs" },
    { 999500, "1.0 ms" },
    { 5240 * TM_US, "5.2 ms" },
    { 9949999, "9.9 ms" },
    { 9950 * TM_US, "10 ms" },
    { 99499 * TM_US, "99 ms" },
    { 99500 * TM_US, "0.10 s" },
    { 420 * TM_MS, "0.42 s" },
    { -52 * TM_MS, "-52 ms" },
    { -1, "0 µs" },
    { INT64_MIN, "-2562047 h 47 min" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_written(tm_time_precise, cases[i].ns, cases[i].expected);
}

static void clock_times(void **state)
{
  assert_written(tm_time_clock, -1, "00:00:00");
  assert_written(tm_time_clock, 999 * TM_MS, "00:00:00");
  assert_written(tm_time_clock, 760 * TM_S, "00:12:40");
  assert_written(tm_time_clock, 86400 * TM_S, "24:00:00");
  assert_written(tm_time_clock, INT64_MAX, "2562047:47:16");
}

UNIT_TESTS({
    cmocka_unit_test(known_moments),
    cmocka_unit_test(before_1970),
    cmocka_unit_test(ends_of_the_range),
    cmocka_unit_test(agrees_with_gmtime_on_every_day),
    cmocka_unit_test(days_are_counted_back),
    cmocka_unit_test(durations),
    cmocka_unit_test(short_durations_have_their_unit),
    cmocka_unit_test(clock_times),
});
