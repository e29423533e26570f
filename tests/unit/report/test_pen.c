/* test_pen.c - the fast text writer gives the same text as base/. */
#include "unit.h"

#include "report_fixture.h"

#include "report/pen.h"

static const char *int_text(struct tm_buf *b, int64_t n)
{
  struct tm_pen p;
  tm_buf_clear(b);
  tm_pen_start(&p, b, TM_PEN_INT);
  tm_pen_add_int(&p, n);
  tm_pen_stop(&p);
  return tm_buf_str(b);
}

static const char *seconds_text(struct tm_buf *b, int64_t ns)
{
  struct tm_pen p;
  tm_buf_clear(b);
  tm_pen_start(&p, b, TM_PEN_SECONDS);
  tm_pen_add_seconds(&p, ns);
  tm_pen_stop(&p);
  return tm_buf_str(b);
}

static void integers_are_whole(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  assert_string_equal(int_text(&b, 0), "0");
  assert_string_equal(int_text(&b, 9), "9");
  assert_string_equal(int_text(&b, 10), "10");
  assert_string_equal(int_text(&b, -7), "-7");
  assert_string_equal(int_text(&b, INT64_MAX), "9223372036854775807");
  assert_string_equal(int_text(&b, INT64_MIN), "-9223372036854775808");
  tm_buf_release(&b);
}

static void seconds_have_six_digits(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  assert_string_equal(seconds_text(&b, 0), "0.000000");
  assert_string_equal(seconds_text(&b, 1999), "0.000001");
  assert_string_equal(seconds_text(&b, 12345678901), "12.345678");
  assert_string_equal(seconds_text(&b, -5), "0.000000");
  assert_string_equal(seconds_text(&b, INT64_MAX), "9223372036.854775");
  tm_buf_release(&b);
}

static void moments_are_those_of_the_calendar(void **state)
{
  static const int64_t moments[] = {
    FIXTURE_WALL,     FIXTURE_WALL + 1, FIXTURE_WALL + 2 * TM_S, FIXTURE_WALL, 0,
    86400 * TM_S - 1, INT64_MAX
  };
  struct tm_stamp s;
  tm_stamp_init(&s);
  for (size_t i = 0; i < TM_COUNT_OF(moments); i++) {
    struct tm_buf got = TM_BUF_NONE, expected = TM_BUF_NONE;
    struct tm_pen p;
    tm_pen_start(&p, &got, 2 * TM_PEN_MOMENT);
    tm_pen_add_log(&p, &s, moments[i]);
    tm_pen_add_iso(&p, &s, moments[i]);
    tm_pen_stop(&p);
    tm_time_log(&expected, moments[i]);
    tm_time_iso(&expected, moments[i]);
    assert_string_equal(tm_buf_str(&got), tm_buf_str(&expected));
    tm_buf_release(&got);
    tm_buf_release(&expected);
  }
}

static void a_moment_before_the_epoch_is_the_epoch(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_stamp s;
  struct tm_pen p;
  tm_stamp_init(&s);
  tm_pen_start(&p, &b, TM_PEN_MOMENT);
  tm_pen_add_log(&p, &s, -5);
  tm_pen_stop(&p);
  assert_string_equal(tm_buf_str(&b), "1970-01-01 00:00:00,000");
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test(integers_are_whole),
    cmocka_unit_test(seconds_have_six_digits),
    cmocka_unit_test(moments_are_those_of_the_calendar),
    cmocka_unit_test(a_moment_before_the_epoch_is_the_epoch),
});
