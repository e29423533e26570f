/* test_item.c - reading returns what was written; hostile bytes end the reading and do no harm. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/item.h"
#include "data/key.h"
#include "fault.h"

static struct tm_item item_of(const char *path, size_t len, int64_t size, int64_t mtime_ns)
{
  return (struct tm_item) { .path = path, .path_len = len, .size = size, .mtime_ns = mtime_ns };
}

static void items_come_back_in_order(void **state)
{
  struct tm_item in[] = { item_of("/a", 2, 0, 0), item_of("/b\n\xff c", 6, -1, 0),
                          item_of("/d", 2, INT64_MAX, -5) };
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_item out;
  for (int i = 0; i < 3; i++)
    tm_item_add(&b, &in[i]);
  tm_reader_init(&r, b.data, b.len);
  for (int i = 0; i < 3; i++) {
    assert_true(tm_item_next(&r, &out));
    assert_int_equal(out.path_len, in[i].path_len);
    assert_memory_equal(out.path, in[i].path, in[i].path_len);
    assert_true(out.size == in[i].size && out.mtime_ns == in[i].mtime_ns);
  }
  assert_false(tm_item_next(&r, &out));
  assert_false(r.bad);
  tm_buf_release(&b);
}

static void layout_is_the_documented_one(void **state)
{
  static const char want[] = "\x02\0\0\0"
                             "\x88\x77\x66\x55\x44\x33\x22\x11"
                             "\xfe\xff\xff\xff\xff\xff\xff\xff"
                             "/x";
  struct tm_item item = item_of("/x", 2, 0x1122334455667788, -2);
  struct tm_buf b = TM_BUF_NONE;
  tm_item_add(&b, &item);
  assert_int_equal(b.len, sizeof(want) - 1);
  assert_memory_equal(b.data, want, sizeof(want) - 1);
  tm_buf_release(&b);
}

static void ranges_of_rows_come_back(void **state)
{
  struct tm_item in = { .path = "/d.csv",
                        .path_len = 6,
                        .size = 900,
                        .mtime_ns = 5,
                        .is_rows = true,
                        .begin = 20,
                        .end = 400,
                        .first_row = -1,
                        .rows = 7,
                        .file = 3,
                        .number = 100,
                        .from = 2 };
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_item out;
  for (int group = 0; group < 2; group++) {
    in.is_group = group;
    tm_buf_clear(&b);
    tm_item_add(&b, &in);
    tm_reader_init(&r, b.data, b.len);
    assert_true(tm_item_next(&r, &out));
    assert_true(out.is_rows && out.is_group == (group == 1) && out.begin == 20 && out.end == 400);
    assert_true(out.first_row == -1 && out.rows == 7 && out.file == 3 && out.number == 100 &&
                out.from == 2 && out.size == 900 && out.path_len == 6);
    assert_true(r.at == r.end && !r.bad);
  }
  tm_put_u64(b.data + 28, 19); /* it ends before it begins */
  tm_reader_init(&r, b.data, b.len);
  assert_false(tm_item_next(&r, &out));
  assert_true(r.bad);
  tm_buf_release(&b);
}

static struct tm_item entry_item(void)
{
  return (struct tm_item) { .path = "/a.zip/d/x",
                            .path_len = 10,
                            .size = 900,
                            .mtime_ns = 5,
                            .is_entry = true,
                            .is_extracted = true,
                            .archive_len = 6,
                            .entry = { .how = TM_ENTRY_IN_ZIP,
                                       .method = 0xfff8,
                                       .crc = 0xdeadbeef,
                                       .place = 1,
                                       .packed = 2,
                                       .size = 3 },
                            .fault = "why",
                            .fault_len = 3 };
}

static void entries_of_archives_come_back(void **state)
{
  struct tm_item in = entry_item(), out;
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  tm_item_add(&b, &in);
  size_t one = b.len;
  tm_item_add(&b, &in);
  tm_reader_init(&r, b.data, b.len);
  for (int i = 0; i < 2; i++) {
    assert_true(tm_item_next(&r, &out));
    assert_true(out.is_entry && out.is_extracted && out.archive_len == 6 && out.size == 900 &&
                out.mtime_ns == 5);
    assert_true(out.entry.how == TM_ENTRY_IN_ZIP && out.entry.method == 0xfff8 &&
                out.entry.crc == 0xdeadbeef && out.entry.place == 1 && out.entry.packed == 2 &&
                out.entry.size == 3);
    assert_true(out.fault_len == 3 && memcmp(out.fault, "why", 3) == 0);
    assert_int_equal(tm_item_file_len(&out), 6);
  }
  assert_true(r.at == r.end && !r.bad);
  for (size_t n = 1; n < b.len; n++) {
    tm_reader_init(&r, b.data, n);
    while (tm_item_next(&r, &out))
      ;
    assert_int_equal(r.bad, n != one);
  }
  tm_buf_release(&b);
}

