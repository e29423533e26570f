/* test_folder.c - returns names sorted by bytes, once each, with little memory. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <errno.h>

#include "data/files/folder.h"
#include "tree_fixture.h"

static bool wants_all(void *data, const char *name)
{
  return true;
}

static bool wants_short(void *data, const char *name)
{
  return strlen(name) == 1;
}

static void names_come_sorted_by_bytes(void **state)
{
  static const char *const names[] = { "b",    "a",        "a.b", "a-b", "B",
                                       "\xff", "\xc3\xa9", "10",  "9",   "a" };
  static const char *const want[] = { "10", "9", "B", "a", "a-b", "a.b", "b", "\xc3\xa9", "\xff" };
  struct tm_folder f = { .len = 0 };
  const char *name;
  int type;
  for (int i = 0; i < 10; i++)
    assert_true(tm_folder_add(&f, names[i], 200 + i));
  tm_folder_sort(&f);
  for (int i = 0; i < 9; i++) {
    assert_true(tm_folder_next(&f, &name, &type));
    assert_string_equal(name, want[i]);
    assert_true(type >= 200 && strcmp(name, names[type - 200]) == 0);
  }
  assert_false(tm_folder_next(&f, &name, &type));
  tm_folder_release(&f);
  assert_false(tm_folder_next(&f, &name, &type));
  tm_folder_release(&f);
}

static void reads_the_wanted_names_with_types(void **state)
{
  struct tm_folder f = { .len = 0 };
  const char *name;
  int type;
  tree_file(*state, "f", "", 0);
  tree_file(*state, "long", "", 0);
  tree_folder(*state, "d");
  tree_link(*state, "l", "nothing");
  assert_int_equal(tm_folder_read(&f, tm_fs_real(), *state, wants_short, NULL), 0);
  assert_true(tm_folder_next(&f, &name, &type) && name[0] == 'd' &&
              (type == DT_DIR || type == DT_UNKNOWN));
  assert_true(tm_folder_next(&f, &name, &type) && name[0] == 'f' &&
              (type == DT_REG || type == DT_UNKNOWN));
  assert_true(tm_folder_next(&f, &name, &type) && name[0] == 'l' &&
              (type == DT_LNK || type == DT_UNKNOWN));
  assert_false(tm_folder_next(&f, &name, &type));
  tm_folder_release(&f);
}

static void a_file_in_place_of_a_folder_is_an_error(void **state)
{
  struct tm_folder f = { .len = 0 };
  char *file = tm_path_join(*state, "f");
  assert_int_equal(tm_folder_read(&f, tm_fs_real(), file, wants_all, NULL), -ENOENT);
  tree_file(*state, "f", "", 0);
  assert_int_equal(tm_folder_read(&f, tm_fs_real(), file, wants_all, NULL), -ENOTDIR);
  tm_folder_release(&f);
  free(file);
}

/* A million names of 15 bytes: each takes 17 bytes in the arena and four for its place; growth may
 * double that. */
static void million_names_stay_compact(void **state)
{
  enum { COUNT = 1000000 };
  struct tm_folder f = { .len = 0 };
  char want[32];
  const char *name;
  int type;
  for (uint64_t i = 0; i < COUNT; i++) {
    snprintf(want, sizeof(want), "name_%06llu.pgm", (unsigned long long)(i * 7919 % COUNT));
    assert_true(tm_folder_add(&f, want, DT_REG));
  }
  tm_folder_sort(&f);
  assert_true(f.names.cap + f.cap * sizeof(*f.order) < (size_t)50 << 20);
  for (int i = 0; i < COUNT; i++) {
    snprintf(want, sizeof(want), "name_%06d.pgm", i);
    if (!tm_folder_next(&f, &name, &type) || strcmp(name, want) != 0)
      fail_msg("'%s' is not the next name", want);
  }
  assert_false(tm_folder_next(&f, &name, &type));
  tm_folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(names_come_sorted_by_bytes),
    cmocka_unit_test_setup_teardown(reads_the_wanted_names_with_types, tree_setup, tree_teardown),
    cmocka_unit_test_setup_teardown(a_file_in_place_of_a_folder_is_an_error, tree_setup,
                                    tree_teardown),
    cmocka_unit_test(million_names_stay_compact),
});
