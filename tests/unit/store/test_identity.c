/* test_identity.c - which files a dataset names, and the message about changes. */
#include "unit.h"

#include "store_fixture.h"

#include "store/identity.h"

static void look(struct tm_identity *out, const char *dir, const char *paths)
{
  struct tm_dataset *d = store_files(dir, paths);
  struct tm_err err = TM_ERR_NONE;
  if (tm_identity_read(out, tm_fs_real(), d, &err) < 0)
    fail_msg("%s", err.text);
  tm_dataset_free(d);
}

static void assert_said(const struct tm_identity *then, const struct tm_identity *now,
                        const char *dir, const char *expected)
{
  struct tm_buf out = TM_BUF_NONE;
  tm_identity_compare(&out, then, now, dir);
  assert_string_equal(tm_buf_str(&out), expected);
  tm_buf_release(&out);
}

/* The message after `change` has been made to a (3 bytes), b (1), c (0). */
static void assert_change(void **state, void (*change)(const char *dir), const char *expected)
{
  struct tm_identity then, now;
  store_put(*state, "in/a", "aaa", 100);
  store_put(*state, "in/b", "b", 100);
  store_put(*state, "in/c", "", 100);
  look(&then, *state, "in/*");
  assert_int_equal(then.files, 3);
  assert_int_equal(then.bytes, 4);
  if (change)
    change(*state);
  look(&now, *state, "in/*");
  assert_int_equal(tm_identity_is_equal(&then, &now), *expected == '\0');
  assert_said(&then, &now, *state, expected);
  tm_identity_release(&then);
  tm_identity_release(&now);
}

static void grow(const char *dir)
{
  store_put(dir, "in/a", "aaaa", 100);
}

static void touch(const char *dir)
{
  store_put(dir, "in/b", "x", 101);
}

static void replace_all(const char *dir)
{
  store_take_away(dir, "in/a");
  store_take_away(dir, "in/b");
  store_put(dir, "in/c", "now", 200);
  store_put(dir, "in/d", "", 100);
  store_put(dir, "in/e", "", 100);
}

static void unchanged_inputs_are_equal(void **state)
{
  assert_change(state, NULL, "");
}

static void a_size_is_named(void **state)
{
  assert_change(state, grow, "input 'in/a': size 3 -> 4");
}

static void a_time_is_named(void **state)
{
  assert_change(
      state, touch,
      "input 'in/b': modified 1970-01-01T00:01:40.000000Z -> 1970-01-01T00:01:41.000000Z");
}

static void three_changes_are_named_and_the_others_counted(void **state)
{
  assert_change(state, replace_all,
                "input 'in/c': size 0 -> 3, input 'in/d' is new, input 'in/e' is new, and 2 more");
}

static void the_order_counts(void **state)
{
  struct tm_identity a, b;
  store_put(*state, "x", "1", 100);
  store_put(*state, "y", "2", 100);
  look(&a, *state, "x y");
  look(&b, *state, "y x");
  assert_false(tm_identity_is_equal(&a, &b));
  assert_said(&a, &b, *state,
              "2 files of 2 bytes, as before, but a name, a size, a modification time or the order "
              "has changed");
  tm_identity_release(&a);
  tm_identity_release(&b);
}

static void a_missing_file_is_accepted(void **state)
{
  struct tm_identity none;
  look(&none, *state, "nothing/*");
  assert_int_equal(none.files, 0);
  tm_identity_release(&none);
}

/* A large set keeps no list of its files: the message has only totals. The set here is one file,
 * named again and again. */
static void many_files_are_counted(void **state)
{
  struct tm_identity then, now;
  struct tm_buf paths = TM_BUF_NONE;
  for (int i = 0; i <= TM_IDENTITY_MAX; i++)
    tm_buf_add_str(&paths, "a ");
  store_put(*state, "a", "1", 100);
  look(&then, *state, paths.data);
  assert_int_equal(then.files, TM_IDENTITY_MAX + 1);
  assert_false(then.is_listed);
  assert_int_equal(then.list.len, 0);
  store_put(*state, "a", "12", 100);
  look(&now, *state, paths.data);
  assert_said(&then, &now, *state, "10001 files, 10001 bytes -> 20002");
  tm_identity_release(&now);
  look(&now, *state, paths.data + 2);
  assert_true(now.is_listed);
  assert_said(&then, &now, *state, "10001 files -> 10000");
  tm_identity_release(&then);
  tm_identity_release(&now);
  tm_buf_release(&paths);
}

static struct tm_dataset *manifest(const char *dir, const char *path)
{
  struct tm_dataset *d = store_files(dir, path);
  d->kind = TM_DATASET_MANIFEST;
  return d;
}

static void only_the_list_itself_is_examined(void **state)
{
  struct tm_dataset *d = manifest(*state, "list.txt"), *stdin_list = manifest(*state, "-");
  struct tm_err err = TM_ERR_NONE;
  struct tm_identity id;
  store_put(*state, "list.txt", "a\nb\n", 100);
  assert_int_equal(tm_identity_read(&id, tm_fs_real(), d, &err), 0);
  assert_int_equal(id.files, 1);
  assert_int_equal(id.bytes, 4);
  tm_identity_release(&id);
  assert_int_equal(tm_identity_read(&id, tm_fs_real(), stdin_list, &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, "standard input");
  tm_identity_release(&id);
  tm_dataset_free(d);
  tm_dataset_free(stdin_list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(unchanged_inputs_are_equal),
    TEST(a_size_is_named),
    TEST(a_time_is_named),
    TEST(three_changes_are_named_and_the_others_counted),
    TEST(the_order_counts),
    TEST(a_missing_file_is_accepted),
    TEST(many_files_are_counted),
    TEST(only_the_list_itself_is_examined),
});