static void impossible_entries_are_refused(void **state)
{
  static const struct {
    size_t at;
    char byte;
  } cases[] = { { 20, 0 }, { 20, 5 },  { 20, 11 }, { 24, 3 }, { 25, 2 },
                { 35, 1 }, { 43, -1 }, { 51, -1 }, { 59, -1 } };
  struct tm_item in = entry_item(), out;
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  tm_item_add(&b, &in);
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    char was = b.data[cases[i].at];
    b.data[cases[i].at] = cases[i].byte;
    tm_reader_init(&r, b.data, b.len);
    assert_false(tm_item_next(&r, &out));
    assert_true(r.bad);
    b.data[cases[i].at] = was;
  }
  tm_buf_release(&b);
}

static void an_archive_itself_has_a_fault(void **state)
{
  struct tm_item in = entry_item(), out;
  struct tm_buf b = TM_BUF_NONE;
  struct tm_reader r;
  in.path_len = in.archive_len;
  for (int has_fault = 1; has_fault >= 0; has_fault--) {
    in.fault_len = has_fault ? 3 : 0;
    tm_buf_clear(&b);
    tm_item_add(&b, &in);
    tm_reader_init(&r, b.data, b.len);
    assert_int_equal(tm_item_next(&r, &out), has_fault);
    assert_int_equal(r.bad, !has_fault);
    assert_true(!has_fault || (tm_item_is_archive(&out) && tm_item_file_len(&out) == 6));
  }
  tm_buf_release(&b);
}

static bool is_refused(const void *p, size_t n)
{
  struct tm_reader r;
  struct tm_item out;
  char *copy = malloc(n); /* of exactly this size, so that a sanitizer sees a read beyond it */
  memcpy(copy, p, n);
  tm_reader_init(&r, copy, n);
  while (tm_item_next(&r, &out))
    ;
  free(copy);
  return r.bad;
}

static void every_cut_is_refused(void **state)
{
  struct tm_item item = item_of("/some/path", 10, 7, 8);
  struct tm_buf b = TM_BUF_NONE;
  tm_item_add(&b, &item);
  size_t whole = b.len;
  tm_item_add(&b, &item);
  for (size_t n = 1; n < b.len; n++)
    assert_int_equal(is_refused(b.data, n), n != whole);
  tm_buf_release(&b);
}

static void impossible_items_are_refused(void **state)
{
  struct tm_item item = item_of("/x", 2, -1, 0);
  struct tm_buf b = TM_BUF_NONE;
  tm_item_add(&b, &item);
  assert_false(is_refused(b.data, b.len));
  tm_put_u64(b.data + 4, (uint64_t)-2);
  assert_true(is_refused(b.data, b.len));
  tm_put_u64(b.data + 4, (uint64_t)-1);
  b.data[21] = '\0';
  assert_true(is_refused(b.data, b.len));
  b.data[21] = 'x';
  tm_put_u32(b.data, UINT32_MAX);
  assert_true(is_refused(b.data, b.len));
  tm_put_u32(b.data, 0);
  assert_true(is_refused(b.data, 20));
  tm_buf_release(&b);
}

static void an_empty_path_is_our_own_fault(void **state)
{
  struct tm_item item = item_of("", 0, -1, 0);
  struct tm_buf b = TM_BUF_NONE;
  expect_fault(tm_item_add(&b, &item));
  tm_buf_release(&b);
}

static void a_mini_batch_is_identified_by_its_first_path_or_its_keys(void **state)
{
  struct tm_key keys[] = {
    { .name = "store", .name_len = 5, .type = TM_KEY_STRING, .string = { "a\nb", 3 } },
    { .name = "n", .name_len = 1, .type = TM_KEY_LONG, .integer = 3 }
  };
  struct tm_item item = {
    .path = "/groups-0", .path_len = 9, .is_rows = true, .end = 9, .rows = 2
  };
  struct tm_buf bytes = TM_BUF_NONE, text = TM_BUF_NONE;
  (void)state;
  tm_keys_add(&bytes, keys, 2);
  tm_item_add(&bytes, &item);
  assert_false(tm_item_describe_first(&text, bytes.data, bytes.len));
  assert_string_equal(text.data, "/groups-0");
  tm_buf_clear(&bytes);
  tm_buf_clear(&text);
  item.is_group = true;
  tm_keys_add(&bytes, keys, 2);
  tm_item_add(&bytes, &item);
  assert_true(tm_item_describe_first(&text, bytes.data, bytes.len));
  assert_string_equal(text.data, "store=a\\nb, n=3");
  tm_buf_clear(&text);
  for (size_t n = 0; n < bytes.len; n++) /* the end is missing */
    assert_false(tm_item_describe_first(&text, bytes.data, n));
  assert_int_equal(text.len, 0);
  tm_buf_release(&bytes);
  tm_buf_release(&text);
}

UNIT_TESTS({
    cmocka_unit_test(items_come_back_in_order),
    cmocka_unit_test(layout_is_the_documented_one),
    cmocka_unit_test(ranges_of_rows_come_back),
    cmocka_unit_test(entries_of_archives_come_back),
    cmocka_unit_test(impossible_entries_are_refused),
    cmocka_unit_test(an_archive_itself_has_a_fault),
    cmocka_unit_test(every_cut_is_refused),
    cmocka_unit_test(impossible_items_are_refused),
    cmocka_unit_test(an_empty_path_is_our_own_fault),
    cmocka_unit_test(a_mini_batch_is_identified_by_its_first_path_or_its_keys),
});
