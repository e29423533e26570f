/* test_datastores.c - names for directories: the built-in one, others, and which one is the
 * default. */
#include "unit.h"

#include "store_fixture.h"

#include "store/datastores.h"

static void assert_found(const char *dir, const char *name, const char *expected, const char *path)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_datastore d;
  char *want = tm_path_join(dir, path);
  if (tm_datastore_find(&d, tm_fs_real(), dir, name, &err) < 0)
    fail_msg("%s", err.text);
  assert_string_equal(d.name, expected);
  assert_string_equal(d.path, want);
  assert_true(tm_fs_exists(tm_fs_real(), d.path));
  tm_datastore_release(&d);
  free(want);
}

static int add(const char *dir, const char *name, const char *path, bool overwrite,
               struct tm_err *err)
{
  char *whole = tm_path_join(dir, path);
  int rc = tm_datastore_add(tm_fs_real(), dir, name, whole, overwrite, 1, err);
  free(whole);
  return rc;
}

static void one_is_always_there(void **state)
{
  assert_found(*state, NULL, TM_DATASTORE_FIRST, "datastores/" TM_DATASTORE_FIRST);
  assert_found(*state, TM_DATASTORE_FIRST, TM_DATASTORE_FIRST, "datastores/" TM_DATASTORE_FIRST);
}

static void others_have_names(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_datastore d;
  store_put(*state, "data/x", "", 1);
  store_put(*state, "more/x", "", 1);
  assert_int_equal(add(*state, "images", "data", false, &err), 0);
  assert_int_equal(add(*state, "images", "data", false, &err), 0);
  assert_found(*state, "images", "images", "data");
  assert_int_equal(add(*state, "images", "more", false, &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, "overwrite");
  assert_int_equal(add(*state, "images", "more", true, &err), 0);
  assert_found(*state, "images", "images", "more");
  assert_int_equal(tm_datastore_find(&d, tm_fs_real(), *state, "imagse", &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, "did you mean 'images'?");
  tm_datastore_release(&d);
}

static void a_wrong_directory_or_name_is_refused(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  store_put(*state, "file", "", 1);
  assert_int_equal(add(*state, "images", "file", false, &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, "is not a directory");
  assert_int_equal(add(*state, "images", "missing", false, &err), TM_EUSAGE);
  assert_int_equal(add(*state, "my images", ".", false, &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, "is not a name of a datastore");
  assert_int_equal(add(*state, TM_DATASTORE_FIRST, ".", true, &err), TM_EUSAGE);
}

static void the_default_is_set_and_goes_with_its_datastore(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_datastore_list all = { 0 };
  store_put(*state, "data/x", "", 1);
  assert_int_equal(add(*state, "images", "data", false, &err), 0);
  assert_int_equal(tm_datastore_set_default(tm_fs_real(), *state, "images", &err), 0);
  assert_found(*state, NULL, "images", "data");
  assert_int_equal(tm_datastore_list(&all, *state, &err), 0);
  assert_int_equal(all.len, 2);
  tm_datastore_list_release(&all);
  assert_int_equal(tm_datastore_set_default(tm_fs_real(), *state, "none", &err), TM_EUSAGE);
  assert_int_equal(tm_datastore_remove(*state, "images", &err), 0);
  assert_found(*state, NULL, TM_DATASTORE_FIRST, "datastores/" TM_DATASTORE_FIRST);
  assert_int_equal(tm_datastore_remove(*state, "images", &err), TM_EUSAGE);
  assert_int_equal(tm_datastore_remove(*state, TM_DATASTORE_FIRST, &err), TM_EUSAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(one_is_always_there),
    TEST(others_have_names),
    TEST(a_wrong_directory_or_name_is_refused),
    TEST(the_default_is_set_and_goes_with_its_datastore),
});
