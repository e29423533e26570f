/* test_paths.c - reads lists of paths, wherever a block ends, and refuses files that are not lists.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <limits.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "data/files/paths.h"
#include "tree_fixture.h"

#define LIMIT (4 * PATH_MAX)

/* Reads the list and joins the paths with '|'. Returns the end or error. */
static int read_list(const char *root, const char *path, bool null_separated, struct tm_buf *out,
                     struct tm_err *err)
{
  struct tm_paths *p = tm_paths_open(tm_fs_real(), root, path, null_separated, NULL, err);
  struct tm_item item;
  int rc;
  tm_buf_clear(out);
  if (p == NULL)
    return err->code;
  while ((rc = tm_paths_next(p, &item, err)) > 0) {
    assert_true(item.size == -1 && item.mtime_ns == 0);
    tm_buf_add(out, item.path, item.path_len);
    tm_buf_add_char(out, '|');
  }
  tm_paths_close(p);
  return rc;
}

static void expect_list(const char *root, const void *text, size_t n, bool null_separated,
                        const char *want)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  tree_file(root, "lists/list", text, n);
  assert_int_equal(read_list(root, "lists/list", null_separated, &out, &err), 0);
  assert_string_equal(tm_buf_str(&out), want);
  tm_buf_release(&out);
}

#define LINES(text, want)   expect_list(*state, text, sizeof(text) - 1, false, want)
#define RECORDS(text, want) expect_list(*state, text, sizeof(text) - 1, true, want)

static void lines_end_as_people_end_them(void **state)
{
  LINES("", "");
  LINES("\n\n\r\n\n", "");
  LINES("/a\n/b\n", "/a|/b|");
  LINES("/a\n\n/b", "/a|/b|");
  LINES("/a\r\n/b\r\n", "/a|/b|");
  LINES("/a\r\r\n/b\r", "/a\r|/b\r|");
  LINES("\xef\xbb\xbf/a\n/\xef\xbb\xbf",
        "/a|/\xef\xbb\xbf|"); /* at the beginning a byte order mark, elsewhere part of a name */
}

static void records_hold_any_other_byte(void **state)
{
  RECORDS("", "");
  RECORDS("\0\0", "");
  RECORDS("/a\nb\0/c\r\0/d", "/a\nb|/c\r|/d|");
  RECORDS("/a\0\0/b\0", "/a|/b|");
}

static void relative_paths_are_against_the_lists_folder(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  char *want = tm_xprintf("%s/lists/a|/b|%s/lists/../c|%s/lists/d|", (char *)*state, (char *)*state,
                          (char *)*state);
  tree_file(*state, "lists/list", "a\n/b\n../c\nd", 11);
  assert_int_equal(read_list(*state, "lists/list", false, &out, &err), 0);
  assert_string_equal(tm_buf_str(&out), want);
  tm_buf_release(&out);
  free(want);
}

static void fifo_is_read_and_has_no_folder(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  char *fifo = tm_path_join(*state, "fifo");
  assert_int_equal(mkfifo(fifo, 0600), 0);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    FILE *f = fopen(fifo, "w"); /* waits for the reader */
    for (const char *s = "\xef\xbb\xbf/a\nrel\n/c"; *s != '\0'; s++) {
      fputc(*s, f); /* byte by byte: the shortest reads */
      fflush(f);
    }
    _exit(fclose(f) != 0);
  }
  assert_int_equal(read_list("/base", fifo, false, &out, &err), 0);
  assert_string_equal(tm_buf_str(&out), "/a|/base/rel|/c|");
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  tm_buf_release(&out);
  free(fifo);
}

