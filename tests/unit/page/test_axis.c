/* The axes of pictures: gaps that are folded, places of moments, ticks. */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/time.h"
#include "page/axis.h"

#define MIN_NS (60 * TM_S)

static void is_near(double is, double must)
{
  if (fabs(is - must) > 1e-9)
    fail_msg("%.12f, not %.12f", is, must);
}

static void time_without_a_gap_is_even(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_axis_span one = { 100 * TM_S, 300 * TM_S };
  tm_axis_init(&a, 100 * TM_S, 300 * TM_S, &one, 1);
  assert_int_equal(a.pieces.len, 1);
  is_near(tm_axis_x(&a, 100 * TM_S), 0);
  is_near(tm_axis_x(&a, 150 * TM_S), 0.25);
  is_near(tm_axis_x(&a, 300 * TM_S), 1);
  is_near(tm_axis_x(&a, 0), 0);
  is_near(tm_axis_x(&a, 900 * TM_S), 1);
  assert_int_equal(tm_axis_at(&a, 0.25), 150 * TM_S);
  tm_axis_release(&a);
}

static void a_gap_longer_than_a_twentieth_is_folded(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_axis_span two[] = { { 60 * TM_S, 100 * TM_S }, { 0, 54 * TM_S } };
  tm_axis_init(&a, 0, 100 * TM_S, two, 2);
  assert_int_equal(a.pieces.len, 3);
  assert_true(a.pieces.at[1].is_folded);
  is_near(a.pieces.at[1].to - a.pieces.at[1].from, TM_AXIS_NARROW);
  is_near(tm_axis_x(&a, 27 * TM_S), (1 - TM_AXIS_NARROW) * 27 / 94);
  is_near(tm_axis_x(&a, 57 * TM_S), (a.pieces.at[1].from + a.pieces.at[1].to) / 2);
  is_near((double)tm_axis_at(&a, tm_axis_x(&a, 80 * TM_S)) / TM_S, 80);
  tm_axis_release(&a);

  two[1].to_ns = 55 * TM_S; /* exactly a twentieth */
  tm_axis_init(&a, 0, 100 * TM_S, two, 2);
  assert_int_equal(a.pieces.len, 1);
  assert_true(tm_axis_has(&a, 10, 20));
  assert_false(tm_axis_has(&a, 56 * TM_S, 59 * TM_S));
  tm_axis_release(&a);
}

/* A gap of ten hours makes one of twenty minutes look short; when it is folded, both are long. */
static void what_is_folded_does_not_count_as_length(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_axis_span s[] = { { 0, 10 * MIN_NS },
                              { 610 * MIN_NS, 620 * MIN_NS },
                              { 640 * MIN_NS, 650 * MIN_NS } };
  tm_axis_init(&a, 0, 650 * MIN_NS, s, 3);
  assert_int_equal(a.pieces.len, 5);
  assert_true(a.pieces.at[3].is_folded);
  is_near(a.pieces.at[4].to, 1);
  tm_axis_release(&a);
}

static void many_sessions_leave_room_for_themselves(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_axis_span s[100];
  for (int64_t i = 0; i < 100; i++)
    s[i] = (struct tm_axis_span) { i * 1000 * TM_S, i * 1000 * TM_S + TM_S };
  tm_axis_init(&a, 0, 99001 * TM_S, s, 100);
  double folded = 0;
  for (size_t i = 0; i < a.pieces.len; i++)
    folded += a.pieces.at[i].is_folded ? a.pieces.at[i].to - a.pieces.at[i].from : 0;
  assert_true(folded <= TM_AXIS_FOLDS + 1e-9);
  for (size_t i = 1; i < a.pieces.len; i++)
    assert_true(a.pieces.at[i].from >= a.pieces.at[i - 1].from);
  tm_axis_release(&a);
}

static void sessions_that_overlap_are_one_span(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_axis_span s[] = { { 0, 50 }, { 20, 30 }, { 40, 80 }, { 90, 90 }, { 95, 300 } };
  tm_axis_init(&a, 0, 100, s, 5);
  assert_int_equal(a.spans.len, 2);
  assert_int_equal(a.spans.at[0].to_ns, 80);
  assert_int_equal(a.spans.at[1].to_ns, 100);
  tm_axis_release(&a);
}

static void an_axis_without_length_or_sessions_works(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_tick ticks[TM_TICKS_MAX];
  const char *unit;
  tm_axis_init(&a, 5, 5, NULL, 0);
  is_near(tm_axis_x(&a, 5), 0);
  assert_true(tm_axis_has(&a, 5, 6));
  assert_int_equal(tm_axis_time_ticks(&a, 8, ticks, &unit), 1);
  tm_axis_release(&a);
}

static void has_ticks(int64_t total_ns, size_t want, const char *words, const char *unit_words)
{
  struct tm_axis a;
  struct tm_tick ticks[TM_TICKS_MAX];
  struct tm_buf text = TM_BUF_NONE;
  const char *unit;
  tm_axis_init(&a, 0, total_ns, NULL, 0);
  size_t n = tm_axis_time_ticks(&a, want, ticks, &unit);
  for (size_t i = 0; i < n; i++)
    tm_buf_printf(&text, "%s%s", i > 0 ? " " : "", ticks[i].text);
  assert_string_equal(tm_buf_str(&text), words);
  assert_string_equal(unit, unit_words);
  tm_buf_release(&text);
  tm_axis_release(&a);
}

