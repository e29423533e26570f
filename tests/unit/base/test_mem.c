/* test_mem.c - sizes that overflow cause a fault; no function returns NULL. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fault.h"

static void zero_bytes_are_memory(void **state)
{
  void *a = tm_xmalloc(0), *b = tm_xcalloc(0, 8), *c = tm_xrealloc(NULL, 0);
  assert_non_null(a);
  assert_non_null(b);
  assert_non_null(c);
  c = tm_xrealloc(c, 0);
  assert_non_null(c);
  free(a);
  free(b);
  free(c);
}

static void calloc_is_zeroed(void **state)
{
  unsigned char *p = tm_xcalloc(100, 3);
  for (int i = 0; i < 300; i++)
    assert_int_equal(p[i], 0);
  free(p);
}

static void overflow_is_a_fault(void **state)
{
  int *none = NULL;
  size_t cap = 0;
  expect_fault(tm_xcalloc(SIZE_MAX / 2, 3));
  expect_fault(tm_xstrndup("x", SIZE_MAX));
  expect_fault(tm_array_reserve((void **)&none, SIZE_MAX / 2, &cap, sizeof *none));
}

static void strings_are_copied(void **state)
{
  assert_null(tm_xstrdup(NULL));
  char *a = tm_xstrdup("abc"), *b = tm_xstrndup("a\0b", 3), *c = tm_xprintf("%s-%d", "n", 7);
  assert_string_equal(a, "abc");
  assert_memory_equal(b, "a\0b", 4);
  assert_string_equal(c, "n-7");
  free(a);
  free(b);
  free(c);
}

static void long_text_is_printed_whole(void **state)
{
  char *s = tm_xprintf("%5000d", 1);
  assert_int_equal(strlen(s), 5000);
  assert_int_equal(s[4999], '1');
  free(s);
}

static void array_grows_and_keeps(void **state)
{
  struct TM_ARRAY(int) a = { 0 };
  for (int i = 0; i < 1000; i++)
    *TM_ARRAY_ADD(&a) = i;
  assert_int_equal(a.len, 1000);
  assert_true(a.cap >= a.len);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(a.at[i], i);
  TM_ARRAY_RELEASE(&a);
  assert_null(a.at);
  assert_int_equal(a.cap, 0);
}

static void what_an_array_points_to_is_freed_with_it(void **state)
{
  struct TM_ARRAY(char *) a = { 0 }, b = { 0 };
  for (int i = 0; i < 3; i++) {
    *TM_ARRAY_ADD(&a) = tm_xstrdup("a");
    *TM_ARRAY_ADD(&b) = tm_xstrdup("b");
  }
  TM_ARRAY_RELEASE_EACH(&a); /* the sanitizer reports what is left */
  tm_strings_free(b.at, b.len);
  tm_strings_free(NULL, 0);
  assert_null(a.at);
  assert_int_equal(a.len, 0);
}

UNIT_TESTS({
    cmocka_unit_test(zero_bytes_are_memory),
    cmocka_unit_test(calloc_is_zeroed),
    cmocka_unit_test(overflow_is_a_fault),
    cmocka_unit_test(strings_are_copied),
    cmocka_unit_test(long_text_is_printed_whole),
    cmocka_unit_test(array_grows_and_keeps),
    cmocka_unit_test(what_an_array_points_to_is_freed_with_it),
});
