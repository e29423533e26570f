/* test_log_line.c - lines of logs and rows of tables, good ones and those that a script may have
 * written there. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/time.h"
#include "report/log_line.h"

static void a_line_comes_apart(void **state)
{
  static const char text[] =
      "2026-01-31 23:59:58,123|WARNING|4711|process003|a message | with bars";
  struct tm_log_line l;
  assert_true(tm_log_line_read(text, strlen(text), &l));
  assert_int_equal(l.level, TM_WARNING);
  assert_int_equal(l.process_len, strlen("process003"));
  assert_memory_equal(l.process, "process003", l.process_len);
  assert_int_equal(l.message_len, strlen("a message | with bars"));
  assert_memory_equal(l.message, "a message", 9);
}

static void an_invalid_line_is_ignored(void **state)
{
  static const char *const texts[] = { "",
                                       "stack traceback:",
                                       "2026-01-31 23:59:58,123",
                                       "2026-01-31 23:59:58,123|INFO|1|p",
                                       "2026-01-31 23:59:58,123|NOTE|1|p|message",
                                       "2026-13-31 23:59:58,123|INFO|1|p|message",
                                       "2026-01-31 24:59:58,123|INFO|1|p|message",
                                       "2026-01-31 23:59:58|INFO|1|p|message",
                                       "2026-01-31 23:59:58,|INFO|1|p|message",
                                       "x026-01-31 23:59:58,123|INFO|1|p|message" };
  struct tm_log_line l;
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++)
    assert_false(tm_log_line_read(texts[i], strlen(texts[i]), &l));
}

static void a_line_that_is_cut_does_no_harm(void **state)
{
  static const char text[] = "2026-01-31 23:59:58,123|INFO|4711|p|m";
  struct tm_log_line l;
  for (size_t n = 0; n < strlen(text) - 1; n++) {
    char *copy =
        tm_xmalloc(n + 1); /* a buffer of exact size, so that a sanitizer sees a read beyond it */
    memcpy(copy, text, n);
    assert_false(tm_log_line_read(copy, n, &l));
    free(copy);
  }
}

/* Reading returns what was written, over some centuries. */
static void moments_are_those_that_were_written(void **state)
{
  for (int64_t s = 0; s < INT64_C(7000000000); s += 8640007) {
    int64_t wall_ns = s * TM_S + 123 * TM_MS, read_ns = -1;
    struct tm_buf text = TM_BUF_NONE;
    tm_time_log(&text, wall_ns);
    assert_int_equal(tm_log_moment(text.data, text.len, &read_ns), text.len);
    assert_int_equal(read_ns, wall_ns);
    tm_buf_clear(&text);
    tm_time_iso(&text, wall_ns + 456000);
    assert_int_equal(tm_log_moment(text.data, text.len, &read_ns), text.len);
    assert_int_equal(read_ns, wall_ns + 456000);
    tm_buf_release(&text);
  }
}

static void a_word_is_not_a_part_of_one(void **state)
{
  static const char text[] = "process001 (node 0) and process0010";
  size_t n = strlen(text);
  assert_true(tm_log_has_word(text, n, "process001"));
  assert_true(tm_log_has_word(text, n, "process0010"));
  assert_false(tm_log_has_word(text, n, "process00"));
  assert_false(tm_log_has_word(text, n, "rocess001"));
  assert_false(tm_log_has_word(text, n, ""));
  assert_false(tm_log_has_word(text, 9, "process001"));
}

static int64_t about(const char *message)
{
  return tm_log_mini_batch(message, strlen(message));
}

static int64_t try_of(const char *message)
{
  return tm_log_try_of(message, strlen(message));
}

static void lines_of_the_keeper_name_their_mini_batch(void **state)
{
  assert_int_equal(try_of("mini-batch 7, try 2: RUN_EXCEPTION"), 7);
  assert_int_equal(try_of("process000: run() of mini-batch 12, try 1, passed its timeout"), 12);
  assert_int_equal(try_of("killed in run(); mini-batch 0, try 3; lived 2 s"), 0);
  assert_int_equal(try_of("after mini-batch 3: mini-batch 4, try 1"), 4);
  assert_int_equal(try_of("after mini-batch 3"), -1);
  assert_int_equal(try_of("after mini-batch 3, tr"), -1);
  assert_int_equal(try_of(""), -1);
}

static void a_message_says_which_mini_batch_it_is_about(void **state)
{
  assert_int_equal(about("mini-batch 17, try 2: RUN_EXCEPTION"), 17);
  assert_int_equal(about("mini-batch 0: done"), 0);
  assert_int_equal(about("mini-batch 17"), -1);
  assert_int_equal(about("mini-batch x, y"), -1);
  assert_int_equal(about("mini-batch , y"), -1);
  assert_int_equal(about("the mini-batch 17, "), -1);
  assert_int_equal(about(""), -1);
}

