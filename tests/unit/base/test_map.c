/* test_map.c - finds keys again, however often the map has grown. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <stdio.h>

#include "base/map.h"

static void empty_finds_nothing(void **state)
{
  struct tm_map m = { 0 };
  assert_null(tm_map_find(&m, "x", 1));
  tm_map_release(&m);
  tm_map_release(&m);
}

static void added_twice_is_one(void **state)
{
  struct tm_map m = { 0 };
  bool is_new = false;
  *tm_map_add(&m, "a", 1, &is_new) = 7;
  assert_true(is_new);
  assert_int_equal(*tm_map_add(&m, "a", 1, &is_new), 7);
  assert_false(is_new);
  assert_int_equal(*tm_map_add(&m, "b", 1, NULL), 0);
  assert_int_equal(m.len, 2);
  tm_map_release(&m);
  assert_null(tm_map_find(&m, "a", 1));
}

static void keys_are_bytes(void **state)
{
  struct tm_map m = { 0 };
  char key[] = "k";
  *tm_map_add(&m, "", 0, NULL) = 1;
  *tm_map_add(&m, "\0", 1, NULL) = 2;
  *tm_map_add(&m, "\0\0", 2, NULL) = 3;
  *tm_map_add(&m, key, 1, NULL) = 4;
  key[0] = 'z'; /* the map has its own copy */
  assert_int_equal(*tm_map_find(&m, NULL, 0), 1);
  assert_int_equal(*tm_map_find(&m, "\0", 1), 2);
  assert_int_equal(*tm_map_find(&m, "\0\0", 2), 3);
  assert_int_equal(*tm_map_find(&m, "k", 1), 4);
  assert_null(tm_map_find(&m, "z", 1));
  tm_map_release(&m);
}

static void growing_keeps_every_key(void **state)
{
  enum { COUNT = 20000 };
  struct tm_map m = { 0 };
  char key[24];
  for (int i = 0; i < COUNT; i++) {
    bool is_new;
    size_t len = (size_t)snprintf(key, sizeof key, "key-%d", i);
    *tm_map_add(&m, key, len, &is_new) = (uint64_t)i;
    assert_true(is_new);
    assert_true(m.len <= m.cap / 4 * 3);
  }
  for (int i = 0; i < COUNT; i++) {
    size_t len = (size_t)snprintf(key, sizeof key, "key-%d", i);
    uint64_t *value = tm_map_find(&m, key, len);
    assert_non_null(value);
    assert_true(*value == (uint64_t)i);
  }
  assert_null(tm_map_find(&m, "key-20000", 9));
  assert_int_equal(m.len, COUNT);
  tm_map_release(&m);
}

UNIT_TESTS({
    cmocka_unit_test(empty_finds_nothing),
    cmocka_unit_test(added_twice_is_one),
    cmocka_unit_test(keys_are_bytes),
    cmocka_unit_test(growing_keeps_every_key),
});
