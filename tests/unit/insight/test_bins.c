/* test_bins.c - sums over time, and measured quantities, in bins that become wider. */
#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"
#include "insight/gauges.h"
#include "model_text.h"

#define MS INT64_C(1000000)

static void amounts_are_in_the_bin_of_their_moment(void **state)
{
  struct tm_bins b;
  tm_bins_init(&b, 5 * MS, 2, 4);
  tm_bins_add(&b, 0, 1 * MS, 7); /* before the first bin */
  tm_bins_add(&b, 0, 5 * MS, 1);
  tm_bins_add(&b, 1, 9 * MS - 1, 3);
  tm_bins_add(&b, 1, 8 * MS, -3);
  assert_int_equal(tm_bins_at(&b, 0, 0), 8);
  assert_int_equal(tm_bins_at(&b, 1, 3), 3);
  assert_int_equal(tm_bins_at(&b, 1, 4), 0);
  assert_int_equal(b.len, 4);
  tm_bins_add(&b, 1, 9 * MS, 4); /* needs wider bins */
  assert_int_equal(b.width_ns, 2 * MS);
  assert_int_equal(b.len, 3);
  assert_int_equal(tm_bins_at(&b, 0, 0), 8);
  assert_int_equal(tm_bins_at(&b, 1, 1), 3);
  assert_int_equal(tm_bins_at(&b, 1, 2), 4);
  tm_bins_release(&b);
}

static void a_span_is_divided_among_its_bins(void **state)
{
  struct tm_bins b;
  tm_bins_init(&b, 0, 1, 8);
  tm_bins_add_span(&b, 0, MS / 2, 3 * MS + 1);
  tm_bins_add_span(&b, 0, 4 * MS, 4 * MS);
  tm_bins_add_span(&b, 0, 4 * MS, 3 * MS);
  assert_int_equal(tm_bins_at(&b, 0, 0), MS / 2);
  assert_int_equal(tm_bins_at(&b, 0, 1), MS);
  assert_int_equal(tm_bins_at(&b, 0, 2), MS);
  assert_int_equal(tm_bins_at(&b, 0, 3), 1);
  assert_int_equal(b.len, 4);
  tm_bins_release(&b);
  tm_bins_init(&b, 2 * MS, 1, 8);
  tm_bins_add_span(&b, 0, INT64_MIN, 3 * MS); /* begins before the bins */
  assert_int_equal(tm_bins_at(&b, 0, 0), 3 * MS);
  tm_bins_release(&b);
}

static void hostile_moments_and_amounts_do_no_harm(void **state)
{
  struct tm_bins b;
  tm_bins_init(&b, 0, 1, 2);
  tm_bins_add(&b, 0, INT64_MIN, INT64_MAX);
  tm_bins_add(&b, 0, INT64_MAX, INT64_MAX);
  tm_bins_add(&b, 0, INT64_MAX, INT64_MAX);
  tm_bins_add_span(&b, 0, 0, INT64_MAX);
  assert_int_equal(b.len, 2);
  assert_true(tm_bins_at(&b, 0, 0) == INT64_MAX && tm_bins_at(&b, 0, 1) == INT64_MAX);
  tm_bins_release(&b);
}

static uint32_t draw(uint32_t *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Spans and amounts in one order, or from the last to the first. */
static void add_many(struct tm_bins *b, uint32_t seed, bool backward)
{
  struct {
    int64_t from, to;
  } spans[200];
  for (size_t i = 0; i < TM_COUNT_OF(spans); i++) {
    spans[i].from = draw(&seed) % 100000 * 1000000 + draw(&seed) % 1000000;
    spans[i].to = spans[i].from + draw(&seed) % 3000000000u;
  }
  for (size_t k = 0; k < TM_COUNT_OF(spans); k++) {
    size_t i = backward ? TM_COUNT_OF(spans) - 1 - k : k;
    tm_bins_add_span(b, i % 2, spans[i].from, spans[i].to);
    tm_bins_add(b, 2, spans[i].from, (int64_t)i + 1);
  }
}

static void the_order_does_not_matter(void **state)
{
  for (uint32_t seed = 1; seed < 20; seed++) {
    struct tm_buf forward = TM_BUF_NONE, backward = TM_BUF_NONE, merged = TM_BUF_NONE;
    struct tm_bins b, half, sum;
    tm_bins_init(&b, MS, 3, 64);
    b.largest = 4;
    add_many(&b, seed, false);
    text_of_bins(&forward, &b);
    tm_bins_init(&half, MS, 3, 64);
    half.largest = 4;
    add_many(&half, seed, true);
    text_of_bins(&backward, &half);
    assert_string_equal(forward.data, backward.data);
    tm_bins_init(&sum, MS, 3, 64);
    sum.largest = 4;
    tm_bins_add_all(&sum, &b);
    text_of_bins(&merged, &sum);
    assert_string_equal(forward.data, merged.data);
    tm_bins_release(&b);
    tm_bins_release(&half);
    tm_bins_release(&sum);
    tm_buf_release(&forward);
    tm_buf_release(&backward);
    tm_buf_release(&merged);
  }
}

static void fewer_bins_have_the_same_sum(void **state)
{
  struct tm_bins b;
  int64_t sum = 0, after = 0;
  tm_bins_init(&b, 0, 3, 64);
  add_many(&b, 7, false);
  for (size_t i = 0; i < b.len; i++)
    sum += tm_bins_at(&b, 0, i);
  tm_bins_merge(&b, 16);
  assert_true(b.len <= 16);
  for (size_t i = 0; i < b.len; i++)
    after += tm_bins_at(&b, 0, i);
  assert_true(sum > 0 && sum == after);
  tm_bins_clear(&b, 0);
  assert_int_equal(tm_bins_at(&b, 0, 3), 0);
  tm_bins_release(&b);
}

static void what_was_not_measured_is_a_gap(void **state)
{
  struct tm_gauge g;
  double mean;
  int64_t largest;
  tm_gauge_init(&g, 0, 4);
  tm_gauge_add(&g, 0, 10);
  tm_gauge_add(&g, MS - 1, 20);
  tm_gauge_add(&g, 2 * MS, 0);
  tm_gauge_add(&g, 1 * MS, -1); /* not known */
  assert_true(tm_gauge_at(&g, 0, &mean, &largest) && mean == 15 && largest == 20);
  assert_false(tm_gauge_at(&g, 1, &mean, &largest));
  assert_true(tm_gauge_at(&g, 2, &mean, &largest) && mean == 0 && largest == 0);
  tm_gauge_add(&g, 5 * MS, 7); /* bins of 2 ms */
  assert_true(tm_gauge_at(&g, 0, &mean, &largest) && mean == 15 && largest == 20);
  tm_gauge_release(&g);
}

UNIT_TESTS({
    cmocka_unit_test(amounts_are_in_the_bin_of_their_moment),
    cmocka_unit_test(a_span_is_divided_among_its_bins),
    cmocka_unit_test(hostile_moments_and_amounts_do_no_harm),
    cmocka_unit_test(the_order_does_not_matter),
    cmocka_unit_test(fewer_bins_have_the_same_sum),
    cmocka_unit_test(what_was_not_measured_is_a_gap),
});
