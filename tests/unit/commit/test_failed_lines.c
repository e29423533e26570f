/* test_failed_lines.c - lines of the failures log, and the parts of a mini-batch that they
 * describe. */
#include "unit.h"

#include "commit/failed_lines.h"
#include "commit/manifest.h"
#include "commit/manifest_file.h"
#include "commit/part_read.h"
#include "data/files/failed.h"
#include "folder.h"
#include "record/part.h"

static const struct tm_failed_try why = { .index = 7,
                                          .try = 3,
                                          .dataset = 1,
                                          .status = TM_RUN_EXCEPTION,
                                          .message = "no \"luck\"",
                                          .message_len = 9,
                                          .log = "/job/log" };

static struct tm_item item(const char *path)
{
  return (struct tm_item) { .path = path, .path_len = strlen(path), .size = -1 };
}

static void expect_short(uint32_t items, uint32_t marked, uint32_t returned, const char *want)
{
  struct tm_buf out = TM_BUF_NONE;

  tm_failed_lines_short(&out, &why, items, marked, returned);
  assert_string_equal(tm_buf_str(&out), want);
  tm_buf_release(&out);
}

static void a_line_names_item_try_and_reason(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_item good = item("/a b"), odd = item("/\xfe\n");

  tm_failed_lines_item(&out, &why, &good);
  assert_string_equal(out.data,
                      "{\"mini_batch\":7,\"item\":\"/a b\",\"input\":1,\"try\":3,\"status\":"
                      "\"RUN_EXCEPTION\",\"error\":\"no \\\"luck\\\"\",\"log\":\"/job/log\"}\n");
  tm_buf_clear(&out);
  struct tm_failed_try naming = why;
  naming.where = "s.lua:3";
  naming.names = "/in/b";
  tm_failed_lines_item(&out, &naming, &good);
  assert_non_null(strstr(out.data, ",\"where\":\"s.lua:3\",\"names\":\"/in/b\",\"log\":"));
  tm_buf_clear(&out);
  tm_failed_lines_item(&out, &why, &odd);
  assert_non_null(strstr(out.data, "\"item\":\"/\xef\xbf\xbd\\n\",\"item_hex\":\"2ffe0a\","));
  tm_buf_release(&out);
}

static void missing_elements_are_one_line(void **state)
{
  expect_short(10, 0, 10, "");
  expect_short(10, 2, 8, "");
  expect_short(10, 0, 11, "");
  expect_short(10, 0, 8,
               "{\"mini_batch\":7,\"item\":null,\"count\":2,\"returned\":8,\"items\":10,\"input\":"
               "1,\"error\":"
               "\"" TM_SHORT_RETURN "\"}\n");
  expect_short(
      10, 3, 5,
      "{\"mini_batch\":7,\"item\":null,\"count\":2,\"returned\":5,\"items\":10,\"marked\":3,"
      "\"input\":1,\"error\":\"" TM_SHORT_RETURN "\"}\n");
}

