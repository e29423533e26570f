/* test_jobs.c - which job a folder, a name or `latest` means, and the message if there is none. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "store/jobs.h"

static int open_dir(void **state)
{
  char *dir = tm_xstrdup("/tmp/tidemill-jobs-XXXXXX");
  *state = mkdtemp(dir);
  return *state ? 0 : -1;
}

static int close_dir(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

/* A job: a folder with job.json. */
static void put_job(const char *dir, const char *name)
{
  char *job = tm_path_join(dir, name), *record = tm_path_join(job, "job.json");
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), job, 0700, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), record, "{}", 2, 0600, NULL), 0);
  free(record);
  free(job);
}

static void put_folder(const char *dir, const char *name)
{
  char *path = tm_path_join(dir, name);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), path, 0700, NULL), 0);
  free(path);
}

static void assert_found(const char *dir, const char *given, const char *named, const char *cwd,
                         const char *expected)
{
  struct tm_err err = TM_ERR_NONE;
  char *want = tm_path_join(dir, expected), *from = tm_path_absolute(dir, cwd);
  char *found = tm_jobs_find(tm_fs_real(), given, named, from, TM_TO_USE, &err);
  if (!found)
    fail_msg("%s", err.text);
  assert_string_equal(found, want);
  free(found);
  free(from);
  free(want);
}

/* Checks that the message has each of `parts`; NULL ends them. */
static void assert_refused(const char *dir, const char *given, const char *named,
                           const char *const *parts)
{
  struct tm_err err = TM_ERR_NONE;
  assert_null(tm_jobs_find(tm_fs_real(), given, named, dir, TM_TO_USE, &err));
  assert_int_equal(err.code, TM_EUSAGE);
  for (; *parts; parts++)
    if (!strstr(err.text, *parts))
      fail_msg("'%s' is not in: %s", *parts, err.text);
}

#define REFUSED(given, named, ...)                                                                 \
  assert_refused(*state, given, named, (const char *const[]) { __VA_ARGS__, NULL })

static void a_folder_a_name_and_the_latest(void **state)
{
  put_job(*state, "elsewhere");
  put_job(*state, ".tidemill/jobs/one-20260101-000000-aaaa");
  put_job(*state, ".tidemill/jobs/two-20260102-000000-aaaa");
  put_folder(*state,
             ".tidemill/jobs/two-20270102-000000-aaaa"); /* without job.json it is not a job */
  put_folder(*state, "a/b");
  assert_found(*state, "elsewhere", NULL, ".", "elsewhere");
  assert_found(*state, "../../elsewhere/", NULL, "a/b", "elsewhere");
  assert_found(*state, "one-20260101-000000-aaaa", NULL, "a/b",
               ".tidemill/jobs/one-20260101-000000-aaaa");
  assert_found(*state, "latest", NULL, "a/b", ".tidemill/jobs/two-20260102-000000-aaaa");
}

static void a_folder_goes_before_a_name(void **state)
{
  put_job(*state, ".tidemill/jobs/mine");
  assert_found(*state, "mine", NULL, ".", ".tidemill/jobs/mine");
  put_job(*state, "mine");
  assert_found(*state, "mine", NULL, ".", "mine");
}

static void the_variable_names_the_workspace(void **state)
{
  char *named = tm_path_join(*state, "w");
  put_job(*state, ".tidemill/jobs/one-20260101-000000-aaaa");
  put_job(*state, "w/jobs/one-20250101-000000-aaaa");
  assert_found(*state, "latest", named, ".", "w/jobs/one-20250101-000000-aaaa");
  assert_found(*state, "latest", "w", ".", "w/jobs/one-20250101-000000-aaaa");
  free(named);
}

