/* test_tensor_order.c - the largest elements of each row, and softmax, beside simpler code. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/tensor/tensor_order.h"
#include "data/tensor/tensor_types.h"

static struct tm_tensor rows_of(void *data, int32_t type, int64_t rows, int64_t n)
{
  return (struct tm_tensor) { .data = data, .shape = { rows, n }, .rank = 2, .type = type };
}

static void ties_take_the_first_and_nan_is_last(void **state)
{
  float values[] = { 1, NAN, 3, 3, -0.0F, 0, NAN, -INFINITY };
  static const int64_t first[] = { 2, 3, 0, 1 }, second[] = { 0, 1, 3, 2 };
  int64_t places[8];
  struct tm_tensor t = rows_of(values, TM_TENSOR_FLOAT32, 2, 4);
  tm_tensor_top(&t, 4, places);
  assert_memory_equal(places, first, sizeof first);
  assert_memory_equal(places + 4, second, sizeof second);
  tm_tensor_top(&t, 1, places);
  assert_int_equal(places[0], 2);
  assert_int_equal(places[1], 0);
  float picked[4];
  tm_tensor_top(&t, 2, places);
  tm_tensor_pick(&t, 2, places, picked);
  assert_true(picked[0] == 3 && picked[1] == 3 && picked[2] == 0 && picked[3] == 0);
}

static void integers_are_ordered_exactly(void **state)
{
  int64_t longs[] = { INT64_MAX - 1, INT64_MAX, INT64_MIN, -1 };
  uint64_t unsigned_longs[] = { 1, UINT64_MAX - 1, UINT64_MAX };
  int8_t bytes[] = { -128, 127, -1 };
  int64_t places[4];
  static const int64_t expected[] = { 1, 0, 3, 2 };
  struct tm_tensor t = rows_of(longs, TM_TENSOR_INT64, 1, 4);
  tm_tensor_top(&t, 4, places);
  assert_memory_equal(places, expected, sizeof expected);
  t = rows_of(unsigned_longs, TM_TENSOR_UINT64, 1, 3);
  tm_tensor_top(&t, 1, places);
  assert_int_equal(places[0], 2);
  t = rows_of(bytes, TM_TENSOR_INT8, 1, 3);
  tm_tensor_top(&t, 2, places);
  assert_true(places[0] == 1 && places[1] == 2);
}

/* How many elements come before element i: its place in the order. */
static int64_t order_of(const int16_t *values, int64_t n, int64_t i)
{
  int64_t before = 0;
  for (int64_t j = 0; j < n; j++)
    before += values[j] > values[i] || (values[j] == values[i] && j < i);
  return before;
}

static void the_largest_are_those_of_a_sort(void **state)
{
  enum { N = 40 };
  int16_t values[N];
  int64_t places[N];
  srand(7);
  for (int round = 0; round < 300; round++) {
    int64_t n = 1 + rand() % N, k = rand() % (n + 1);
    for (int64_t i = 0; i < n; i++)
      values[i] = (int16_t)(rand() % 12 - 6);
    struct tm_tensor t = rows_of(values, TM_TENSOR_INT16, 1, n);
    tm_tensor_top(&t, k, places);
    for (int64_t i = 0; i < k; i++)
      assert_int_equal(order_of(values, n, places[i]), i);
  }
}

static void nothing_is_written_for_no_rows(void **state)
{
  int64_t place = 77;
  float values[1] = { 5 };
  struct tm_tensor t = rows_of(values, TM_TENSOR_FLOAT32, 0, 3);
  tm_tensor_top(&t, 2, &place);
  t = rows_of(values, TM_TENSOR_FLOAT32, 4, 0);
  tm_tensor_top(&t, 0, &place);
  tm_tensor_softmax(&t, values);
  assert_true(place == 77 && values[0] == 5);
}

static void softmax_sums_to_one(void **state)
{
  double values[] = { 1000, 1001, 1002, -5, -5, -5 }, out[6];
  struct tm_tensor t = rows_of(values, TM_TENSOR_FLOAT64, 2, 3);
  tm_tensor_softmax(&t, out);
  double e = exp(1), sum = 1 + e + e * e;
  assert_true(fabs(out[0] - 1 / sum) < 1e-15 && fabs(out[2] - e * e / sum) < 1e-15);
  assert_true(out[3] == out[4] && fabs(out[3] - 1.0 / 3) < 1e-15);
  uint16_t halves[] = { 0x3c00, 0x3c00 }, half_out[2]; /* 1, 1 */
  t = rows_of(halves, TM_TENSOR_FLOAT16, 1, 2);
  tm_tensor_softmax(&t, half_out);
  assert_true(half_out[0] == 0x3800 && half_out[1] == 0x3800);
}

UNIT_TESTS({
    cmocka_unit_test(ties_take_the_first_and_nan_is_last),
    cmocka_unit_test(integers_are_ordered_exactly),
    cmocka_unit_test(the_largest_are_those_of_a_sort),
    cmocka_unit_test(nothing_is_written_for_no_rows),
    cmocka_unit_test(softmax_sums_to_one),
});