static void each_line_adds_its_cause(void **state)
{
  struct tm_buf out = TM_BUF_NONE, text = TM_BUF_NONE;
  struct tm_causes causes = { .list = { 0 } };
  struct tm_failed_try t = why;
  struct tm_item rows = { .path = "/a.csv", .path_len = 6, .is_rows = true, .rows = 5 };

  t.causes = &causes;
  for (int i = 0; i < 2; i++) {
    struct tm_item file = item(i == 0 ? "/a" : "/b");
    tm_failed_lines_item(&out, &t, &file);
  }
  assert_int_equal(causes.list.len, 1);
  assert_string_equal(causes.list.at[0].message, "no \"luck\"");
  assert_int_equal(causes.list.at[0].items, 2);
  assert_memory_equal(causes.list.at[0].first_item, "/a", causes.list.at[0].first_item_len);
  tm_causes_add_text(&text, &causes);
  assert_string_equal(text.data, "2 items failed; the first, '/a': no \"luck\"");
  tm_failed_lines_item(&out, &t, &rows);
  assert_int_equal(causes.list.at[0].items, 7);
  tm_failed_lines_short(&out, &t, 10, 0, 8);
  tm_failed_lines_short(&out, &t, 9, 3, 1);
  assert_int_equal(causes.list.len, 2);
  assert_int_equal(causes.list.at[1].items, 7);
  assert_null(causes.list.at[1].first_item);
  assert_string_equal(causes.list.at[1].detail, "8 elements for 10 items");
  tm_buf_clear(&text);
  tm_causes_add_text(&text, &causes);
  assert_string_equal(text.data,
                      "14 items failed; the first, '/a': no \"luck\"; and 1 other cause");
  tm_causes_release(&causes);
  tm_failed_lines_short(&out, &t, 9, 3, 1);
  tm_buf_clear(&text);
  tm_causes_add_text(&text, &causes);
  assert_string_equal(text.data, "5 items failed: " TM_SHORT_RETURN
                                 " (1 element for 6 items that are not marked)");
  tm_causes_release(&causes);
  tm_causes_add(&causes, "a\0b", 3, NULL, 0, 1, NULL); /* a script's bytes */
  assert_string_equal(causes.list.at[0].message, "a?b");
  tm_causes_release(&causes);
  tm_buf_release(&text);
  tm_buf_release(&out);
}

static struct tm_manifest *list_of(struct folder *f, int items)
{
  struct tm_manifest *m;
  struct tm_buf bytes = TM_BUF_NONE;
  char path[16];

  assert_int_equal(tm_manifest_open(&m, tm_fs_real(), folder_file(f, "list"), 0, NULL), 0);
  assert_int_equal(tm_manifest_cut(m, NULL), 0);
  for (int i = 0; i < items; i++) {
    snprintf(path, sizeof(path), "/%d", i);
    struct tm_item one = item(path);
    tm_item_add(&bytes, &one);
  }
  assert_int_equal(tm_manifest_add(m, 0, (uint32_t)items, bytes.data, bytes.len, NULL), 0);
  assert_int_equal(tm_manifest_flush(m, NULL), 0);
  tm_buf_release(&bytes);
  return m;
}

static void expect_part(struct tm_manifest *m, uint64_t part, uint32_t first, uint32_t count)
{
  struct tm_manifest_entry entry;
  struct tm_reader r;
  struct tm_item one;
  char want[16];

  assert_int_equal(tm_part_read(m, 0, part, &entry, NULL), 0);
  assert_int_equal(entry.items, count);
  tm_reader_init(&r, entry.bytes, entry.len);
  for (uint32_t i = 0; i < count; i++) {
    assert_true(tm_item_next(&r, &one));
    snprintf(want, sizeof(want), "/%u", first + i);
    assert_int_equal(one.path_len, strlen(want));
    assert_memory_equal(one.path, want, one.path_len);
  }
  assert_false(tm_item_next(&r, &one));
  assert_false(r.bad);
}

static void a_part_is_its_items_and_no_others(void **state)
{
  struct folder f;
  struct tm_manifest_entry entry;
  struct tm_err err = TM_ERR_NONE;

  folder_init(&f);
  struct tm_manifest *m = list_of(&f, 12);
  expect_part(m, 0, 0, 12);
  expect_part(m, tm_part(0, 12), 0, 12);
  expect_part(m, tm_part(0, 1), 0, 1);
  expect_part(m, tm_part(11, 1), 11, 1);
  expect_part(m, tm_part(5, 4), 5, 4);
  assert_int_equal(tm_part_read(m, 0, tm_part(12, 1), &entry, &err), TM_EDAMAGE);
  assert_int_equal(tm_part_read(m, 0, tm_part(11, 2), &entry, &err), TM_EDAMAGE);
  assert_int_equal(tm_part_read(m, 0, tm_part(UINT32_MAX, UINT32_MAX), &entry, &err), TM_EDAMAGE);
  tm_manifest_close(m);
  folder_release(&f);
}