static void ticks_of_time_are_round(void **state)
{
  (void)state;
  has_ticks(188 * MIN_NS, 7, "0:00 0:30 1:00 1:30 2:00 2:30 3:00", "h:min since the start");
  has_ticks(6100 * TM_MS, 7, "0 1 2 3 4 5 6", "s since the start");
  has_ticks(90 * TM_S, 4, "0:00 0:30 1:00 1:30", "min:s since the start");
  has_ticks(45 * TM_MS, 5, "0 10 20 30 40", "ms since the start");
  has_ticks(4 * 24 * 60 * MIN_NS, 4, "0 1 2 3 4", "days since the start");
}

static void ticks_beside_a_fold_do_not_overlap(void **state)
{
  (void)state;
  struct tm_axis a;
  struct tm_axis_span s[] = { { 0, 61 * MIN_NS }, { 119 * MIN_NS, 180 * MIN_NS } };
  struct tm_tick ticks[TM_TICKS_MAX];
  const char *unit;
  tm_axis_init(&a, 0, 180 * MIN_NS, s, 2);
  size_t n = tm_axis_time_ticks(&a, 6, ticks, &unit);
  assert_true(n >= 5);
  for (size_t i = 1; i < n; i++)
    assert_true(ticks[i].at - ticks[i - 1].at >= 0.6 / 6 - 1e-9);
  tm_axis_release(&a);
}

static void has_values(double top, const char *words)
{
  struct tm_tick ticks[TM_TICKS_MAX];
  struct tm_buf text = TM_BUF_NONE;
  size_t n = tm_axis_value_ticks(top, 3, ticks);
  for (size_t i = 0; i < n; i++) {
    tm_buf_printf(&text, "%s%s", i > 0 ? " " : "", ticks[i].text);
    assert_true(ticks[i].at > 0 && ticks[i].at <= 1);
  }
  assert_string_equal(tm_buf_str(&text), words);
  tm_buf_release(&text);
}

static void ticks_of_values_are_round(void **state)
{
  (void)state;
  has_values(520, "200 400");
  has_values(30, "10 20 30");
  has_values(100, "50 100");
  has_values(34, "10 20 30");
  has_values(1, "0.5 1");
  has_values(0.3, "0.1 0.2 0.3");
  has_values(9, "2.5 5.0 7.5");
  has_values(300000, "0.1 M 0.2 M 0.3 M");
  has_values(30000, "10,000 20,000 30,000");
}

static void has_moment(int64_t from_ns, int64_t to_ns, int64_t ns, const char *words)
{
  struct tm_axis a;
  struct tm_buf b = TM_BUF_NONE;
  tm_axis_init(&a, from_ns, to_ns, NULL, 0);
  a.origin_ns = 0;
  tm_axis_add_moment(&b, &a, ns);
  assert_string_equal(tm_buf_str(&b), words);
  tm_buf_release(&b);
  tm_axis_release(&a);
}

static void moments_have_the_form_of_their_axis(void **state)
{
  (void)state;
  has_moment(0, 2 * 60 * MIN_NS, 3725 * TM_S, "1:02:05");
  has_moment(0, 2 * MIN_NS, 65 * TM_S, "1:05");
  has_moment(0, 6 * TM_S, 5250 * TM_MS, "5.2 s");
  has_moment(0, TM_S, 50 * TM_MS, "0.05 s");
  has_moment(0, 400 * TM_MS, 51 * TM_MS, "51 ms");
  has_moment(0, 12 * TM_MS, 5250 * TM_US, "5.2 ms");
}

/* Also of a job of a few ms, and of a narrow part of a long one. */
static void moments_of_equal_parts_differ(void **state)
{
  (void)state;
  static const int64_t spans[][2] = { { 0, 3 * TM_MS },
                                      { 0, 90 * TM_MS },
                                      { 0, 999 * TM_MS },
                                      { 0, TM_S },
                                      { 0, 25 * TM_S },
                                      { 0, 61 * TM_S },
                                      { 7200 * TM_S, 7201 * TM_S },
                                      { 90 * TM_S, 90 * TM_S + 20 * TM_US } };
  for (size_t i = 0; i < TM_COUNT_OF(spans); i++) {
    struct tm_axis a;
    struct tm_buf b = TM_BUF_NONE, last = TM_BUF_NONE;
    tm_axis_init(&a, spans[i][0], spans[i][1], NULL, 0);
    a.origin_ns = 0;
    for (int k = 0; k < TM_AXIS_PARTS; k++) {
      tm_buf_clear(&b);
      tm_axis_add_moment(&b, &a, tm_axis_at(&a, k / (double)TM_AXIS_PARTS));
      assert_string_not_equal(tm_buf_str(&b), tm_buf_str(&last));
      tm_buf_clear(&last);
      tm_buf_add_str(&last, tm_buf_str(&b));
    }
    tm_buf_release(&b);
    tm_buf_release(&last);
    tm_axis_release(&a);
  }
}

UNIT_TESTS({
    cmocka_unit_test(time_without_a_gap_is_even),
    cmocka_unit_test(a_gap_longer_than_a_twentieth_is_folded),
    cmocka_unit_test(what_is_folded_does_not_count_as_length),
    cmocka_unit_test(many_sessions_leave_room_for_themselves),
    cmocka_unit_test(sessions_that_overlap_are_one_span),
    cmocka_unit_test(an_axis_without_length_or_sessions_works),
    cmocka_unit_test(ticks_of_time_are_round),
    cmocka_unit_test(ticks_beside_a_fold_do_not_overlap),
    cmocka_unit_test(ticks_of_values_are_round),
    cmocka_unit_test(moments_have_the_form_of_their_axis),
    cmocka_unit_test(moments_of_equal_parts_differ),
});
