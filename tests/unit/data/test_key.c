/* test_key.c - partition keys as bytes: they decode unchanged, sort in the order of their values,
 * and bad bytes are refused. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/item.h"
#include "data/key.h"

static struct tm_key string_of(const char *s, size_t n)
{
  return (struct tm_key) { .name = "s", .name_len = 1, .type = TM_KEY_STRING, .string = { s, n } };
}

static struct tm_key integer_of(enum tm_key_type type, int64_t v)
{
  return (struct tm_key) { .name = "i", .name_len = 1, .type = type, .integer = v };
}

static struct tm_key double_of(double v)
{
  return (struct tm_key) { .name = "d", .name_len = 1, .type = TM_KEY_DOUBLE, .number = v };
}

static void keys_come_before_the_items(void **state)
{
  struct tm_key keys[] = { string_of("no\0rth", 6),
                           integer_of(TM_KEY_BOOL, 1),
                           integer_of(TM_KEY_LONG, -7),
                           double_of(0.5),
                           integer_of(TM_KEY_DATETIME, INT64_C(1769817600000000)),
                           integer_of(TM_KEY_NULL, 0) };
  struct tm_item in = { .path = "/x", .path_len = 2, .size = -1 }, item;
  struct tm_buf b = TM_BUF_NONE, text = TM_BUF_NONE;
  struct tm_reader r;
  tm_keys_add(&b, keys, 6);
  tm_item_add(&b, &in);
  assert_true(tm_keys_find(b.data, b.len, &r));
  tm_keys_describe(&text, r);
  assert_string_equal(text.data, "s=no\\x00rth, i=true, i=-7, d=0.5, i=2026-01-31, i=null");
  tm_reader_init(&r, b.data, b.len);
  assert_true(tm_item_next(&r, &item));
  assert_int_equal(item.path_len, 2);
  assert_false(tm_item_next(&r, &item));
  assert_false(r.bad);
  tm_buf_release(&b);
  tm_buf_release(&text);
}

static void items_without_keys_have_none(void **state)
{
  struct tm_item in = { .path = "/x", .path_len = 2, .size = -1 };
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  assert_false(tm_keys_find("", 0, &r));
  tm_item_add(&b, &in);
  assert_false(tm_keys_find(b.data, b.len, &r));
  tm_buf_release(&b);
}

/* Each of `keys` sorts before the next one and equals itself. */
static void expect_order(const struct tm_key *keys, size_t n)
{
  struct tm_buf before = TM_BUF_NONE, now = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++) {
    tm_buf_clear(&now);
    tm_key_add_order(&now, &keys[i]);
    tm_buf_add_str(&now, "z"); /* the rest decides nothing */
    if (i > 0) {
      size_t least = before.len < now.len ? before.len : now.len;
      assert_true(memcmp(before.data, now.data, least) < 0);
    }
    tm_buf_clear(&before);
    tm_buf_add(&before, now.data, now.len);
  }
  tm_buf_release(&before);
  tm_buf_release(&now);
}

static void order_is_that_of_the_values(void **state)
{
  const struct tm_key all[] = {
    integer_of(TM_KEY_NULL, 0),
    integer_of(TM_KEY_BOOL, 0),
    integer_of(TM_KEY_BOOL, 1),
    integer_of(TM_KEY_LONG, INT64_MIN),
    integer_of(TM_KEY_LONG, -1),
    integer_of(TM_KEY_LONG, 0),
    integer_of(TM_KEY_LONG, INT64_MAX),
    double_of(-INFINITY),
    double_of(-1.5),
    double_of(0),
    double_of(1e-300),
    double_of(INFINITY),
    double_of(NAN),
    integer_of(TM_KEY_DATETIME, -5),
    integer_of(TM_KEY_DATETIME, 5),
    string_of("", 0),
    string_of("\0", 1),
    string_of("\0\0", 2),
    string_of("\0a", 2),
    string_of("a", 1),
    string_of("a\0", 2),
    string_of("aa", 2),
    string_of("b", 1),
  };
  expect_order(all, sizeof(all) / sizeof(all[0]));
}

static void equal_values_have_equal_bytes(void **state)
{
  struct tm_key pairs[][2] = { { double_of(0.0), double_of(-0.0) },
                               { double_of(NAN), double_of(-NAN) } };
  for (size_t i = 0; i < 2; i++) {
    struct tm_buf a = TM_BUF_NONE, b = TM_BUF_NONE;
    tm_key_add_order(&a, &pairs[i][0]);
    tm_key_add_order(&b, &pairs[i][1]);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
    tm_buf_release(&a);
    tm_buf_release(&b);
  }
}

static bool is_refused(const char *p, size_t n)
{
  struct tm_reader r;
  struct tm_item item;
  char *copy = malloc(n); /* of exactly this size, so that a sanitizer sees a read beyond it */
  memcpy(copy, p, n);
  tm_reader_init(&r, copy, n);
  while (tm_item_next(&r, &item))
    ;
  free(copy);
  return r.bad;
}

static void bad_bytes_are_refused(void **state)
{
  struct tm_key key = integer_of(TM_KEY_BOOL, 1);
  struct tm_buf b = TM_BUF_NONE;
  tm_keys_add(&b, &key, 1);
  for (size_t n = 1; n < b.len; n++)
    assert_true(is_refused(b.data, n));
  assert_false(is_refused(b.data, b.len));
  b.data[b.len - 1] = 2; /* neither true nor false */
  assert_true(is_refused(b.data, b.len));
  b.data[b.len - 1] = 1;
  b.data[9] = 77; /* no type */
  assert_true(is_refused(b.data, b.len));
  tm_buf_release(&b);
}

UNIT_TESTS({
    cmocka_unit_test(keys_come_before_the_items),
    cmocka_unit_test(items_without_keys_have_none),
    cmocka_unit_test(order_is_that_of_the_values),
    cmocka_unit_test(equal_values_have_equal_bytes),
    cmocka_unit_test(bad_bytes_are_refused),
});
