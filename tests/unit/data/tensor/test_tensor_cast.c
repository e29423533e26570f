/* test_tensor_cast.c - the edges of conversions between types of elements.
 * (tests/lua/tensor_random_spec.lua compares all pairs with plain Lua.) */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/tensor/tensor_cast.h"
#include "data/tensor/tensor_types.h"

static void halves_are_what_ieee_says(void **state)
{
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
    double value = tm_tensor_of_half((uint16_t)bits);
    if (exponent == 31 && fraction != 0) {
      assert_true(isnan(value));
      assert_true(isnan(tm_tensor_of_half(tm_tensor_half_of(value))));
      continue;
    }
    double expected = exponent == 31  ? INFINITY
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
    assert_true(value == sign * expected && !signbit(value) == (bits < 0x8000));
    assert_int_equal(tm_tensor_half_of(value), bits);
  }
}

/* Between two halves, the nearer one; in the middle, the even one. */
static void values_become_the_nearest_half(void **state)
{
  for (uint16_t bits = 0; bits < 0x7bff; bits++) {
    double low = tm_tensor_of_half(bits), high = tm_tensor_of_half((uint16_t)(bits + 1));
    double middle = (low + high) / 2;
    uint16_t even = bits % 2 == 0 ? bits : bits + 1;
    assert_int_equal(tm_tensor_half_of(middle), even);
    assert_int_equal(tm_tensor_half_of(nextafter(middle, 0)), bits);
    assert_int_equal(tm_tensor_half_of(nextafter(middle, INFINITY)), bits + 1);
    assert_int_equal(tm_tensor_half_of(-middle), even | 0x8000);
  }
  assert_int_equal(tm_tensor_half_of(65519.999), 0x7bff);
  assert_int_equal(tm_tensor_half_of(65520), 0x7c00);
  assert_int_equal(tm_tensor_half_of(-1e300), 0xfc00);
  assert_int_equal(tm_tensor_half_of(5e-324), 0);
}

/* A double in every type, as the bits of an element. */
static uint64_t cast_double(double value, int32_t type)
{
  uint64_t out = 0;
  struct tm_tensor_run from = { &value, 1, TM_TENSOR_FLOAT64 }, to = { &out, 1, type };
  assert_int_equal(tm_tensor_cast(&from, &to, 1), -1);
  return out;
}

