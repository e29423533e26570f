/* test_registry.c - names and versions: which are created, which are found, what is refused and the
 * message. */
#include "unit.h"

#include "store_fixture.h"

#include "store/registry.h"

static int add(struct tm_registered *out, const char *dir, const char *name, const char *paths,
               bool create_new_version, const char *source, struct tm_err *err)
{
  struct tm_dataset *d = store_files(dir, paths);
  struct tm_registration r = { .fs = tm_fs_real(),
                               .name = name,
                               .dataset = d,
                               .create_new_version = create_new_version,
                               .source = source,
                               .wall_ns = 1 };
  int rc = tm_registry_add(out, dir, &r, err);
  tm_dataset_free(d);
  return rc;
}

/* The current version, and whether this call created it. */
static void assert_added(const char *dir, const char *name, const char *paths, bool next,
                         const char *source, int64_t version, bool is_new)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered r;
  int rc = add(&r, dir, name, paths, next, source, &err);
  if (rc < 0)
    fail_msg("%s", err.text);
  assert_int_equal(rc, is_new);
  assert_int_equal(r.version, version);
  assert_string_equal(r.name, name);
  tm_registered_release(&r);
}

static void assert_add_refused(const char *dir, const char *name, const char *paths,
                               const char *part)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered r;
  assert_true(add(&r, dir, name, paths, false, NULL, &err) < 0);
  assert_words(&err, TM_EUSAGE, part);
  tm_registered_release(&r);
}

static void assert_find_refused(const char *dir, const char *name, int64_t version,
                                const char *part)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered r;
  assert_int_equal(tm_registry_find(&r, dir, name, version, &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, part);
  tm_registered_release(&r);
}

static void the_same_is_one_version(void **state)
{
  store_put(*state, "in/a", "a", 100);
  assert_added(*state, "digits", "in/*", false, NULL, 1, true);
  assert_added(*state, "digits", "in/*", false, NULL, 1, false);
  assert_added(*state, "digits", "in/*", true, NULL, 1, false);
}

static void a_different_file_is_replaced_only_on_request(void **state)
{
  store_put(*state, "in/a", "a", 100);
  assert_added(*state, "digits", "in/*", false, NULL, 1, true);
  assert_add_refused(*state, "digits", "in", "create_new_version");
  assert_added(*state, "digits", "in", true, NULL, 2, true);
  store_put(*state, "in/a", "aa", 100);
  assert_added(*state, "digits", "in", false, NULL, 2,
               false); /* its old state, for the message when it is used */
  assert_added(*state, "digits", "in", true, NULL, 3, true);
}

static void a_source_makes_one_version(void **state)
{
  store_put(*state, "in/a", "a", 100);
  assert_added(*state, "rows", "in", true, "one", 1, true);
  store_put(*state, "in/a", "aa", 100);
  assert_added(*state, "rows", "in", true, "one", 1, false);
  assert_added(*state, "rows", "in", true, "two", 2, true);
  assert_added(*state, "rows", "in", true, "three", 3,
               true); /* nothing has changed except the step */
  assert_added(*state, "rows", "in", true, "one", 1, false);
}

static void assert_added_by(const char *dir, const char *name, const char *source, const char *job,
                            int64_t version, bool is_new)
{
  struct tm_dataset *d = store_files(dir, "in");
  struct tm_registered out;
  struct tm_registration r = { .fs = tm_fs_real(),
                               .name = name,
                               .dataset = d,
                               .create_new_version = true,
                               .source = source,
                               .job = job,
                               .wall_ns = 1 };
  assert_int_equal(tm_registry_add(&out, dir, &r, NULL), is_new);
  assert_int_equal(out.version, version);
  tm_registered_release(&out);
  tm_dataset_free(d);
}

/* A reused step has the source of the step that ran. */
static void data_that_come_again_are_the_newest_again(void **state)
{
  store_put(*state, "in/a", "a", 100);
  assert_added_by(*state, "rows", "monday", "/job1", 1, true);
  assert_added_by(*state, "rows", "monday", "/job2", 1, false); /* the newest */
  assert_added_by(*state, "rows", "tuesday", "/job3", 2, true);
  assert_added_by(*state, "rows", "monday", "/job4", 3, true);
  assert_added_by(*state, "rows", "tuesday", "/job5", 4, true);
  assert_added_by(*state, "rows", "monday", "/job4", 3, false);   /* a resumed job */
  assert_added_by(*state, "totals", "tuesday", "/job5", 1, true); /* a different name */
  assert_added_by(*state, "rows", "mon", "/job6", 5, true);
}

static void versions_are_found_with_their_files(void **state)
{
  struct tm_registered r;
  store_put(*state, "in/a", "aaa", 100);
  store_put(*state, "in/b", "", 101);
  assert_added(*state, "digits", "in/a", false, NULL, 1, true);
  assert_added(*state, "digits", "in", true, NULL, 2, true);
  assert_int_equal(tm_registry_find(&r, *state, "digits", 1, NULL), 0);
  assert_int_equal(r.identity.files, 1);
  tm_registered_release(&r);
  assert_int_equal(tm_registry_find(&r, *state, "digits", 0, NULL), 0);
  assert_int_equal(r.version, 2);
  assert_int_equal(r.identity.list.len, 2);
  assert_int_equal(r.identity.list.at[0].size, 3);
  assert_true(r.identity.list.at[1].mtime_ns == INT64_C(101000000000));
  assert_string_equal(r.definition->tag, "FileDataset");
  tm_registered_release(&r);
}