/* Paths of every length cross the end of a block. */
static void pieces_cut_nothing(void **state)
{
  enum { COUNT = 200000 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  struct tm_item item;
  char want[300], name[300];
  memset(name, 'x', sizeof(name));
  for (int i = 0; i < COUNT; i++)
    tm_buf_printf(&text, "%s%d_%.*s\n", i % 3 == 0 ? "/" : "", i, i % 40, name);
  tree_file(*state, "list", text.data, text.len);
  struct tm_paths *p = tm_paths_open(tm_fs_real(), *state, "list", false, NULL, &err);
  for (int i = 0; i < COUNT; i++) {
    int n = i % 3 == 0
                ? snprintf(want, sizeof(want), "/%d_%.*s", i, i % 40, name)
                : snprintf(want, sizeof(want), "%s/%d_%.*s", (char *)*state, i, i % 40, name);
    if (tm_paths_next(p, &item, &err) != 1 || item.path_len != (size_t)n ||
        memcmp(item.path, want, (size_t)n) != 0)
      fail_msg("path %d is not '%s'", i, want);
  }
  assert_int_equal(tm_paths_next(p, &item, &err), 0);
  assert_int_equal(tm_paths_next(p, &item, &err), 0);
  tm_paths_close(p);
  tm_buf_release(&text);
}

/* A path of `n` bytes that starts `before` bytes after the beginning of the list. */
static int read_long(const char *root, size_t before, size_t n, const char *end, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE, out = TM_BUF_NONE;
  for (size_t i = 0; i < before; i += 8)
    tm_buf_add_str(&text, "/abcdef\n");
  memset(tm_buf_extend(&text, n), '/', n);
  tm_buf_add_str(&text, end);
  tree_file(root, "list", text.data, text.len);
  int rc = read_list(root, "list", false, &out, err);
  tm_buf_release(&text);
  tm_buf_release(&out);
  return rc;
}

static void limit_is_the_same_wherever_a_path_lies(void **state)
{
  static const size_t befores[] = {
    0, 8, (256 << 10) - LIMIT, (256 << 10) - LIMIT - 8, (256 << 10) - 8, 256 << 10
  };
  static const char *const ends[] = { "", "\n", "\r\n", "\n/x\n" };
  struct tm_err err = TM_ERR_NONE;
  for (size_t b = 0; b < 6; b++)
    for (size_t e = 0; e < 4; e++) {
      assert_int_equal(read_long(*state, befores[b], LIMIT, ends[e], &err), 0);
      assert_int_equal(read_long(*state, befores[b], LIMIT + 1, ends[e], &err), TM_EUSAGE);
    }
  assert_int_equal(read_long(*state, 800, 1 << 20, "\n", &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "/list', line 101: a path of more than 16384 bytes"));
}

static void nul_in_a_line_is_refused_with_its_number(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  tree_file(*state, "list", "/a\n\n/b\0/c\n", 10);
  assert_int_equal(read_list(*state, "list", false, &out, &err), TM_EUSAGE);
  assert_string_equal(tm_buf_str(&out), "/a|");
  assert_non_null(strstr(err.text, "/list', line 3: a NUL byte in a path"));
  assert_non_null(strstr(err.text, "null_separated = true"));
  tm_buf_release(&out);
}

static void lines_do_not_separate_a_list_with_nul(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  tree_file(*state, "list", "/a\n/b\n", 6);
  assert_int_equal(read_list(*state, "list", true, &out, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "/list' is one path of 6 bytes with line breaks"));
  tm_buf_clear(&out);
  tree_file(*state, "list", "/a\n\0/b\n", 7); /* names may end like this */
  assert_int_equal(read_list(*state, "list", true, &out, &err), 0);
  assert_string_equal(tm_buf_str(&out), "/a\n|/b\n|");
  tm_buf_release(&out);
}

static void a_wrong_list_is_named(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(read_list(*state, "nothing", false, &out, &err), -ENOENT);
  assert_non_null(strstr(err.text, "cannot open '"));
  tree_folder(*state, "folder");
  assert_int_equal(read_list(*state, "folder", false, &out, &err), -EISDIR);
  assert_non_null(strstr(err.text, "/folder' as a list of paths"));
  tm_buf_release(&out);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

UNIT_TESTS({
    IN_TREE(lines_end_as_people_end_them),
    IN_TREE(records_hold_any_other_byte),
    IN_TREE(relative_paths_are_against_the_lists_folder),
    IN_TREE(fifo_is_read_and_has_no_folder),
    IN_TREE(pieces_cut_nothing),
    IN_TREE(limit_is_the_same_wherever_a_path_lies),
    IN_TREE(nul_in_a_line_is_refused_with_its_number),
    IN_TREE(lines_do_not_separate_a_list_with_nul),
    IN_TREE(a_wrong_list_is_named),
});