static void an_item_with_a_fault_keeps_it(void **state)
{
  struct tm_buf bytes = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_item good = item("/a"), bad = item("/x.zip");

  bad.is_entry = true;
  bad.archive_len = 6;
  bad.fault = "it is empty";
  bad.fault_len = 11;
  tm_item_add(&bytes, &good);
  tm_item_add(&bytes, &bad);
  struct tm_manifest_entry entry = { .items = 2, .bytes = bytes.data, .len = bytes.len };
  for (int whole = 0; whole < 2; whole++) {
    tm_buf_clear(&out);
    if (whole)
      tm_failed_lines_all(&out, &why, &entry);
    else
      tm_failed_lines_part(&out, &why, &entry, 0, 2);
    const char *second = strchr(out.data, '\n');
    assert_non_null(strstr(out.data, "\"error\":\"no \\\"luck\\\"\""));
    assert_null(strstr(second, "luck"));
    assert_non_null(strstr(second, "\"error\":\"it is empty\""));
  }
  tm_buf_release(&bytes);
  tm_buf_release(&out);
}

/* The reader reads back what was written. */
static void mark(struct tm_buf *b, uint32_t number, const char *words)
{
  tm_buf_add_u32(b, number);
  tm_buf_add_bytes32(b, words, strlen(words));
}

static bool read_marks(struct tm_marks *out, const struct tm_buf *b, uint32_t items)
{
  struct tm_reader r;
  tm_reader_init(&r, b->data, b->len);
  return tm_failed_lines_read_marks(out, r, items);
}

static void marks_are_read_by_number_and_cost_no_memory_for_other_items(void **state)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_marks marks;
  mark(&b, 4000000000u, "last");
  mark(&b, 2, "second");
  assert_true(read_marks(&marks, &b, UINT32_MAX));
  assert_int_equal(marks.len, 2);
  assert_int_equal(marks.at[0].number, 2);
  assert_memory_equal(marks.at[1].words, "last", 4);
  TM_ARRAY_RELEASE(&marks);
  assert_false(read_marks(&marks, &b, 3)); /* there is no item 4000000000 */
  TM_ARRAY_RELEASE(&marks);
  mark(&b, 2, "again");
  assert_false(read_marks(&marks, &b, UINT32_MAX));
  TM_ARRAY_RELEASE(&marks);
  tm_buf_clear(&b);
  mark(&b, 0, "none");
  assert_false(read_marks(&marks, &b, 3));
  TM_ARRAY_RELEASE(&marks);
  tm_buf_release(&b);
}

static void the_reader_of_lists_understands_the_lines(void **state)
{
  struct folder f;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_item odd = item("/\xfe\xff \"q\""), read;
  bool is_missing;

  folder_init(&f);
  tm_failed_lines_item(&text, &why, &odd);
  tm_failed_lines_short(&text, &why, 5, 1, 1);
  assert_int_equal(
      tm_fs_write_file(tm_fs_real(), folder_file(&f, "l"), text.data, text.len, 0600, NULL), 0);
  struct tm_failed *list = tm_failed_open(tm_fs_real(), folder_file(&f, "l"), 1, &is_missing, NULL);
  assert_int_equal(tm_failed_next(list, &read, NULL), 1);
  assert_int_equal(read.path_len, odd.path_len);
  assert_memory_equal(read.path, odd.path, odd.path_len);
  assert_int_equal(tm_failed_next(list, &read, NULL), 0);
  assert_int_equal(tm_failed_unnamed(list), 3);
  tm_failed_close(list);
  tm_buf_release(&text);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(a_line_names_item_try_and_reason),
    cmocka_unit_test(missing_elements_are_one_line),
    cmocka_unit_test(each_line_adds_its_cause),
    cmocka_unit_test(a_part_is_its_items_and_no_others),
    cmocka_unit_test(an_item_with_a_fault_keeps_it),
    cmocka_unit_test(marks_are_read_by_number_and_cost_no_memory_for_other_items),
    cmocka_unit_test(the_reader_of_lists_understands_the_lines),
});