static void a_missing_one_is_reported(void **state)
{
  assert_find_refused(*state, "digits", 0, "no dataset 'digits' is registered");
  store_put(*state, "a", "", 100);
  assert_added(*state, "digits", "a", false, NULL, 1, true);
  assert_find_refused(*state, "digist", 0, "did you mean 'digits'?");
  assert_find_refused(*state, "digist", 3, "did you mean 'digits'?");
  assert_find_refused(*state, "digits", 2, "it has version 1 alone");
  assert_added(*state, "digits", ".", true, NULL, 2, true);
  assert_find_refused(*state, "digits", 3, "it has versions 1 to 2");
}

static void names_and_versions_are_checked(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  int64_t version;
  store_put(*state, "a", "", 100);
  assert_add_refused(*state, "", "a", "is not a name of a dataset");
  assert_add_refused(*state, "a/b", "a", "is not a name of a dataset");
  assert_add_refused(*state, "-a", "a", "is not a name of a dataset");
  assert_add_refused(*state, "bytes", "\xff*", "not UTF-8");
  assert_int_equal(tm_registry_check_name("The digits of 2026-01.v2", &err), 0);
  assert_int_equal(tm_registry_read_version(&version, "latest", &err), 0);
  assert_int_equal(version, 0);
  assert_int_equal(tm_registry_read_version(&version, "7", &err), 0);
  assert_int_equal(version, 7);
  assert_int_equal(tm_registry_read_version(&version, "0", &err), TM_EUSAGE);
  assert_int_equal(tm_registry_read_version(&version, "newest", &err), TM_EUSAGE);
  assert_words(&err, TM_EUSAGE, "'latest'");
}

static void changes_since_are_found(void **state)
{
  struct tm_registered r;
  struct tm_buf out = TM_BUF_NONE;
  store_put(*state, "in/a.csv", "0123456789", 100);
  assert_added(*state, "digits", "in/*", false, NULL, 1, true);
  assert_int_equal(tm_registry_find(&r, *state, "digits", 0, NULL), 0);
  assert_int_equal(tm_registry_compare(&out, tm_fs_real(), &r, NULL), 0);
  assert_int_equal(out.len, 0);
  store_put(*state, "in/a.csv", "0123456789ab", 100);
  assert_int_equal(tm_registry_compare(&out, tm_fs_real(), &r, NULL), 1);
  assert_string_equal(out.data, "input 'in/a.csv': size 10 -> 12");
  tm_registered_release(&r);
  tm_buf_release(&out);
}

static void lists_have_the_newest_or_all_of_a_name(void **state)
{
  struct tm_registered_list list = { 0 };
  store_put(*state, "a", "", 100);
  assert_added(*state, "two", "a", false, NULL, 1, true);
  assert_added(*state, "two", ".", true, NULL, 2, true);
  assert_added(*state, "one", "a", false, NULL, 1, true);
  assert_int_equal(tm_registry_list(&list, *state, NULL, NULL), 0);
  assert_int_equal(list.len, 2);
  assert_string_equal(list.at[0].name, "one");
  assert_int_equal(list.at[1].version, 2);
  tm_registered_list_release(&list);
  assert_int_equal(tm_registry_list(&list, *state, "two", NULL), 0);
  assert_int_equal(list.len, 2);
  assert_int_equal(list.at[0].version, 2);
  tm_registered_list_release(&list);
  assert_int_equal(tm_registry_list(&list, *state, "three", NULL), TM_EUSAGE);
  tm_registered_list_release(&list);
}

static void forgotten_entries_are_removed(void **state)
{
  store_put(*state, "a", "", 100);
  assert_added(*state, "two", "a", false, NULL, 1, true);
  assert_added(*state, "two", ".", true, NULL, 2, true);
  assert_int_equal(tm_registry_remove(*state, "two", 1, NULL), 1);
  assert_find_refused(*state, "two", 1, "it has version 2 alone");
  assert_int_equal(tm_registry_remove(*state, "two", 0, NULL), 1);
  assert_find_refused(*state, "two", 0, "no dataset");
  assert_int_equal(tm_registry_remove(*state, "two", 0, NULL), TM_EUSAGE);
}

/* NULL: of none. */
static void assert_name_of_job(const char *dir, const char *job, const char *expected)
{
  struct tm_registered_list all = { 0 };
  assert_int_equal(tm_registry_list_all(&all, dir, NULL), 0);
  const char *name = tm_registry_name_of_job(&all, job);
  assert_true(name == expected || (name && expected && strcmp(name, expected) == 0));
  tm_registered_list_release(&all);
}

static void the_dataset_of_a_job_is_found(void **state)
{
  char *job = tm_path_join(*state, "jobs/a"), *other = tm_path_join(*state, "jobs/ab");
  store_put(*state, "jobs/a/score/output/rows", "", 100);
  store_put(*state, "jobs/ab/score/output/rows", "", 100);
  assert_name_of_job(*state, job, NULL);
  assert_added(*state, "rows", "jobs/a/score/output", false, NULL, 1, true);
  assert_name_of_job(*state, job, "rows");
  assert_name_of_job(*state, other, NULL);
  assert_added(*state, "rows", "jobs/ab/score/output", true, NULL, 2, true);
  assert_name_of_job(*state, job, "rows"); /* by a version other than the newest */
  free(other);
  free(job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(the_same_is_one_version),
    TEST(a_different_file_is_replaced_only_on_request),
    TEST(a_source_makes_one_version),
    TEST(data_that_come_again_are_the_newest_again),
    TEST(versions_are_found_with_their_files),
    TEST(a_missing_one_is_reported),
    TEST(names_and_versions_are_checked),
    TEST(changes_since_are_found),
    TEST(lists_have_the_newest_or_all_of_a_name),
    TEST(forgotten_entries_are_removed),
    TEST(the_dataset_of_a_job_is_found),
});