static void the_searched_path_is_named(void **state)
{
  char *folder = tm_path_join(*state, "nope");
  REFUSED("nope", NULL, "'nope'", folder, "no workspace", "TIDEMILL_WORKSPACE");
  REFUSED("latest", NULL, "no workspace", "TIDEMILL_WORKSPACE");
  put_job(*state, ".tidemill/jobs/digits-20260101-000000-aaaa");
  REFUSED("nope", NULL, folder, "/.tidemill/jobs/nope", "tidemill jobs");
  REFUSED("digits-20260101-000000-aaab", NULL, "did you mean 'digits-20260101-000000-aaaa'?");
  REFUSED("digits", NULL, "did you mean 'digits-20260101-000000-aaaa'?");
  REFUSED("latset", NULL, "did you mean 'latest'?");
  put_folder(*state, "nope");
  REFUSED("nope", NULL, "contains none (no job.json)");
  REFUSED("", NULL, "there is no job ''");
  REFUSED("latest", "missing", "there is no job yet: the workspace '", "/missing', which TIDEMILL_",
          "does not exist, or name the job's directory");
  REFUSED("nope2", "missing", "/missing', which TIDEMILL_WORKSPACE names, does not exist; a job");
  free(folder);
}

static void an_empty_workspace_has_no_latest(void **state)
{
  put_folder(*state, ".tidemill/jobs");
  REFUSED("latest", NULL, "there is no job yet in the workspace", "/.tidemill");
}

static void the_newest_is_first(void **state)
{
  static const char *const expected[] = { "b-20260301-000000-aaaa", "a-20260201-000000-zzzz",
                                          "c-20260101-000000-aaaa" };
  struct tm_jobs jobs = { 0 };
  put_job(*state, "jobs/c-20260101-000000-aaaa");
  put_job(*state, "jobs/b-20260301-000000-aaaa");
  put_job(*state, "jobs/a-20260201-000000-zzzz");
  assert_int_equal(tm_jobs_list(&jobs, tm_fs_real(), *state, NULL), 0);
  assert_int_equal(jobs.len, 3);
  for (size_t i = 0; i < 3; i++)
    assert_string_equal(tm_path_base(jobs.at[i]), expected[i]);
  tm_jobs_release(&jobs);
}

static void a_job_that_is_being_removed_is_not_one(void **state)
{
  struct tm_jobs jobs = { 0 }, others = { 0 };
  put_job(*state, "jobs/a-20260201-000000-zzzz");
  put_job(*state, "jobs/b-20260301-000000-aaaa.removed-abcd");
  put_folder(*state, "jobs/c-20260301-000000-aaaa");
  assert_int_equal(tm_jobs_list(&jobs, tm_fs_real(), *state, NULL), 0);
  assert_int_equal(jobs.len, 1);
  assert_string_equal(tm_path_base(jobs.at[0]), "a-20260201-000000-zzzz");
  assert_int_equal(tm_jobs_list_others(&others, tm_fs_real(), *state, NULL), 0);
  assert_int_equal(others.len, 2);
  assert_true(tm_jobs_is_removed("a.removed-abcd"));
  assert_false(tm_jobs_is_removed(".removed-abcd"));
  assert_false(tm_jobs_is_removed("a.removed-abc"));
  assert_false(tm_jobs_is_removed("a.removed-abcD"));
  tm_jobs_release(&others);
  tm_jobs_release(&jobs);
}

static void without_a_jobs_folder_there_are_no_jobs(void **state)
{
  struct tm_jobs jobs = { 0 };
  assert_int_equal(tm_jobs_list(&jobs, tm_fs_real(), *state, NULL), 0);
  assert_int_equal(jobs.len, 0);
  tm_jobs_release(&jobs);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_dir, close_dir)

UNIT_TESTS({
    CASE(a_folder_a_name_and_the_latest),
    CASE(a_folder_goes_before_a_name),
    CASE(the_variable_names_the_workspace),
    CASE(the_searched_path_is_named),
    CASE(an_empty_workspace_has_no_latest),
    CASE(the_newest_is_first),
    CASE(without_a_jobs_folder_there_are_no_jobs),
    CASE(a_job_that_is_being_removed_is_not_one),
});
