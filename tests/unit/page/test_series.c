/* Numbers over time: rates of bins, gauges with gaps. */
#include "unit.h"

#include <math.h>

#include "base/time.h"
#include "page/series.h"

static void is_near(double is, double must)
{
  if (!(fabs(is - must) < 0.01))
    fail_msg("%.9f, not %.9f", is, must);
}

static void bins_become_rates(void **state)
{
  (void)state;
  struct tm_bins b;
  struct tm_series s;
  tm_bins_init(&b, 50 * TM_MS, 2, 64);
  for (int64_t i = 0; i < 40; i++)
    tm_bins_add(&b, 1, (50 + i) * TM_MS, 3);
  tm_series_of_bins(&s, &b, 1, 10, 90 * TM_MS, 1e9);
  assert_int_equal(s.len, 10);
  assert_int_equal(s.width_ns, 4 * TM_MS);
  is_near(s.at[0], 3000);
  is_near(s.at[9], 3000);
  tm_series_release(&s);
  tm_series_of_bins(&s, &b, 0, 10, 90 * TM_MS, 1e9);
  is_near(s.at[4], 0);
  tm_series_release(&s);
  tm_bins_release(&b);
}

static void a_bin_that_is_not_over_counts_its_time_so_far(void **state)
{
  (void)state;
  struct tm_bins b;
  struct tm_series s;
  tm_bins_init(&b, 0, 1, 64);
  for (int64_t i = 0; i < 18; i++)
    tm_bins_add(&b, 0, i * TM_MS, 1);
  tm_series_of_bins(&s, &b, 0, 3, 18 * TM_MS, 1e9);
  assert_int_equal(s.len, 3);
  assert_int_equal(s.width_ns, 8 * TM_MS);
  is_near(s.at[2], 1000);
  tm_series_release(&s);
  /* Nothing since: that is zero, not the end. */
  tm_series_of_bins(&s, &b, 0, 10, 60 * TM_MS, 1e9);
  assert_int_equal(s.len, 8);
  is_near(s.at[7], 0);
  tm_series_release(&s);
  tm_bins_release(&b);
}

static void few_events_are_counted_rather_than_made_a_rate(void **state)
{
  (void)state;
  struct tm_bins b;
  struct tm_series s;
  tm_bins_init(&b, 0, 1, 64);
  tm_bins_add(&b, 0, 9 * TM_MS, 1);
  tm_bins_add(&b, 0, 11 * TM_MS, 2);
  assert_false(tm_series_of_events(&s, &b, 0, 512, 12 * TM_MS));
  is_near(s.at[9], 1);
  is_near(s.at[11], 2);
  tm_series_release(&s);
  tm_bins_release(&b);
  tm_bins_init(&b, 0, 1, 16384);
  tm_bins_add(&b, 0, 29 * TM_S, 5);
  assert_false(tm_series_of_events(&s, &b, 0, 512, 30 * TM_S));
  assert_true(s.len <= TM_SERIES_SHORT && s.width_ns < TM_S);
  tm_series_release(&s);
  assert_true(tm_series_of_events(&s, &b, 0, 512, 80 * TM_S));
  assert_true(s.width_ns >= TM_S);
  tm_series_release(&s);
  tm_bins_release(&b);
}

/* One item in the first millisecond of the last point is not a thousand per second. */
static void a_short_end_is_not_a_peak(void **state)
{
  (void)state;
  struct tm_bins b;
  struct tm_series s;
  int64_t end = 70 * (INT64_C(1024) * TM_MS) + TM_MS;
  tm_bins_init(&b, 0, 1, 16384);
  for (int64_t i = 0; i <= 70; i++)
    tm_bins_add(&b, 0, i * 1024 * TM_MS, 1);
  assert_true(tm_series_of_events(&s, &b, 0, 512, end));
  assert_int_equal(s.len, 71);
  is_near(tm_series_look(&s).max, 2 / 1.025);
  is_near(s.at[70], 2 / 1.025);
  tm_series_release(&s);
  tm_bins_release(&b);
}

static void no_bins_are_no_points(void **state)
{
  (void)state;
  struct tm_bins b;
  struct tm_series s;
  tm_bins_init(&b, 0, 1, 64);
  tm_series_of_bins(&s, &b, 0, 10, 0, 1e9);
  assert_int_equal(s.len, 0);
  assert_int_equal(tm_series_look(&s).len, 0);
  tm_series_release(&s);
  tm_bins_release(&b);
}

