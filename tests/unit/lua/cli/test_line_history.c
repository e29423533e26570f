/* test_line_history.c - the history of a prompt on disk: where it is, what it keeps, how long the
 * file gets. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/terminal/line_history.h"
#include "sys/fs.h"

static void assert_path(const char *expected, const char *named, const char *state,
                        const char *home)
{
  char *path = tm_line_history_path(named, state, home);
  if (expected)
    assert_string_equal(path, expected);
  else
    assert_null(path);
  free(path);
}

static void the_place_is_named_or_of_the_home(void **state)
{
  assert_path("/x", "/x", "/state", "/home");
  assert_path(NULL, "", "/state", "/home");
  assert_path("/state/tidemill/history", NULL, "/state", "/home");
  assert_path("/home/.local/state/tidemill/history", NULL, "relative", "/home");
  assert_path(NULL, NULL, NULL, NULL);
}

static void lines_with_a_blank_before_them_are_not_kept(void **state)
{
  assert_true(tm_line_history_is_kept("x = 1"));
  assert_false(tm_line_history_is_kept(" x = 1"));
  assert_false(tm_line_history_is_kept(""));
  assert_false(tm_line_history_is_kept("\t "));
}

struct seen {
  int lines;
  char first[32], last[32];
};

static void on_line(void *data, const char *line)
{
  struct seen *s = data;
  if (s->lines++ == 0)
    snprintf(s->first, sizeof(s->first), "%s", line);
  snprintf(s->last, sizeof(s->last), "%s", line);
}

static void a_file_that_grows_is_cut(void **state)
{
  char dir[] = "/tmp/tm-history-XXXXXX";
  assert_non_null(mkdtemp(dir));
  char *path = tm_xprintf("%s/a/b", dir), line[32];
  struct seen none = { 0 }, seen = { 0 }, again = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  tm_line_history_load(path, on_line, &none);
  assert_int_equal(none.lines, 0);
  for (int i = 1; i <= 2 * TM_LINE_HISTORY_LINES + 1; i++) {
    snprintf(line, sizeof(line), "line %d", i);
    assert_true(tm_line_history_add(path, line));
  }
  tm_line_history_load(path, on_line, &seen);
  assert_int_equal(seen.lines, TM_LINE_HISTORY_LINES);
  assert_string_equal(seen.first, "line 2002");
  assert_string_equal(seen.last, "line 4001");
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 1 << 20, &text, NULL), 0);
  assert_int_equal(strncmp(text.data, "line 2002\n", 10), 0);
  tm_line_history_load(path, on_line, &again);
  assert_int_equal(again.lines, TM_LINE_HISTORY_LINES);
  tm_buf_release(&text);
  assert_false(tm_line_history_add("/dev/null/x", "y"));
  assert_int_equal(tm_tree_remove(dir, NULL), 0);
  free(path);
}

UNIT_TESTS({
    cmocka_unit_test(the_place_is_named_or_of_the_home),
    cmocka_unit_test(lines_with_a_blank_before_them_are_not_kept),
    cmocka_unit_test(a_file_that_grows_is_cut),
});
