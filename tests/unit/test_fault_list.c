/* test_fault_list.c - warnings as bytes, which may be hostile when they are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/fault_list.h"

static void add(struct tm_buf *list, int kind, const char *text)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_buf_add_str(&words, text);
  tm_fault_list_add(list, kind, &words);
  tm_buf_release(&words);
}

/* Reads warnings from the bytes, checks that they stay within them, and returns their number. */
static int count(const char *p, size_t n)
{
  struct tm_reader r;
  const char *words;
  size_t len;
  int kind, got = 0;
  tm_reader_init(&r, p, n);
  for (; tm_fault_list_next(&r, &kind, &words, &len); got++) {
    assert_in_range(kind, 1, TM_FAULT_LIST_KINDS - 1);
    assert_true(words >= p && len <= (size_t)(p + n - words));
  }
  return got;
}

static void warnings_are_read_back(void **state)
{
  struct tm_buf list = TM_BUF_NONE, words = TM_BUF_NONE;
  add(&list, 1, "short");
  add(&list, 31, "");
  add(&list, 2, "long");
  assert_int_equal(count(list.data, list.len), 3);
  tm_fault_list_words(&words, &list);
  assert_string_equal(words.data, "short; ; long");
  tm_buf_release(&list);
  tm_buf_release(&words);
}

static void damaged_lists_end(void **state)
{
  struct tm_buf list = TM_BUF_NONE;
  add(&list, 1, "first");
  add(&list, 2, "second");
  for (size_t n = 0; n < list.len; n++)
    assert_int_equal(count(list.data, n), n >= 1 + 4 + 5);
  for (int kind = 0; kind < 256; kind++) {
    list.data[0] = (char)kind;
    assert_int_equal(count(list.data, list.len), kind > 0 && kind < TM_FAULT_LIST_KINDS ? 2 : 0);
  }
  memset(list.data, 0x7f, list.len);
  list.data[0] = 1;
  assert_int_equal(count(list.data, list.len), 0);
  tm_buf_release(&list);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(warnings_are_read_back),
    cmocka_unit_test(damaged_lists_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