static void reals_round_to_even_and_saturate(void **state)
{
  static const struct {
    double value;
    int32_t type;
    uint64_t bits;
  } cases[] = {
    { 0.5, TM_TENSOR_INT8, 0 },
    { 1.5, TM_TENSOR_INT8, 2 },
    { 2.5, TM_TENSOR_UINT8, 2 },
    { -2.5, TM_TENSOR_INT8, 0xfe },
    { 0.49999999999999994, TM_TENSOR_INT32, 0 },
    { -0.5, TM_TENSOR_UINT64, 0 },
    { 127.5, TM_TENSOR_INT8, 127 },
    { -128.6, TM_TENSOR_INT8, 0x80 },
    { 255.4, TM_TENSOR_UINT8, 255 },
    { 256, TM_TENSOR_UINT8, 255 },
    { -1, TM_TENSOR_UINT16, 0 },
    { INFINITY, TM_TENSOR_INT16, 0x7fff },
    { -INFINITY, TM_TENSOR_INT32, 0x80000000 },
    { 2147483647.5, TM_TENSOR_INT32, 0x7fffffff },
    { 4503599627370497.0, TM_TENSOR_INT64, 4503599627370497 },
    { 4503599627370495.5, TM_TENSOR_INT64, 4503599627370496 },
    { 0x1p63, TM_TENSOR_INT64, INT64_MAX },
    { -0x1p63, TM_TENSOR_INT64, (uint64_t)INT64_MIN },
    { 0x1p63, TM_TENSOR_UINT64, UINT64_C(1) << 63 },
    { 0x1p64, TM_TENSOR_UINT64, UINT64_MAX },
    { NAN, TM_TENSOR_BOOL, 1 },
    { -0.0, TM_TENSOR_BOOL, 0 },
    { 0.1, TM_TENSOR_BOOL, 1 },
    { 65504, TM_TENSOR_FLOAT16, 0x7bff },
    { 1e300, TM_TENSOR_FLOAT32, 0x7f800000 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    if (cast_double(cases[i].value, cases[i].type) != cases[i].bits)
      fail_msg("%g as %s", cases[i].value, tm_tensor_type_name(cases[i].type));
}

static void integers_saturate(void **state)
{
  int64_t longs[] = { INT64_MIN, -129, -1, 0, 128, 65536, INT64_MAX };
  uint64_t unsigned_longs[] = { 0, 127, UINT64_MAX };
  static const int8_t as_int8[] = { -128, -128, -1, 0, 127, 127, 127 };
  static const uint16_t as_uint16[] = { 0, 0, 0, 0, 128, 65535, 65535 };
  static const uint64_t as_uint64[] = { 0, 0, 0, 0, 128, 65536, INT64_MAX };
  static const int64_t as_int64[] = { 0, 127, INT64_MAX };
  int8_t bytes[7];
  uint16_t shorts[7];
  uint64_t unsigned_out[7];
  int64_t out[3];
  struct tm_tensor_run from = { longs, 1, TM_TENSOR_INT64 };
  tm_tensor_cast(&from, &(struct tm_tensor_run) { bytes, 1, TM_TENSOR_INT8 }, 7);
  assert_memory_equal(bytes, as_int8, sizeof as_int8);
  tm_tensor_cast(&from, &(struct tm_tensor_run) { shorts, 1, TM_TENSOR_UINT16 }, 7);
  assert_memory_equal(shorts, as_uint16, sizeof as_uint16);
  tm_tensor_cast(&from, &(struct tm_tensor_run) { unsigned_out, 1, TM_TENSOR_UINT64 }, 7);
  assert_memory_equal(unsigned_out, as_uint64, sizeof as_uint64);
  from = (struct tm_tensor_run) { unsigned_longs, 1, TM_TENSOR_UINT64 };
  tm_tensor_cast(&from, &(struct tm_tensor_run) { out, 1, TM_TENSOR_INT64 }, 3);
  assert_memory_equal(out, as_int64, sizeof as_int64);
}

/* Columns of a table of three columns, longer than one block. */
static void elements_at_distances_are_converted(void **state)
{
  enum { N = 1300 };
  float *table = calloc(N * 3, sizeof *table);
  int16_t *column = malloc(N * sizeof *column);
  for (int i = 0; i < N; i++)
    column[i] = (int16_t)(i - 600);
  for (int k = 0; k < 3; k++)
    assert_int_equal(tm_tensor_cast(&(struct tm_tensor_run) { column, 1, TM_TENSOR_INT16 },
                                    &(struct tm_tensor_run) { table + k, 3, TM_TENSOR_FLOAT32 },
                                    k == 1 ? N : N - 1),
                     -1);
  for (int i = 0; i < N - 1; i++)
    assert_true(table[3 * i] == (float)(i - 600) && table[3 * i + 1] == table[3 * i]);
  assert_true(table[3 * N - 3] == 0 && table[3 * N - 2] == N - 601 && table[3 * N - 1] == 0);
  memset(column, 0, N * sizeof *column);
  tm_tensor_cast(&(struct tm_tensor_run) { table + 1, 3, TM_TENSOR_FLOAT32 },
                 &(struct tm_tensor_run) { column, 1, TM_TENSOR_INT16 }, N);
  for (int i = 0; i < N; i++)
    assert_int_equal(column[i], i - 600);
  free(table);
  free(column);
}

static void the_first_nan_is_found(void **state)
{
  enum { N = 1300 };
  float *from = calloc(N, sizeof *from);
  uint8_t *to = malloc(N);
  struct tm_tensor_run run = { from, 1, TM_TENSOR_FLOAT32 }, out = { to, 1, TM_TENSOR_UINT8 };
  assert_int_equal(tm_tensor_cast(&run, &out, N), -1);
  from[1299] = NAN;
  assert_int_equal(tm_tensor_cast(&run, &out, N), 1299);
  from[700] = NAN;
  assert_int_equal(tm_tensor_cast(&run, &out, N), 700);
  out.type = TM_TENSOR_BOOL;
  assert_int_equal(tm_tensor_cast(&run, &out, N), -1);
  assert_true(to[700] == 1 && to[699] == 0);
  uint16_t half = 0x7c01;
  run = (struct tm_tensor_run) { &half, 1, TM_TENSOR_FLOAT16 };
  out.type = TM_TENSOR_INT8;
  assert_int_equal(tm_tensor_cast(&run, &out, 1), 0);
  free(from);
  free(to);
}

UNIT_TESTS({
    cmocka_unit_test(halves_are_what_ieee_says),
    cmocka_unit_test(values_become_the_nearest_half),
    cmocka_unit_test(reals_round_to_even_and_saturate),
    cmocka_unit_test(integers_saturate),
    cmocka_unit_test(elements_at_distances_are_converted),
    cmocka_unit_test(the_first_nan_is_found),
});
