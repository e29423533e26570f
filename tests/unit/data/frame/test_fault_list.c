/* test_fault_list.c - warnings as bytes, which may be hostile when they are read. */
#include "unit.h"

#include <string.h>

#include "data/frame/fault_list.h"

static void add(struct tm_buf *list, int kind, const char *text)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_buf_add_str(&words, text);
  tm_fault_list_add(list, kind, kind * 10, "what", &words);
  tm_buf_release(&words);
}

/* Reads warnings from the bytes, checks that they stay within them, and returns their number. */
static int count(const char *p, size_t n)
{
  struct tm_reader r;
  struct tm_fault_entry e;
  int got = 0;
  tm_reader_init(&r, p, n);
  for (; tm_fault_list_next(&r, &e); got++) {
    assert_in_range(e.kind, 1, TM_FAULT_LIST_KINDS - 1);
    assert_true(e.count >= 0);
    assert_true(e.what >= p && e.what_len <= (size_t)(p + n - e.what));
    assert_true(e.words >= p && e.words_len <= (size_t)(p + n - e.words));
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
  struct tm_reader r;
  struct tm_fault_entry e;
  tm_reader_init(&r, list.data, list.len);
  assert_true(tm_fault_list_next(&r, &e));
  assert_int_equal(e.kind, 1);
  assert_int_equal(e.count, 10);
  assert_int_equal(e.what_len, 4);
  assert_memory_equal(e.what, "what", 4);
  assert_memory_equal(e.words, "short", 5);
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
    assert_int_equal(count(list.data, n), n >= 1 + 8 + 4 + 4 + 4 + 5);
  for (int kind = 0; kind < 256; kind++) {
    list.data[0] = (char)kind;
    assert_int_equal(count(list.data, list.len), kind > 0 && kind < TM_FAULT_LIST_KINDS ? 2 : 0);
  }
  list.data[0] = 1;
  memset(list.data + 1, 0xff, 8); /* a count below 0 */
  assert_int_equal(count(list.data, list.len), 0);
  memset(list.data, 0x7f, list.len);
  list.data[0] = 1;
  assert_int_equal(count(list.data, list.len), 0);
  tm_buf_release(&list);
}

UNIT_TESTS({
    cmocka_unit_test(warnings_are_read_back),
    cmocka_unit_test(damaged_lists_end),
});
