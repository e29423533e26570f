/* test_failed.c - reads failed_items.jsonl as a list of paths, and refuses files that are not one.
 */
#include "unit.h"

#include "data/files/failed.h"
#include "folder.h"

/* Reads a list from these bytes and joins the paths with '|'. Returns the end or error. */
static int read_list(const char *text, size_t n, int64_t input, struct tm_buf *out,
                     int64_t *unnamed, struct tm_err *err)
{
  struct folder f;
  struct tm_item item;
  bool is_missing = true;
  int rc;

  folder_init(&f);
  assert_int_equal(
      tm_fs_write_file(tm_fs_real(), folder_file(&f, "failed_items.jsonl"), text, n, 0600, NULL),
      0);
  struct tm_failed *list =
      tm_failed_open(tm_fs_real(), folder_file(&f, "failed_items.jsonl"), input, &is_missing, err);
  assert_non_null(list);
  assert_false(is_missing);
  while ((rc = tm_failed_next(list, &item, err)) > 0) {
    assert_int_equal(item.size, -1);
    tm_buf_add(out, item.path, item.path_len);
    tm_buf_add_char(out, '|');
  }
  *unnamed = tm_failed_unnamed(list);
  tm_failed_close(list);
  folder_release(&f);
  return rc;
}

static void expect(const char *text, int64_t input, const char *want, int64_t want_unnamed)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int64_t unnamed = -1;

  assert_int_equal(read_list(text, strlen(text), input, &out, &unnamed, &err), 0);
  assert_string_equal(tm_buf_str(&out), want);
  assert_int_equal(unnamed, want_unnamed);
  tm_buf_release(&out);
}

static void items_are_paths_in_the_order_of_the_lines(void **state)
{
  expect("", TM_FAILED_ANY, "", 0);
  expect("\n\r\n\n", TM_FAILED_ANY, "", 0);
  expect("{\"mini_batch\":0,\"item\":\"/a\",\"try\":3}\n{\"item\":\"/b \\u00e9\\n\"}\r\n",
         TM_FAILED_ANY, "/a|/b \xc3\xa9\n|", 0);
  expect("{\"item\":\"/last\"}", TM_FAILED_ANY, "/last|", 0);
}

static void a_path_that_is_not_utf8_comes_byte_by_byte(void **state)
{
  expect("{\"item\":\"/\xef\xbf\xbd\",\"item_hex\":\"2FfE20\"}\n", TM_FAILED_ANY, "/\xfe |", 0);
}

static void inputs_are_distinguished(void **state)
{
  const char *text = "{\"item\":\"/a\",\"input\":0}\n{\"item\":\"/b\",\"input\":1}\n"
                     "{\"item\":null,\"count\":2,\"input\":1}\n{\"item\":\"/c\"}\n";

  expect(text, TM_FAILED_ANY, "/a|/b|/c|", 2);
  expect(text, 0, "/a|/c|", 0);
  expect(text, 1, "/b|", 2);
  expect(text, 2, "", 0);
}

static void items_without_a_name_are_counted(void **state)
{
  expect("{\"item\":null,\"count\":2}\n{\"item\":\"/a\"}\n{\"item\":null,\"count\":40}\n",
         TM_FAILED_ANY, "/a|", 42);
}

static void a_line_may_be_longer_than_a_piece(void **state)
{
  struct tm_buf text = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int64_t unnamed;

  for (int i = 0; i < 3; i++) {
    tm_buf_add_str(&text, "{\"error\":\"");
    memset(tm_buf_extend(&text, 700 << 10), 'x', 700 << 10);
    tm_buf_printf(&text, "\",\"item\":\"/%d\"}\n", i);
  }
  assert_int_equal(read_list(text.data, text.len, TM_FAILED_ANY, &out, &unnamed, &err), 0);
  assert_string_equal(tm_buf_str(&out), "/0|/1|/2|");
  tm_buf_release(&out);
  tm_buf_release(&text);
}

