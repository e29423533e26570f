/* test_groups.c - files with the same values of the keys come together, however they lie in the
 * listing. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/files/groups.h"
#include "tree_fixture.h"

static void add(struct tm_groups *g, const char *path)
{
  struct tm_item item = { .path = path, .path_len = strlen(path), .size = 3, .mtime_ns = 4 };
  struct tm_err err = TM_ERR_NONE;
  if (tm_groups_add(g, &item, &err) < 0)
    fail_msg("%s", err.text);
}

/* "store=a: /1 /2\n" for each group. */
static char *all_of(struct tm_groups *g)
{
  struct tm_buf out = TM_BUF_NONE, bytes = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  struct tm_reader r;
  struct tm_item item;
  uint32_t items;
  int rc;
  while ((rc = tm_groups_next(g, &items, &bytes, &err)) > 0) {
    assert_true(tm_keys_find(bytes.data, bytes.len, &r));
    tm_keys_describe(&out, r);
    tm_buf_add_char(&out, ':');
    tm_reader_init(&r, bytes.data, bytes.len);
    for (; tm_item_next(&r, &item); items--)
      tm_buf_printf(&out, " %.*s", (int)item.path_len, item.path);
    assert_int_equal(items, 0);
    assert_false(r.bad);
    tm_buf_add_char(&out, '\n');
    tm_buf_clear(&bytes);
  }
  assert_int_equal(rc, 0);
  assert_int_equal(tm_groups_next(g, &items, &bytes, &err), 0);
  tm_buf_release(&bytes);
  return tm_buf_take(&out);
}

static void groups_are_ordered_by_their_values(void **state)
{
  static char *const keys[] = { (char *)"year", (char *)"store" };
  struct tm_partition *p = tm_partition_new("{store}/{year:yyyy}/{n}.txt", NULL);
  struct tm_groups *g = tm_groups_new(tm_fs_real(), *state, p, keys, 2);
  add(g, "/north/2025/b.txt");
  add(g, "/south/2024/a.txt");
  add(g, "/north/2024/a.txt");
  add(g, "/north/2025/a.txt");
  add(g, "/n/2025/a.txt");
  char *text = all_of(g);
  assert_string_equal(text, "year=2024-01-01, store=north: /north/2024/a.txt\n"
                            "year=2024-01-01, store=south: /south/2024/a.txt\n"
                            "year=2025-01-01, store=n: /n/2025/a.txt\n"
                            "year=2025-01-01, store=north: /north/2025/b.txt /north/2025/a.txt\n");
  free(text);
  tm_groups_free(g);
  tm_partition_free(p);
}

static void an_unreadable_archive_is_a_group_by_itself(void **state)
{
  static char *const keys[] = { (char *)"n" };
  struct tm_partition *p = tm_partition_new("{n}.txt", NULL);
  struct tm_groups *g = tm_groups_new(tm_fs_real(), *state, p, keys, 1);
  struct tm_item bad = { .is_entry = true, .archive_len = 2, .fault = "x", .fault_len = 1 };
  static const char *const paths[] = { "/a", "/a/b.png", "/a/c.txt" };
  add(g, "/a/d.txt");
  for (size_t i = 0; i < TM_COUNT_OF(paths); i++) {
    bad.path = paths[i];
    bad.path_len = strlen(paths[i]);
    assert_int_equal(tm_groups_add(g, &bad, NULL), 0);
  }
  char *text = all_of(g);
  assert_string_equal(text, "n=null: /a /a/b.png /a/c.txt\nn=d: /a/d.txt\n");
  free(text);
  tm_groups_free(g);
  tm_partition_free(p);
}

static void nothing_makes_no_group(void **state)
{
  static char *const keys[] = { (char *)"n" };
  struct tm_partition *p = tm_partition_new("{n}", NULL);
  struct tm_groups *g = tm_groups_new(tm_fs_real(), *state, p, keys, 1);
  char *text = all_of(g);
  assert_string_equal(text, "");
  free(text);
  tm_groups_free(g);
  tm_partition_free(p);
}

static void a_path_that_does_not_fit_is_refused(void **state)
{
  static char *const keys[] = { (char *)"n" };
  struct tm_partition *p = tm_partition_new("{n}.txt", NULL);
  struct tm_groups *g = tm_groups_new(tm_fs_real(), *state, p, keys, 1);
  struct tm_item item = { .path = "/x.csv", .path_len = 6, .size = -1 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_groups_add(g, &item, &err), TM_EINPUT);
  assert_non_null(strstr(err.text, "'/x.csv' does not fit"));
  tm_groups_free(g);
  tm_partition_free(p);
}

UNIT_HOOKS(.setup = tree_setup, .teardown = tree_teardown);
UNIT_TESTS({
    cmocka_unit_test(groups_are_ordered_by_their_values),
    cmocka_unit_test(an_unreadable_archive_is_a_group_by_itself),
    cmocka_unit_test(nothing_makes_no_group),
    cmocka_unit_test(a_path_that_does_not_fit_is_refused),
});