static void expect_fields(const char *row, size_t n, const char *joined)
{
  char *copy = tm_xstrdup(row), *f[4];
  struct tm_buf text = TM_BUF_NONE;
  assert_int_equal(tm_csv_split(copy, strlen(copy), f, 4), n);
  for (size_t i = 0; i < n; i++)
    tm_buf_printf(&text, "<%s>", f[i]);
  assert_string_equal(text.data, joined);
  tm_buf_release(&text);
  free(copy);
}

static void a_row_comes_apart(void **state)
{
  expect_fields("a,b,c", 3, "<a><b><c>");
  expect_fields("a,,c,", 4, "<a><><c><>");
  expect_fields("\"a,b\",\"c \"\"d\"\"\"", 2, "<a,b><c \"d\">");
  expect_fields("\"\",x", 2, "<><x>");
  expect_fields("\"open, and no end", 1, "<open, and no end>");
  expect_fields("\"closed\"behind,x", 2, "<closedbehind><x>");
  expect_fields("", 1, "<>");
  expect_fields("1,2,3,4,5", 4, "<1><2><3><4>");
}

/* ---- the stack of an error ---- */

#define ERROR_HEAD "2026-11-28 14:49:53,504|ERROR|22837|process000|"

static const char errors[] =
    "of an entry that was cut\n" /* the file was replaced */
    ERROR_HEAD "mini-batch 12, try 1: RUN_EXCEPTION: s.lua:7: bad\n"
    "stack traceback:\n\tof 12, try 1\n" ERROR_HEAD
    "mini-batch 1, try 12: RUN_EXCEPTION: s.lua:7: bad\n"
    "stack traceback:\n\tof 1, try 12\n" ERROR_HEAD
    "mini-batch 1, try 2: RUN_EXCEPTION: s.lua:7: line 1 \xff\n"
    "line 2\nstack traceback:\n\t[C]: in function 'error'\n\ts.lua:7\n" ERROR_HEAD
    "mini-batch 5, try 1: RUN_WRONG_RETURN: s.lua:3: run() returned a number\n" ERROR_HEAD
    "killed by signal 9; mini-batch 6, try 1; lived 2 s\n"
    "the last lines of its stderr:\n\tout of paper\n" ERROR_HEAD
    "init() failed: s.lua:1: no model\n"
    "stack traceback:\n\tof init()";

static void expect_rest(int64_t mini_batch, int64_t try_number, const char *expected)
{
  struct tm_log_error e = { .mini_batch = mini_batch, .try_number = try_number };
  size_t len = 99;
  const char *at = tm_log_error_rest(errors, sizeof(errors) - 1, &e, &len);
  char *found = at ? tm_xstrndup(at, len) : NULL;
  if (expected)
    assert_string_equal(found, expected);
  else
    assert_null(found);
  free(found);
}

static void the_stack_of_one_try_is_found(void **state)
{
  expect_rest(1, 2, "stack traceback:\n\t[C]: in function 'error'\n\ts.lua:7");
  expect_rest(12, 1, "stack traceback:\n\tof 12, try 1");
  expect_rest(1, 12, "stack traceback:\n\tof 1, try 12");
  expect_rest(1, 1, NULL);
  expect_rest(2, 1, NULL); /* within "mini-batch 12, try 1" */
}

static void other_entries_have_their_own_lines(void **state)
{
  expect_rest(5, 1, "");
  expect_rest(6, 1, "the last lines of its stderr:\n\tout of paper");
  expect_rest(-1, 0, "stack traceback:\n\tof init()");
}

/* A file may end anywhere. */
static void each_beginning_can_be_read(void **state)
{
  for (size_t n = 0; n < sizeof(errors); n++) {
    struct tm_log_error e = { .mini_batch = 1, .try_number = 2 };
    size_t len;
    char *copy = tm_xstrndup(errors, n), *end = copy + n;
    const char *at = tm_log_error_rest(copy, n, &e, &len);
    assert_true(!at || (at >= copy && at + len <= end));
    free(copy);
  }
}

UNIT_TESTS({
    cmocka_unit_test(a_line_comes_apart),
    cmocka_unit_test(an_invalid_line_is_ignored),
    cmocka_unit_test(a_line_that_is_cut_does_no_harm),
    cmocka_unit_test(moments_are_those_that_were_written),
    cmocka_unit_test(a_word_is_not_a_part_of_one),
    cmocka_unit_test(a_message_says_which_mini_batch_it_is_about),
    cmocka_unit_test(lines_of_the_keeper_name_their_mini_batch),
    cmocka_unit_test(a_row_comes_apart),
    cmocka_unit_test(the_stack_of_one_try_is_found),
    cmocka_unit_test(other_entries_have_their_own_lines),
    cmocka_unit_test(each_beginning_can_be_read),
});
