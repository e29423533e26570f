/* test_item_check.c - whether a file is as it was when it was listed: by size and time, or by size
 * alone. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "data/item_check.h"
#include "folder.h"

static void expect(struct folder *f, int64_t size, int64_t mtime_ns, bool sizes_alone, int code)
{
  const char *path = folder_file(f, "a");
  struct tm_item item = {
    .path = path, .path_len = strlen(path), .size = size, .mtime_ns = mtime_ns
  };
  assert_int_equal(tm_item_check(tm_fs_real(), &item, sizes_alone, NULL), code);
}

static void size_and_time_are_compared(void **state)
{
  struct folder f;
  folder_init(&f);
  folder_put(&f, "a", 0, "abc", 3);
  assert_int_equal(tm_file_set_mtime(folder_file(&f, "a"), 5), 0);
  expect(&f, 3, 5, false, 0);
  expect(&f, 3, 6, false, TM_ECHANGED);
  expect(&f, 4, 5, false, TM_ECHANGED);
  expect(&f, -1, 0, false, 0); /* the listing did not look */
  folder_release(&f);
}

static void only_sizes_are_compared(void **state)
{
  struct folder f;
  folder_init(&f);
  folder_put(&f, "a", 0, "abc", 3);
  assert_int_equal(tm_file_set_mtime(folder_file(&f, "a"), 5), 0);
  expect(&f, 3, 6, true, 0);
  expect(&f, 4, 5, true, TM_ECHANGED);
  assert_int_equal(unlink(folder_file(&f, "a")), 0);
  expect(&f, 3, 5, true, -ENOENT);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(size_and_time_are_compared),
    cmocka_unit_test(only_sizes_are_compared),
});
