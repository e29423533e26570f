/* test_frame_text.c - prints values, quotes fields, and reorders the fields of rows. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/frame/frame.h"
#include "data/frame/frame_text.h"

static void expect(struct tm_buf *b, const char *want)
{
  assert_string_equal(tm_buf_str(b), want);
  tm_buf_clear(b);
}

static void moments_are_written_in_iso_8601(void **state)
{
  static const struct {
    int64_t us;
    const char *text;
  } cases[] = {
    { 0, "1970-01-01T00:00:00Z" },
    { 1, "1970-01-01T00:00:00.000001Z" },
    { 1500000, "1970-01-01T00:00:01.5Z" },
    { -1, "1969-12-31T23:59:59.999999Z" },
    { INT64_C(951782400) * 1000000, "2000-02-29T00:00:00Z" },
    { INT64_C(4107542399) * 1000000, "2100-02-28T23:59:59Z" },
    { INT64_C(-62135596800) * 1000000, "0001-01-01T00:00:00Z" },
    { INT64_C(253402300799) * 1000000 + 120000, "9999-12-31T23:59:59.12Z" },
  };
  struct tm_buf b = TM_BUF_NONE;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t us = cases[i].us;
    struct tm_column c = { .i64 = &us, .len = 1, .type = TM_COLUMN_DATETIME };
    tm_frame_add_value(&b, &c, 0);
    expect(&b, cases[i].text);
  }
  tm_buf_release(&b);
}

static void dates_are_written_without_a_time_of_day(void **state)
{
  int64_t us[] = { INT64_C(951782400) * 1000000, 0, -INT64_C(86400000000), 1500000 };
  struct tm_column c = { .i64 = us, .len = 4, .type = TM_COLUMN_DATETIME, .is_date = 1 };
  const struct tm_column *columns[] = { &c };
  struct tm_buf b = TM_BUF_NONE;
  tm_frame_add_rows(&b, columns, 1, c.len, ',', false);
  expect(&b, "2000-02-29\n1970-01-01\n1969-12-31\n1970-01-01T00:00:01.5Z\n");
  tm_buf_release(&b);
}

static void doubles_are_never_digits_alone(void **state)
{
  double x[] = { 175, -0.0, -3, 0.5, 1e15, 9007199254740993.0, 1e300, NAN, INFINITY };
  const char *const name = "x";
  struct tm_column c = { .f64 = x, .len = 9, .type = TM_COLUMN_DOUBLE };
  const struct tm_column *columns[] = { &c };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf b = TM_BUF_NONE;
  tm_frame_add_rows(&b, columns, 1, c.len, ',', false);
  expect(&b, "175.0\n-0.0\n-3.0\n0.5\n1000000000000000.0\n9007199254740992.0\n1e+300\nnan\ninf\n");
  assert_int_equal(tm_frame_add_json_rows(&b, columns, &name, 1, 1, &err), 0);
  expect(&b, "{\"x\":175.0}\n");
  tm_buf_release(&b);
}

static void fields_are_quoted_where_a_reader_would_err(void **state)
{
  static const struct {
    const char *field, *comma, *blank;
  } cases[] = {
    { "plain", "plain", "plain" },
    { "a,b", "\"a,b\"", "a,b" },
    { "a b", "a b", "\"a b\"" },
    { "", "\"\"", "\"\"" },
    { " a", "\" a\"", "\" a\"" },
    { "a\t", "\"a\t\"", "\"a\t\"" },
    { "a\"b", "\"a\"\"b\"", "\"a\"\"b\"" },
    { "a\nb", "\"a\nb\"", "\"a\nb\"" },
  };
  struct tm_buf b = TM_BUF_NONE;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tm_frame_add_field(&b, cases[i].field, strlen(cases[i].field), ',');
    expect(&b, cases[i].comma);
    tm_frame_add_field(&b, cases[i].field, strlen(cases[i].field), ' ');
    expect(&b, cases[i].blank);
  }
  tm_buf_release(&b);
}

static void rows_are_written_with_nulls_and_escapes(void **state)
{
  int32_t offsets[] = { 0, 3, 3, 3, 8 };
  uint8_t validity = 0x0b; /* row 2 is null */
  int64_t numbers[] = { 1, -2, 3, INT64_MIN };
  struct tm_column s = { .off32 = offsets,
                         .bytes = (char *)"a\nbc\\,\r\"",
                         .validity = &validity,
                         .len = 4,
                         .type = TM_COLUMN_STRING };
  struct tm_column n = { .i64 = numbers, .len = 4, .type = TM_COLUMN_LONG };
  const struct tm_column *const columns[] = { &s, &n };
  static const char names[] = "\1\0\0\0s\3\0\0\0n,n";
  struct tm_buf b = TM_BUF_NONE;
  tm_frame_add_header(&b, names, sizeof names - 1, ',');
  tm_frame_add_rows(&b, columns, 2, 4, ',', false);
  expect(&b, "s,\"n,n\"\n\"a\nb\",1\n\"\",-2\n,3\n\"c\\,\r\"\"\",-9223372036854775808\n");
  tm_frame_add_rows(&b, columns, 2, 4, ',', true);
  expect(&b, "a\\nb,1\n\"\",-2\n,3\n\"c\\\\,\\r\"\"\",-9223372036854775808\n");
  tm_frame_add_rows(&b, columns + 1, 1, 2, '-', false); /* the separator can be part of a number */
  expect(&b, "1\n\"-2\"\n");
  tm_buf_release(&b);
}

static void rows_get_their_fields_in_another_order(void **state)
{
  static const size_t order[] = { 2, 0, 1 };
  static const char rows[] = "a,\"b,\"\"\n\",c\n,,\n1,2,3\n";
  struct tm_buf b = TM_BUF_NONE;
  tm_frame_reorder_rows(&b, rows, strlen(rows), ',', order, 3);
  expect(&b, "c,a,\"b,\"\"\n\"\n,,\n3,1,2\n");
  for (size_t n = 0; n < strlen(rows); n++) { /* cuts anywhere and reads nothing beyond the end */
    char *copy = malloc(n + 1);
    memcpy(copy, rows, n);
    tm_frame_reorder_rows(&b, copy, n, ',', order, 3);
    tm_buf_clear(&b);
    free(copy);
  }
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test(moments_are_written_in_iso_8601),
    cmocka_unit_test(dates_are_written_without_a_time_of_day),
    cmocka_unit_test(doubles_are_never_digits_alone),
    cmocka_unit_test(fields_are_quoted_where_a_reader_would_err),
    cmocka_unit_test(rows_are_written_with_nulls_and_escapes),
    cmocka_unit_test(rows_get_their_fields_in_another_order),
});
