/* test_manifest_pick.c - picks one mini-batch from a list, completely or not at all. */
#include "unit.h"

#include <errno.h>

#include "commit/manifest.h"
#include "commit/manifest_file.h"
#include "data/item.h"
#include "folder.h"
#include "inspect/inspection.h"

/* Entries 0 .. n-1, each one byte longer than the one before, of dataset n % 2. */
static void put_list(struct folder *f, int n, bool has_end)
{
  struct tm_manifest *m;
  assert_int_equal(tm_manifest_open(&m, tm_fs_real(), folder_file(f, "list"), 0, NULL), 0);
  assert_int_equal(tm_manifest_cut(m, NULL), 0);
  for (int i = 0; i < n; i++)
    assert_int_equal(tm_manifest_add(m, (uint32_t)i % 2, 1, "abcdefgh", (size_t)i + 1, NULL), 0);
  assert_int_equal(tm_manifest_flush(m, NULL), 0);
  if (has_end)
    assert_int_equal(tm_manifest_end(m, NULL), 0);
  tm_manifest_close(m);
}

/* NULL: it is found; otherwise the message of the refusal, with `code`. */
static void expect(struct folder *f, uint64_t index, int code, const char *words)
{
  struct tm_manifest_found found;
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_manifest_pick(&found, folder_file(f, "list"), index, &err);
  assert_int_equal(rc, code);
  if (words) {
    if (!strstr(err.text, words))
      fail_msg("'%s' is not in '%s'", words, err.text);
  } else {
    assert_int_equal(found.dataset, index % 2);
    assert_int_equal(found.items, 1);
    assert_int_equal(found.bytes.len, index + 1);
    assert_memory_equal(found.bytes.data, "abcdefgh", index + 1);
  }
  tm_manifest_found_release(&found);
}

static void any_of_them_is_found(void **state)
{
  struct folder f;
  folder_init(&f);
  put_list(&f, 5, true);
  for (uint64_t i = 0; i < 5; i++)
    expect(&f, i, 0, NULL);
  expect(&f, 5, TM_EUSAGE, "there is no mini-batch 5; accepted: 0 to 4");
  expect(&f, UINT64_MAX, TM_EUSAGE, "accepted: 0 to 4");
  folder_release(&f);
}

static void add_files(struct tm_manifest *m, uint32_t dataset, const struct tm_item *items,
                      size_t n)
{
  struct tm_buf bytes = TM_BUF_NONE;
  for (size_t i = 0; i < n; i++)
    tm_item_add(&bytes, &items[i]);
  assert_int_equal(tm_manifest_add(m, dataset, (uint32_t)n, bytes.data, bytes.len, NULL), 0);
  tm_buf_release(&bytes);
}

static void files_of_each_dataset_are_counted(void **state)
{
  const struct tm_item files[] = { { .path = "/a", .path_len = 2, .size = 5, .mtime_ns = 1 },
                                   { .path = "/b", .path_len = 2, .size = 7, .mtime_ns = 1 },
                                   { .path = "/c", .path_len = 2, .size = -1 },
                                   { .path = "/d", .path_len = 2, .size = 9, .is_rows = true } };
  struct tm_manifest_files found[5];
  struct tm_manifest *m;
  struct folder f;
  folder_init(&f);
  assert_int_equal(tm_manifest_open(&m, tm_fs_real(), folder_file(&f, "list"), 0, NULL), 0);
  assert_int_equal(tm_manifest_cut(m, NULL), 0);
  add_files(m, 0, files, 2);
  add_files(m, 1, &files[1], 2);
  add_files(m, 2, &files[3], 1);
  add_files(m, 0, files, 1);
  assert_int_equal(tm_manifest_add(m, 3, 1, "bad", 3, NULL), 0);
  assert_int_equal(tm_manifest_flush(m, NULL), 0);
  assert_true(tm_manifest_count_files(found, 5, folder_file(&f, "list"), 1 << 20, NULL) < 0);
  assert_int_equal(found[0].files, -1);
  assert_int_equal(tm_manifest_end(m, NULL), 0);
  tm_manifest_close(m);
  assert_int_equal(tm_manifest_count_files(found, 5, folder_file(&f, "list"), 1 << 20, NULL), 0);
  assert_int_equal(found[0].files, 3);
  assert_int_equal(found[0].bytes, 17);
  assert_int_equal(found[1].files, 2);
  assert_int_equal(found[1].bytes, -1);
  assert_int_equal(found[2].files, -1);
  assert_int_equal(found[3].files, -1);
  assert_int_equal(found[4].files, 0);
  assert_true(tm_manifest_count_files(found, 5, folder_file(&f, "list"), 100, NULL) < 0);
  folder_release(&f);
}

static void an_open_list_is_read_as_far_as_it_goes(void **state)
{
  struct folder f;
  folder_init(&f);
  put_list(&f, 3, false);
  expect(&f, 2, 0, NULL);
  expect(&f, 3, TM_EUSAGE, "accepted: 0 to 2, where the list ended when the job did");
  folder_put(&f, "list", folder_size(&f, "list"), "torn", 4);
  expect(&f, 2, 0, NULL);
  expect(&f, 3, TM_EDAMAGE, "torn or damaged at byte ");
  folder_release(&f);
}

static void nothing_after_damage_is_trusted(void **state)
{
  struct folder f;
  folder_init(&f);
  put_list(&f, 5, true);
  folder_flip(&f, "list",
              TM_MANIFEST_FILE_HEAD + TM_MANIFEST_HEAD + 1 + 3); /* within the second entry */
  expect(&f, 0, 0, NULL);
  expect(&f, 1, TM_EDAMAGE, "mini-batch 1 cannot be read");
  expect(&f, 4, TM_EDAMAGE, "mini-batch 4 cannot be read");
  folder_release(&f);
}

static void an_empty_list_has_none(void **state)
{
  struct folder f;
  folder_init(&f);
  put_list(&f, 0, true);
  expect(&f, 0, TM_EUSAGE, "the list has none");
  folder_release(&f);
}

static void a_missing_list_is_an_error(void **state)
{
  struct folder f;
  folder_init(&f);
  expect(&f, 0, TM_EDAMAGE, "list' has been removed or emptied");
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(any_of_them_is_found),
    cmocka_unit_test(files_of_each_dataset_are_counted),
    cmocka_unit_test(an_open_list_is_read_as_far_as_it_goes),
    cmocka_unit_test(nothing_after_damage_is_trusted),
    cmocka_unit_test(an_empty_list_has_none),
    cmocka_unit_test(a_missing_list_is_an_error),
});
