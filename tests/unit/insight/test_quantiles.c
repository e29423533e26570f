/* test_quantiles.c - quantiles of durations, from a histogram. */
#include "unit.h"

#include "base/mem.h"
#include "insight/quantiles.h"

static void a_bin_has_the_values_from_its_first_on(void **state)
{
  static const struct {
    int64_t value;
    size_t bin;
  } cases[] = { { INT64_MIN, 0 }, { -1, 0 },
                { 0, 0 },         { 1, 1 },
                { 31, 31 },       { 32, 32 },
                { 33, 33 },       { 63, 63 },
                { 64, 64 },       { 65, 64 },
                { 66, 65 },       { 127, 95 },
                { 128, 96 },      { INT64_MAX, TM_QUANTILE_BINS - 1 } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    assert_int_equal(tm_quantiles_bin(cases[i].value), cases[i].bin);
  for (size_t bin = 0; bin < TM_QUANTILE_BINS; bin++) {
    assert_int_equal(tm_quantiles_bin(tm_quantiles_first(bin)), bin);
    assert_true(bin == 0 || tm_quantiles_bin(tm_quantiles_first(bin) - 1) == bin - 1);
  }
  assert_true(tm_quantiles_first(TM_QUANTILE_BINS) == INT64_MAX);
}

static void a_quantile_is_at_most_a_32nd_too_high(void **state)
{
  static struct tm_quantiles q;
  static const double shares[] = { 0, 0.001, 0.5, 0.9, 0.99, 1 };
  q = (struct tm_quantiles) { 0 };
  assert_int_equal(tm_quantiles_at(&q, 0.5), 0);
  for (int64_t i = 1; i <= 1000; i++)
    tm_quantiles_add(&q, i * i * 1000);
  for (size_t i = 0; i < TM_COUNT_OF(shares); i++) {
    int64_t rank = (int64_t)(shares[i] * 1000), exact;
    rank = rank < 1 ? 1 : rank;
    exact = rank * rank * 1000;
    assert_in_range(tm_quantiles_at(&q, shares[i]), exact, exact + exact / 32);
  }
  assert_int_equal(tm_quantiles_at(&q, 1), 1000000000);
  assert_int_equal(q.min, 1000);
  assert_int_equal(q.count, 1000);
}

static void one_value_is_each_quantile(void **state)
{
  static struct tm_quantiles q;
  q = (struct tm_quantiles) { 0 };
  tm_quantiles_add(&q, 1234567);
  assert_int_equal(tm_quantiles_at(&q, 0), 1234567);
  assert_int_equal(tm_quantiles_at(&q, 0.5), 1234567);
  assert_int_equal(tm_quantiles_at(&q, 1), 1234567);
}

static void a_sum_does_not_overflow(void **state)
{
  static struct tm_quantiles q;
  q = (struct tm_quantiles) { 0 };
  tm_quantiles_add(&q, INT64_MAX);
  tm_quantiles_add(&q, INT64_MAX);
  assert_true(q.sum == INT64_MAX && tm_quantiles_at(&q, 0.5) == INT64_MAX);
}

UNIT_TESTS({
    cmocka_unit_test(a_bin_has_the_values_from_its_first_on),
    cmocka_unit_test(a_quantile_is_at_most_a_32nd_too_high),
    cmocka_unit_test(one_value_is_each_quantile),
    cmocka_unit_test(a_sum_does_not_overflow),
});
