/* test_column_ops.c - cases that Lua cannot easily test: columns with wide offsets, bits that begin
 * anywhere, the order of NaN and nulls. (tests/lua/frame_random_spec.lua compares these functions
 * with plain Lua.) */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "data/frame/column_ops.h"
#include "data/frame/frame.h"

static void bits_are_copied_from_any_place(void **state)
{
  uint8_t from[32];
  for (size_t i = 0; i < sizeof from; i++)
    from[i] = (uint8_t)(i * 37 + 11);
  for (int64_t first = 0; first < 40; first++) {
    for (int64_t n = 1; first + n <= (int64_t)sizeof from * 8; n += 7) {
      uint8_t *to = malloc((size_t)(n + 7) / 8);
      tm_column_ops()->copy_bits(from, first, n, to);
      for (int64_t i = 0; i < n; i++)
        assert_int_equal(to[i >> 3] >> (i & 7) & 1,
                         from[(first + i) >> 3] >> ((first + i) & 7) & 1);
      free(to);
    }
  }
}

static void wide_and_narrow_strings_go_together(void **state)
{
  int64_t wide_at[] = { 5, 6, 6, 9 };
  int32_t narrow_at[] = { 2, 4, 5 };
  struct tm_column wide = {
    .off64 = wide_at, .bytes = (char *)".....abcd", .len = 3, .type = TM_COLUMN_STRING, .is_wide = 1
  };
  struct tm_column narrow = {
    .off32 = narrow_at, .bytes = (char *)"..xyz", .len = 2, .type = TM_COLUMN_STRING
  };
  int64_t offsets[6];
  char bytes[8] = { 0 };
  struct tm_column out = {
    .off64 = offsets, .bytes = bytes, .len = 5, .type = TM_COLUMN_STRING, .is_wide = 1
  };
  assert_int_equal(tm_column_ops()->append(&wide, &out, 0, 0), 0);
  assert_int_equal(tm_column_ops()->append(&narrow, &out, 3, 4), 0);
  assert_memory_equal(bytes, "abcdxyz", 7);
  assert_true(offsets[0] == 0 && offsets[1] == 1 && offsets[2] == 1 && offsets[3] == 4 &&
              offsets[4] == 6 && offsets[5] == 7);
  static const int32_t rows[] = { 4, 0, 3 };
  int32_t taken_at[4];
  char taken[8];
  struct tm_column t = { .off32 = taken_at, .bytes = taken, .len = 3, .type = TM_COLUMN_STRING };
  assert_int_equal(tm_column_ops()->take_bytes(&out, rows, 3), 4);
  tm_column_ops()->take(&out, rows, 3, &t);
  assert_memory_equal(taken, "zaxy", 4);
}

static void the_order_has_nan_and_nulls_last(void **state)
{
  double values[] = { NAN, 1, -0.0, 7, 0, -INFINITY };
  uint8_t validity = 0x37; /* row 3 is null */
  struct tm_column c = { .f64 = values, .validity = &validity, .len = 6, .type = TM_COLUMN_DOUBLE };
  struct tm_sort_key key = { &c, 0 };
  struct tm_sort_pair room[12];
  int32_t rows[] = { 0, 1, 2, 3, 4, 5 };
  static const int32_t up[] = { 5, 2, 4, 1, 0, 3 }, down[] = { 0, 1, 2, 4, 5, 3 };
  tm_column_ops()->sort(&key, 1, rows, 6, room);
  assert_memory_equal(rows, up, sizeof up);
  for (int32_t i = 0; i < 6; i++)
    rows[i] = i;
  key.descends = 1;
  tm_column_ops()->sort(&key, 1, rows, 6, room);
  assert_memory_equal(rows, down, sizeof down);
}

static void sums_say_when_they_are_not_exact(void **state)
{
  int64_t values[] = { INT64_MAX, 1, INT64_MAX };
  struct tm_column c = { .i64 = values, .len = 2, .type = TM_COLUMN_LONG };
  struct tm_column_summary s;
  tm_column_ops()->summarize(&c, &s);
  assert_false(s.is_exact);
  assert_true(s.sum == 0x1p63);
  c.len = 1;
  tm_column_ops()->summarize(&c, &s);
  assert_true(s.is_exact && s.sum_i64 == INT64_MAX && s.count == 1);
  int32_t ids[] = { 0, 1, 0 };
  int64_t exact[2];
  double sums[2];
  c.len = 3;
  assert_int_equal(tm_column_ops()->group_sum(&c, ids, 2, sums, exact), 0);
  assert_true(sums[1] == 1);
}

static void integers_are_compared_exactly(void **state)
{
  int64_t values[] = { INT64_C(9007199254740993), INT64_C(9007199254740992), INT64_MAX };
  struct tm_column c = { .i64 = values, .len = 3, .type = TM_COLUMN_LONG };
  int32_t rows[3];
  struct tm_value v = { .f64 = 9007199254740992.0 };
  assert_int_equal(tm_column_ops()->compare(&c, TM_IS_MORE, &v, rows), 2);
  assert_int_equal(tm_column_ops()->compare(&c, TM_IS_EQUAL, &v, rows), 1);
  assert_int_equal(rows[0], 1);
  v.f64 = 0x1p63;
  assert_int_equal(tm_column_ops()->compare(&c, TM_IS_AT_LEAST, &v, rows), 0);
  v = (struct tm_value) { .i64 = INT64_C(9007199254740993), .is_integer = 1 };
  assert_int_equal(tm_column_ops()->compare(&c, TM_IS_AT_MOST, &v, rows), 2);
}

UNIT_TESTS({
    cmocka_unit_test(bits_are_copied_from_any_place),
    cmocka_unit_test(wide_and_narrow_strings_go_together),
    cmocka_unit_test(the_order_has_nan_and_nulls_last),
    cmocka_unit_test(sums_say_when_they_are_not_exact),
    cmocka_unit_test(integers_are_compared_exactly),
});