struct fixture {
  struct tm_axis axis;
  struct tm_gauge gauge;
  struct tm_series s;
};

/* A session of 0 to 40 s and one of 60 to 100 s, samples at the given seconds, points of 1 s. */
static void measure(struct fixture *f, const int *seconds, size_t n)
{
  struct tm_axis_span spans[] = { { 0, 40 * TM_S }, { 60 * TM_S, 100 * TM_S } };
  tm_axis_init(&f->axis, 0, 100 * TM_S, spans, 2);
  tm_gauge_init(&f->gauge, 0, 131072);
  for (size_t i = 0; i < n; i++)
    tm_gauge_add(&f->gauge, seconds[i] * TM_S + TM_S / 2, 10 * seconds[i]);
  tm_series_init(&f->s, 0, TM_S, 100);
  tm_series_add_gauge(&f->s, &f->gauge, &f->axis, 1);
}

static void release(struct fixture *f)
{
  tm_axis_release(&f->axis);
  tm_gauge_release(&f->gauge);
  tm_series_release(&f->s);
}

static void between_two_samples_is_a_line(void **state)
{
  (void)state;
  struct fixture f;
  measure(&f, (int[]) { 2, 4, 8 }, 3);
  assert_true(isnan(f.s.at[1]));
  is_near(f.s.at[2], 20);
  is_near(f.s.at[3], 30);
  is_near(f.s.at[6], 60);
  assert_true(isnan(f.s.at[9]));
  is_near(f.s.largest, 80);
  release(&f);
}

static void a_hole_in_the_samples_is_a_gap(void **state)
{
  (void)state;
  struct fixture f;
  measure(&f, (int[]) { 2, 4, 19, 21, 37, 38 }, 6);
  is_near(f.s.at[12], 120); /* 7.5 times as far: the monitor has slowed down */
  assert_true(isnan(f.s.at[30]));
  release(&f);
}

static void between_sessions_is_a_gap(void **state)
{
  (void)state;
  struct fixture f;
  measure(&f, (int[]) { 20, 39, 61, 62 }, 4);
  is_near(f.s.at[30], 300);
  assert_true(isnan(f.s.at[50]));
  assert_true(isnan(f.s.at[40]));
  release(&f);
}

static void nodes_add_up_where_they_were_measured(void **state)
{
  (void)state;
  struct fixture f;
  struct tm_gauge other;
  measure(&f, (int[]) { 2, 4 }, 2);
  tm_gauge_init(&other, 0, 131072);
  tm_gauge_add(&other, 4 * TM_S + TM_S / 2, 1000);
  tm_gauge_add(&other, 5 * TM_S + TM_S / 2, 1000);
  tm_series_add_gauge(&f.s, &other, &f.axis, 2);
  is_near(f.s.at[3], 30);
  is_near(f.s.at[4], 2040);
  is_near(f.s.at[5], 2000);
  tm_gauge_release(&other);
  release(&f);
}

static void facts_leave_gaps_out(void **state)
{
  (void)state;
  struct tm_series s;
  tm_series_init(&s, 0, 10, 6);
  s.at[1] = 5;
  s.at[2] = 0;
  s.at[4] = 9;
  struct tm_series_facts f = tm_series_look(&s);
  assert_int_equal(f.len, 3);
  is_near(f.max, 9);
  is_near(f.median, 5);
  is_near(f.first, 5);
  is_near(f.last, 9);
  assert_int_equal(f.max_ns, 45);
  tm_series_release(&s);
}

UNIT_TESTS({
    cmocka_unit_test(bins_become_rates),
    cmocka_unit_test(a_bin_that_is_not_over_counts_its_time_so_far),
    cmocka_unit_test(few_events_are_counted_rather_than_made_a_rate),
    cmocka_unit_test(a_short_end_is_not_a_peak),
    cmocka_unit_test(no_bins_are_no_points),
    cmocka_unit_test(between_two_samples_is_a_line),
    cmocka_unit_test(a_hole_in_the_samples_is_a_gap),
    cmocka_unit_test(between_sessions_is_a_gap),
    cmocka_unit_test(nodes_add_up_where_they_were_measured),
    cmocka_unit_test(facts_leave_gaps_out),
});
