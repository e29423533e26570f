/* test_table_partition.c - rows in folders: created once, completely, by one process, as requested;
 * files of others stay. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <fcntl.h>

#include "data/table/table_partition.h"
#include "tree_fixture.h"

static char *const city[] = { (char *)"city" };

/* Partitions DIR/in by city into DIR/out; returns the error message, or NULL. */
static char *partition(const char *dir, bool overwrite, struct tm_json **out)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf text = TM_BUF_NONE, notes = TM_BUF_NONE;
  char *target = tm_path_join(dir, "out");
  tm_buf_printf(&text, "{\"kind\":\"delimited\",\"paths\":[\"%s/in\"]}", dir);
  struct tm_json *v = tm_json_parse(text.data, text.len, &err);
  struct tm_dataset *d = tm_dataset_from_json(v, &err);
  assert_non_null(d);
  struct tm_table_partition p = { .fs = tm_fs_real(),
                                  .dataset = d,
                                  .keys = city,
                                  .keys_len = 1,
                                  .target = target,
                                  .overwrite = overwrite };
  struct tm_json *made = tm_table_partition(&p, &notes, &err);
  assert_int_equal(made == NULL, err.code < 0);
  if (out)
    *out = made;
  else
    tm_json_free(made);
  tm_json_free(v);
  tm_dataset_free(d);
  tm_buf_release(&text);
  tm_buf_release(&notes);
  free(target);
  return err.code < 0 ? tm_xstrdup(err.text) : NULL;
}

static void expect_made(const char *dir, bool overwrite)
{
  char *words = partition(dir, overwrite, NULL);
  if (words)
    fail_msg("%s", words);
}

static void expect_refused(const char *dir, bool overwrite, const char *why)
{
  char *words = partition(dir, overwrite, NULL);
  assert_non_null(words);
  if (!strstr(words, why))
    fail_msg("%s", words);
  free(words);
}

static void expect_file(const char *dir, const char *path, const char *text)
{
  struct tm_buf found = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  char *whole = tm_path_join(dir, path);
  if (tm_fs_read_file(tm_fs_real(), whole, 1 << 20, &found, &err) < 0)
    fail_msg("%s", err.text);
  assert_string_equal(tm_buf_str(&found), text);
  tm_buf_release(&found);
  free(whole);
}

static void make_input(const char *dir)
{
  static const char text[] = "id,city\n1,Ulm\n2,Bonn\n3,Ulm\n4,\n";
  tree_file(dir, "in/a.csv", text, strlen(text));
}

static void rows_are_files_in_folders(void **state)
{
  struct tm_json *made;
  make_input(*state);
  assert_null(partition(*state, false, &made));
  expect_file(*state, "out/Ulm/rows.csv", "id\n1\n3\n");
  expect_file(*state, "out/Bonn/rows.csv", "id\n2\n");
  expect_file(*state, "out/%null/rows.csv", "id\n4\n");
  assert_string_equal(tm_json_str(made, "partition_format", ""), "{city:%}/rows.csv");
  const struct tm_json *types = tm_json_get(tm_json_get(made, "options"), "set_column_types");
  assert_string_equal(tm_json_str(types, "id", ""), "long");
  assert_string_equal(tm_json_str(types, "city", ""), "string");
  tm_json_free(made);
}

static void created_files_are_recognised_anywhere(void **state)
{
  struct tm_json *made;
  struct tm_stat before, after;
  char *file = tm_path_join(*state, "out/Ulm/rows.csv"), *out = tm_path_join(*state, "out");
  make_input(*state);
  expect_made(*state, false);
  assert_int_equal(tm_fs_real()->stat(NULL, file, true, &before), 0);
  assert_null(
      partition(*state, true, &made)); /* nothing is written, although it would be allowed */
  assert_int_equal(tm_fs_real()->stat(NULL, file, true, &after), 0);
  assert_int_equal(before.ino, after.ino);
  assert_string_equal(tm_json_get(made, "paths")->list.at[0]->string.at, out);
  tm_json_free(made);
  free(file);
  free(out);
}

static void nobody_waits_for_another_writer(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  char *partial = tm_path_join(*state, ".tidemill-partial-out");
  make_input(*state);
  tree_file(*state, ".tidemill-partial-out/left/rows.csv", "x", 1); /* left by a killed process */
  int fd = tm_fs_open(tm_fs_real(), partial, O_RDONLY | O_DIRECTORY, 0, &err);
  assert_int_equal(tm_lock_take(fd, false), 0);
  expect_refused(*state, false, "another process is writing");
  tm_lock_release(fd);
  tm_fs_close(tm_fs_real(), fd);
  expect_made(*state, false);
  assert_false(tm_fs_exists(tm_fs_real(), partial));
  expect_file(*state, "out/Bonn/rows.csv", "id\n2\n");
  free(partial);
}

static void a_changed_file_is_reported_and_replaced_only_on_request(void **state)
{
  make_input(*state);
  expect_made(*state, false);
  tree_file(*state, "in/b.csv", "id,city\n5,Rom\n", 14);
  expect_refused(*state, false, "was made of other rows");
  expect_made(*state, true);
  expect_file(*state, "out/Rom/rows.csv", "id\n5\n");
  tree_file(*state, "out/Rom/rows.csv", "id\n5\n6\n", 7);
  expect_refused(*state, false, "has changed since partition_by made it");
  expect_made(*state, true);
  expect_file(*state, "out/Rom/rows.csv", "id\n5\n");
}

static void a_damaged_note_marks_it_as_foreign(void **state)
{
  static const char *const notes[] = { "", "{", "[]", "{\"version\":2}", "{\"version\":1}" };
  make_input(*state);
  expect_made(*state, false);
  for (size_t i = 0; i < TM_COUNT_OF(notes); i++) {
    tree_file(*state, "out/.tidemill-partition", notes[i], strlen(notes[i]));
    expect_refused(*state, true, "is not empty, and partition_by has not made it");
  }
  expect_file(*state, "out/Ulm/rows.csv", "id\n1\n3\n");
}

#define TREE_TEST(f) cmocka_unit_test_setup_teardown(f, tree_setup, tree_teardown)

UNIT_TESTS({
    TREE_TEST(rows_are_files_in_folders),
    TREE_TEST(created_files_are_recognised_anywhere),
    TREE_TEST(nobody_waits_for_another_writer),
    TREE_TEST(a_changed_file_is_reported_and_replaced_only_on_request),
    TREE_TEST(a_damaged_note_marks_it_as_foreign),
});
