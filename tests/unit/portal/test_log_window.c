/* test_log_window.c - pieces of a text file of any size, and their lines. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "portal/log_window.h"

static void a_window_is_within_the_file(void **state)
{
  struct tm_window w = tm_window_at("end", 10);
  assert_true(w.from == 0 && w.to == 10 && w.is_backward);
  w = tm_window_at("7", 10);
  assert_true(w.from == 7 && w.to == 10 && !w.is_backward);
  w = tm_window_at("before-7", 10);
  assert_true(w.from == 0 && w.to == 7 && w.is_backward);
  w = tm_window_at("99", 10); /* the file has become shorter */
  assert_true(w.from == 10 && w.to == 10);
  w = tm_window_at("-5", 10);
  assert_true(w.from == 0 && w.to == 10);
  w = tm_window_at("rubbish", 10);
  assert_true(w.from == 0 && w.to == 10);
  w = tm_window_at("end", INT64_C(1) << 40);
  assert_int_equal(w.to - w.from, TM_WINDOW_BYTES);
  w = tm_window_at("end", 0);
  assert_true(w.from == 0 && w.to == 0);
}

/* Cuts the window `where` out of a file of this text, and expects this of it. */
static void expect_cut(const char *text, struct tm_window w, const char *want)
{
  size_t skip = 99;
  int64_t from = w.from;
  tm_window_cut(&w, text + w.from, (size_t)(w.to - w.from), (int64_t)strlen(text), &skip);
  assert_int_equal(w.to - w.from, strlen(want));
  assert_memory_equal(text + from + skip, want, strlen(want));
  assert_int_equal(w.from, from + (int64_t)skip);
}

static void a_window_has_whole_lines(void **state)
{
  const char *text = "one\ntwo\nthree\nfour";
  expect_cut(text, (struct tm_window) { 0, 10, false }, "one\ntwo\n");
  expect_cut(text, (struct tm_window) { 4, 18, false }, "two\nthree\nfour");
  expect_cut(text, (struct tm_window) { 5, 18, true }, "three\nfour");
  expect_cut(text, (struct tm_window) { 0, 8, true }, "one\ntwo\n");
  expect_cut(text, (struct tm_window) { 4, 6, false }, "tw"); /* a piece of a long line */
  expect_cut(text, (struct tm_window) { 15, 18, true }, "our");
  expect_cut(text, (struct tm_window) { 18, 18, false }, "");
}

static void a_window_has_so_many_lines(void **state)
{
  struct tm_buf text = TM_BUF_NONE;
  for (int i = 0; i < TM_WINDOW_LINES + 10; i++)
    tm_buf_add_str(&text, "x\n");
  size_t skip;
  struct tm_window w = tm_window_at("0", (int64_t)text.len);
  tm_window_cut(&w, text.data, text.len, (int64_t)text.len, &skip);
  assert_true(w.from == 0 && w.to == 2 * TM_WINDOW_LINES && skip == 0);
  w = tm_window_at("end", (int64_t)text.len);
  tm_window_cut(&w, text.data, text.len, (int64_t)text.len, &skip);
  assert_true(w.from == 20 && w.to == (int64_t)text.len && skip == 20);
  tm_buf_release(&text);
}

static void expect_line(const char *data, size_t n, const char *want, int64_t more)
{
  struct tm_window_line line;
  size_t at = 0;
  assert_true(tm_window_line(data, n, &at, &line));
  assert_int_equal(line.len, strlen(want));
  assert_memory_equal(line.text, want, line.len);
  assert_int_equal(line.more, more);
}

static void a_progress_bar_shows_its_last_state(void **state)
{
  expect_line("\r1%\r50%\r100%\n", 13, "100%", 0);
  expect_line("\r1%\r50%\r", 8, "50%", 0);
  expect_line("dos\r\n", 5, "dos", 0);
  expect_line("\r\r\r", 3, "", 0);
  expect_line("\n", 1, "", 0);
}

static void a_line_has_a_limit(void **state)
{
  size_t n = 3 * TM_WINDOW_LINE;
  char *data = malloc(n);
  memset(data, 'x', n);
  struct tm_window_line line;
  size_t at = 0;
  assert_true(tm_window_line(data, n, &at, &line));
  assert_int_equal(line.len, TM_WINDOW_LINE);
  assert_int_equal(line.more, 2 * TM_WINDOW_LINE);
  assert_int_equal(at, n);
  assert_false(tm_window_line(data, n, &at, &line));
  memcpy(data + TM_WINDOW_LINE - 1, "\xc3\xa9", 2); /* a character across the limit stays whole */
  at = 0;
  assert_true(tm_window_line(data, n, &at, &line));
  assert_int_equal(line.len, TM_WINDOW_LINE - 1);
  memset(data, 0x80, n); /* not UTF-8: it is cut all the same */
  at = 0;
  assert_true(tm_window_line(data, n, &at, &line));
  assert_true(line.len >= TM_WINDOW_LINE - 4);
  free(data);
}

UNIT_TESTS({
    cmocka_unit_test(a_window_is_within_the_file),
    cmocka_unit_test(a_window_has_whole_lines),
    cmocka_unit_test(a_window_has_so_many_lines),
    cmocka_unit_test(a_progress_bar_shows_its_last_state),
    cmocka_unit_test(a_line_has_a_limit),
});