static void an_invalid_line_ends_the_reading_and_is_reported(void **state)
{
  static const struct {
    const char *line, *words;
  } cases[] = {
    { "rubbish", "line 2: " },
    { "{\"item\":\"/b\"", "line 2: " },
    { "[\"/b\"]", "line 2: no JSON object" },
    { "7", "line 2: no JSON object" },
    { "{}", "line 2: 'item' is missing or not a string" },
    { "{\"item\":7}", "'item' is missing or not a string" },
    { "{\"item\":[\"/b\"]}", "'item' is missing or not a string" },
    { "{\"item\":\"\"}", "the item is not an absolute path" },
    { "{\"item\":\"b\"}", "the item is not an absolute path" },
    { "{\"item\":\"/b\\u0000c\"}", "the item is not an absolute path" },
    { "{\"item\":null}", "'count' does not say how many there are" },
    { "{\"item\":null,\"count\":0}", "'count' does not say how many there are" },
    { "{\"item\":null,\"count\":-3}", "'count' does not say how many there are" },
    { "{\"item\":null,\"count\":\"2\"}", "'count' does not say how many there are" },
    { "{\"item\":\"/b\",\"item_hex\":\"2\"}", "'item_hex' is not a string of hexadecimal digits" },
    { "{\"item\":\"/b\",\"item_hex\":\"2g\"}", "'item_hex' is not a string of hexadecimal digits" },
    { "{\"item\":\"/b\",\"item_hex\":7}", "'item_hex' is not a string of hexadecimal digits" },
    { "{\"item\":\"/b\",\"item_hex\":\"2f00\"}", "the item is not an absolute path" },
    { "{\"item\":\"/b\",\"item_hex\":\"\"}", "the item is not an absolute path" },
    { "{\"item\":\"/b\",\"input\":-1}", "'input' is not a number of an input" },
    { "{\"item\":\"/b\",\"input\":\"0\"}", "'input' is not a number of an input" },
    { "{\"item\":\"/\xff\"}", "line 2: " },
    { "\xef\xbb\xbf{\"item\":\"/b\"}", "line 2: " },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    struct tm_buf text = TM_BUF_NONE, out = TM_BUF_NONE;
    struct tm_err err = TM_ERR_NONE;
    int64_t unnamed;
    tm_buf_printf(&text, "{\"item\":\"/a\"}\n%s\n{\"item\":\"/c\"}\n", cases[i].line);
    assert_int_equal(read_list(text.data, text.len, TM_FAILED_ANY, &out, &unnamed, &err),
                     TM_EUSAGE);
    assert_string_equal(tm_buf_str(&out), "/a|");
    assert_non_null(strstr(err.text, cases[i].words));
    assert_non_null(strstr(err.text, "failed_items.jsonl', line 2"));
    tm_buf_release(&out);
    tm_buf_release(&text);
  }
}

static void a_path_that_is_too_long_is_refused(void **state)
{
  struct tm_buf text = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int64_t unnamed;

  tm_buf_add_str(&text, "{\"item\":\"/");
  memset(tm_buf_extend(&text, 20000), 'x', 20000);
  tm_buf_add_str(&text, "\"}\n");
  assert_int_equal(read_list(text.data, text.len, TM_FAILED_ANY, &out, &unnamed, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "too long"));
  tm_buf_release(&text);
}

static void missing_files_and_folders_are_distinguished(void **state)
{
  struct folder f;
  struct tm_err err = TM_ERR_NONE;
  bool is_missing = false;

  folder_init(&f);
  assert_null(tm_failed_open(tm_fs_real(), folder_file(&f, "none"), 0, &is_missing, &err));
  assert_true(is_missing);
  assert_null(tm_failed_open(tm_fs_real(), f.path, 0, &is_missing, &err));
  assert_false(is_missing);
  assert_non_null(strstr(err.text, "is not a regular file"));
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(items_are_paths_in_the_order_of_the_lines),
    cmocka_unit_test(a_path_that_is_not_utf8_comes_byte_by_byte),
    cmocka_unit_test(inputs_are_distinguished),
    cmocka_unit_test(items_without_a_name_are_counted),
    cmocka_unit_test(a_line_may_be_longer_than_a_piece),
    cmocka_unit_test(an_invalid_line_ends_the_reading_and_is_reported),
    cmocka_unit_test(a_path_that_is_too_long_is_refused),
    cmocka_unit_test(missing_files_and_folders_are_distinguished),
});
