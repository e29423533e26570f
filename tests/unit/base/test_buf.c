/* test_buf.c - adds and takes bytes; a reader of hostile bytes never passes the end. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fault.h"

static void empty_is_a_string(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  assert_string_equal(tm_buf_str(&b), "");
  tm_buf_add(&b, NULL, 0);
  assert_int_equal(b.len, 0);
  tm_buf_clear(&b);
  char *s = tm_buf_take(&b);
  assert_string_equal(s, "");
  free(s);
  assert_null(b.data);
  s = tm_buf_take(&b); /* a buffer without bytes */
  assert_string_equal(s, "");
  free(s);
}

static void always_ends_in_nul(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  for (int i = 0; i < 300; i++) { /* crosses each size at which it grows */
    tm_buf_add_char(&b, 'x');
    assert_int_equal(b.len, i + 1);
    assert_int_equal(strlen(b.data), b.len);
  }
  tm_buf_remove_front(&b, 299);
  assert_string_equal(b.data, "x");
  tm_buf_remove_front(&b, 1);
  assert_string_equal(b.data, "");
  expect_fault(tm_buf_remove_front(&b, 1));
  tm_buf_add_str(&b, "again");
  tm_buf_clear(&b);
  assert_string_equal(tm_buf_str(&b), "");
  tm_buf_release(&b);
  assert_null(b.data);
}

static void too_much_is_a_fault(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_add_str(&b, "abc");
  expect_fault(tm_buf_reserve(&b, SIZE_MAX - 3));
  expect_fault(tm_buf_reserve(&b, SIZE_MAX));
  assert_string_equal(b.data, "abc");
  tm_buf_release(&b);
}

static void assert_int_text(int64_t n)
{
  struct tm_buf b = TM_BUF_NONE;
  char expected[32];
  snprintf(expected, sizeof expected, "%lld", (long long)n);
  tm_buf_add_int(&b, n);
  assert_string_equal(b.data, expected);
  tm_buf_release(&b);
}

static void integers_are_written_in_full(void **state)
{
  assert_int_text(0);
  assert_int_text(INT64_MAX);
  assert_int_text(INT64_MIN);
  assert_int_text(INT64_MIN + 1);
  int64_t power = 1;
  for (int i = 0; i < 19; i++, power *= i < 19 ? 10 : 1) {
    assert_int_text(power - 1);
    assert_int_text(power);
    assert_int_text(-power);
    assert_int_text(1 - power);
  }
  for (int64_t n = -1100; n <= 1100; n++)
    assert_int_text(n);
}

static void printf_grows_to_fit(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  for (int width = 50; width < 80; width++) { /* around the size of the first attempt */
    tm_buf_printf(&b, "%*d", width, 7);
    assert_int_equal(b.len, width);
    assert_int_equal(b.data[width - 1], '7');
    tm_buf_release(&b);
  }
  tm_buf_add_str(&b, "a");
  tm_buf_printf(&b, "%4000s|%d", "x", 5);
  assert_int_equal(b.len, 1 + 4000 + 2);
  assert_string_equal(b.data + 4000, "x|5");
  tm_buf_release(&b);
}

static void taken_memory_is_the_callers(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_add(&b, "a\0b", 3);
  char *s = tm_buf_take(&b);
  assert_memory_equal(s, "a\0b", 4);
  free(s);
  assert_int_equal(b.len + b.cap, 0);
}

static void numbers_are_little_endian(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_add_u32(&b, 0x01020384);
  tm_buf_add_u64(&b, UINT64_C(0xF102030405060788));
  assert_memory_equal(b.data, "\x84\x03\x02\x01\x88\x07\x06\x05\x04\x03\x02\xF1", 12);
  assert_int_equal(tm_get_u32(b.data), 0x01020384);
  assert_true(tm_get_u64(b.data + 4) == UINT64_C(0xF102030405060788));
  tm_buf_release(&b);
}

static void reader_reads_written_values(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  size_t len = 99;
  tm_buf_add_u32(&b, UINT32_MAX);
  tm_buf_add_bytes32(&b, "xyz", 3);
  tm_buf_add_bytes32(&b, NULL, 0);
  tm_buf_add_u64(&b, UINT64_MAX);
  tm_reader_init(&r, b.data, b.len);
  assert_true(tm_read_u32(&r) == UINT32_MAX);
  assert_memory_equal(tm_read_bytes32(&r, &len), "xyz", 3);
  assert_int_equal(len, 3);
  assert_non_null(tm_read_bytes32(&r, &len)); /* empty differs from missing */
  assert_int_equal(len, 0);
  assert_true(tm_read_u64(&r) == UINT64_MAX);
  assert_false(r.bad);
  assert_ptr_equal(r.at, r.end);
  tm_buf_release(&b);
}

static void reader_stays_bad_past_the_end(void **state)
{
  struct tm_reader r;
  size_t len = 99;
  tm_reader_init(&r, "\1\2\3", 3);
  assert_int_equal(tm_read_u32(&r), 0);
  assert_true(r.bad);
  assert_null(tm_read_raw(&r, 1)); /* the bytes exist, but an earlier read failed */
  assert_null(tm_read_raw(&r, 0));
  assert_null(tm_read_bytes32(&r, &len));
  assert_int_equal(len, 0);
  assert_true(tm_read_u64(&r) == 0);
}

static void reader_refuses_a_length_that_lies(void **state)
{
  struct tm_reader r;
  size_t len = 99;
  tm_reader_init(&r,
                 "\xFF\xFF\xFF\xFF"
                 "abc",
                 7);
  assert_null(tm_read_bytes32(&r, &len));
  assert_int_equal(len, 0);
  assert_true(r.bad);
  tm_reader_init(&r,
                 "\4\0\0\0"
                 "abc",
                 7); /* by one */
  assert_null(tm_read_bytes32(&r, &len));
  assert_true(r.bad);
  tm_reader_init(&r, NULL, 0);
  assert_non_null(tm_read_raw(&r, 0));
  assert_false(r.bad);
  assert_null(tm_read_raw(&r, SIZE_MAX));
  assert_true(r.bad);
}

UNIT_TESTS({
    cmocka_unit_test(empty_is_a_string),
    cmocka_unit_test(always_ends_in_nul),
    cmocka_unit_test(too_much_is_a_fault),
    cmocka_unit_test(integers_are_written_in_full),
    cmocka_unit_test(printf_grows_to_fit),
    cmocka_unit_test(taken_memory_is_the_callers),
    cmocka_unit_test(numbers_are_little_endian),
    cmocka_unit_test(reader_reads_written_values),
    cmocka_unit_test(reader_stays_bad_past_the_end),
    cmocka_unit_test(reader_refuses_a_length_that_lies),
});
