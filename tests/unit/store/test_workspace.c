/* test_workspace.c - where the workspace is found or created, the name of a job's folder, and which
 * job is resumed. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "store/workspace.h"

#define WALL (INT64_C(1769903998) * TM_S) /* 2026-01-31 23:59:58 */

static int open_dir(void **state)
{
  char *dir = tm_xstrdup("/tmp/tidemill-workspace-XXXXXX");
  *state = mkdtemp(dir);
  return *state ? 0 : -1;
}

static int close_dir(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

static void make(const char *dir, const char *name)
{
  char *path = tm_path_join(dir, name);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), path, 0700, NULL), 0);
  free(path);
}

static void put(const char *dir, const char *name, const char *text)
{
  char *path = tm_path_join(dir, name);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  free(path);
}

/* Starting at dir/name, the search finds dir/expected. */
static void assert_found(const char *dir, const char *name, const char *named, const char *expected)
{
  struct tm_err err = TM_ERR_NONE;
  char *file = tm_path_join(dir, name), *want = tm_path_join(dir, expected);
  char *found = tm_workspace_find(tm_fs_real(), file, named, dir, &err);
  struct stat st;
  assert_non_null(found);
  assert_string_equal(found, want);
  assert_int_equal(stat(found, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0700);
  free(file);
  free(want);
  free(found);
}

static void made_beside_the_file(void **state)
{
  make(*state, "a/b");
  assert_found(*state, "a/b/p.lua", NULL, "a/b/.tidemill");
  assert_found(*state, "a/b/p.lua", "", "a/b/.tidemill");
}

static bool is_hidden_from_git(const char *dir, const char *workspace)
{
  char *folder = tm_path_join(dir, workspace), *file = tm_path_join(folder, ".gitignore");
  struct tm_buf text = TM_BUF_NONE;
  bool yes = tm_fs_read_file(tm_fs_real(), file, 100, &text, NULL) >= 0 &&
             strcmp(tm_buf_str(&text), "*\n") == 0;
  tm_buf_release(&text);
  free(file);
  free(folder);
  return yes;
}

/* The path dir/given of a pipeline file means dir/expected. */
static void assert_meant(const char *dir, const char *given, const char *named,
                         const char *expected)
{
  char *path = tm_path_join(dir, given), *want = tm_path_join(dir, expected);
  char *meant = tm_workspace_meant(tm_fs_real(), path, named, dir);
  assert_string_equal(meant, want);
  free(meant);
  free(want);
  free(path);
}

static void a_path_means_the_workspace_or_the_folder_that_holds_it(void **state)
{
  assert_meant(*state, "proj", NULL, "proj/.tidemill");
  make(*state, "proj/.tidemill");
  assert_meant(*state, "proj", NULL, "proj/.tidemill");
  assert_meant(*state, "proj/.tidemill", NULL, "proj/.tidemill");
  assert_meant(*state, "gone/.tidemill", "", "gone/.tidemill");
  assert_meant(*state, "ws", "ws", "ws");
  assert_meant(*state, "ws", "other", "ws/.tidemill");
  make(*state, "used/jobs");
  assert_meant(*state, "used", NULL, "used");
  make(*state, "old");
  put(*state, "old/workspace.db", "");
  assert_meant(*state, "old", NULL, "old");
  make(*state, "used/.tidemill"); /* a project with a folder "jobs" */
  assert_meant(*state, "used", NULL, "used/.tidemill");
}

static void git_leaves_it_out(void **state)
{
  make(*state, "a");
  make(*state, "b");
  assert_found(*state, "a/p.lua", NULL, "a/.tidemill");
  assert_true(is_hidden_from_git(*state, "a/.tidemill"));
  assert_found(*state, "b/p.lua", "b/mine", "b/mine"); /* it may hold more than a workspace */
  assert_false(is_hidden_from_git(*state, "b/mine"));
}

static void found_upwards(void **state)
{
  make(*state, "a/b/c");
  make(*state, "a/.tidemill");
  put(*state, "a/b/.tidemill", "a file is none");
  assert_found(*state, "a/b/c/p.lua", NULL, "a/.tidemill");
  assert_found(*state, "a/p.lua", NULL, "a/.tidemill");
}

static void the_variable_goes_first(void **state)
{
  make(*state, ".tidemill");
  assert_found(*state, "p.lua", "elsewhere/w", "elsewhere/w");
}

static void a_folder_that_cannot_be_created_is_reported_with_advice(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  char *file = tm_path_join(*state, "p.lua"), *named = tm_path_join(*state, "file/w");
  put(*state, "file", "");
  assert_null(tm_workspace_find(tm_fs_real(), file, named, "/", &err));
  assert_non_null(strstr(err.text, "cannot make the workspace: "));
  assert_non_null(strstr(err.text, "TIDEMILL_WORKSPACE"));
  assert_non_null(strstr(err.text, "`dir`"));
  assert_true(err.code < 0);
  free(file);
  free(named);
}

static void a_new_job_has_a_name_of_its_own(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  char *a = tm_workspace_new_job(tm_fs_real(), *state, "digits", WALL, &err);
  char *begin = tm_path_join(*state, "jobs/digits-20260131-235958-");
  assert_int_equal(strncmp(a, begin, strlen(begin)), 0);
  assert_int_equal(strlen(a), strlen(begin) + 4);
  for (const char *c = a + strlen(begin); *c; c++)
    assert_in_range(*c, 'a', 'z');
  assert_false(tm_fs_exists(tm_fs_real(), a));
  char *b = tm_workspace_new_job(tm_fs_real(), *state, "digits", WALL, &err);
  char *c = tm_workspace_new_job(tm_fs_real(), *state, "digits", WALL, &err);
  assert_true(strcmp(a, b) != 0 || strcmp(b, c) != 0);
  free(a);
  free(b);
  free(c);
  free(begin);
}

static void assert_open_job(void **state, const char *pipeline, const char *expected)
{
  char *other = NULL;
  char *found = tm_workspace_find_open_job(tm_fs_real(), *state, pipeline, "", &other);
  assert_null(other);
  if (expected) {
    assert_non_null(found);
    assert_string_equal(tm_path_base(found), expected);
  } else {
    assert_null(found);
  }
  free(found);
}

static void the_newest_that_is_not_completed(void **state)
{
  assert_open_job(state, "digits", NULL); /* no jobs/ at all */
  make(*state, "jobs/digits-20260101-000000-aaaa");
  make(*state, "jobs/digits-20260301-000000-aaaa");
  make(*state, "jobs/digits-20260201-000000-zzzz");
  make(*state, "jobs/digits-20260401-000000-aaaa");
  make(*state, "jobs/more-digits-20270101-000000-aaaa");
  make(*state, "jobs/digits-two-20270101-000000-aaaa");
  make(*state, "jobs/digits-20270101-000000-AAAA");
  put(*state, "jobs/digits-20270101-000000-aaaa", "a file is none");
  put(*state, "jobs/digits-20260401-000000-aaaa/job_result.json", "{\"status\":\"Completed\"}");
  assert_open_job(state, "digits", "digits-20260301-000000-aaaa");
  assert_open_job(state, "digits-two", "digits-two-20270101-000000-aaaa");
  assert_open_job(state, "two", NULL);
  put(*state, "jobs/digits-20260301-000000-aaaa/job_result.json", "{\"status\":\"Failed\"}");
  assert_open_job(state, "digits", "digits-20260301-000000-aaaa");
  put(*state, "jobs/digits-20260301-000000-aaaa/job_result.json", "{\"status\":\"Completed\"}");
  assert_open_job(state, "digits", "digits-20260201-000000-zzzz");
}

static void a_job_of_another_file_is_not_the_pipelines(void **state)
{
  char *here = tm_path_join(*state, "here.lua"), *there = tm_path_join(*state, "there.lua");
  char *record = tm_xprintf("{\"pipeline\":\"%s\"}", there), *other = NULL, *found;
  make(*state, "jobs/digits-20260101-000000-aaaa");
  make(*state, "jobs/digits-20260201-000000-aaaa");
  put(*state, "here.lua", "");
  put(*state, "there.lua", "");
  put(*state, "jobs/digits-20260201-000000-aaaa/job.json", record);
  found = tm_workspace_find_open_job(tm_fs_real(), *state, "digits", here, &other);
  assert_string_equal(tm_path_base(found), "digits-20260101-000000-aaaa");
  assert_string_equal(tm_path_base(other), "digits-20260201-000000-aaaa");
  free(found);
  free(other);
  found = tm_workspace_find_open_job(tm_fs_real(), *state, "digits", there, &other);
  assert_string_equal(tm_path_base(found), "digits-20260201-000000-aaaa");
  assert_null(other);
  free(found);
  assert_int_equal(unlink(there), 0); /* the file may have been moved */
  found = tm_workspace_find_open_job(tm_fs_real(), *state, "digits", here, &other);
  assert_string_equal(tm_path_base(found), "digits-20260201-000000-aaaa");
  assert_null(other);
  free(found);
  free(record);
  free(there);
  free(here);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(made_beside_the_file, open_dir, close_dir),
    cmocka_unit_test_setup_teardown(a_path_means_the_workspace_or_the_folder_that_holds_it,
                                    open_dir, close_dir),
    cmocka_unit_test_setup_teardown(git_leaves_it_out, open_dir, close_dir),
    cmocka_unit_test_setup_teardown(found_upwards, open_dir, close_dir),
    cmocka_unit_test_setup_teardown(the_variable_goes_first, open_dir, close_dir),
    cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_created_is_reported_with_advice,
                                    open_dir, close_dir),
    cmocka_unit_test_setup_teardown(a_new_job_has_a_name_of_its_own, open_dir, close_dir),
    cmocka_unit_test_setup_teardown(the_newest_that_is_not_completed, open_dir, close_dir),
    cmocka_unit_test_setup_teardown(a_job_of_another_file_is_not_the_pipelines, open_dir,
                                    close_dir),
});
