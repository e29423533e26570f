/* test_removal.c - removes a job's directory completely, but not while a process owns it; finds and
 * removes what an interrupted removal leaves; keeps files that are not the job's. */
#include "unit.h"

#include "store_fixture.h"

#include <errno.h>

#include "inspect/removal.h"
#include "record/job_dir.h"
#include "store/jobs.h"

#define RECORD                                                                                     \
  "{\"version\": 1, \"tidemill\": \"0.1.0\", \"name\": \"one\", \"submitted\": \"2026-01-01\", "   \
  "\"steps\": [{\"name\": \"score\", \"definition\": {}}]}"

static char *put_job(const char *dir)
{
  store_put(dir, "jobs/one/lock", "", 1);
  store_put(dir, "jobs/one/owner", "{}", 1);
  store_put(dir, "jobs/one/job.json", RECORD, 1);
  store_put(dir, "jobs/one/job_result.json", "{}", 1);
  store_put(dir, "jobs/one/score/output/rows", "12345", 1);
  store_put(dir, "jobs/one/score.reuse/output/rows", "12345", 1);
  store_put(dir, "jobs/one/script/score/score.lua", "", 1);
  return tm_path_join(dir, "jobs/one");
}

static int count_name(void *data, const char *name, int type)
{
  ++*(int *)data;
  return 0;
}

static int count_names(const char *dir)
{
  char *jobs = tm_path_join(dir, "jobs");
  int names = 0;
  assert_int_equal(tm_dir_read(jobs, count_name, &names), 0);
  free(jobs);
  return names;
}

static void assert_removed(const char *dir, const char *job)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_job_remove(tm_fs_real(), job, &err) < 0)
    fail_msg("%s", err.text);
  assert_int_equal(count_names(dir), 0);
}

static void assert_stays(const char *job, const char *part)
{
  struct tm_err err = TM_ERR_NONE;
  char *why = tm_job_refusal(tm_fs_real(), job);
  assert_non_null(why);
  if (!strstr(why, part))
    fail_msg("'%s' is not in: %s", part, why);
  assert_int_equal(tm_job_remove(tm_fs_real(), job, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, part));
  assert_true(tm_fs_exists(tm_fs_real(), job));
  free(why);
}

static void nothing_of_it_stays(void **state)
{
  char *job = put_job(*state);
  assert_int_equal(tm_job_size(tm_fs_real(), job), 2 + sizeof(RECORD) - 1 + 2 + 5 + 5);
  assert_removed(*state, job);
  assert_true(tm_job_remove(tm_fs_real(), job, NULL) < 0);
  assert_false(tm_fs_exists(tm_fs_real(), job)); /* and does not create it */
  free(job);
}

static void one_that_is_in_use_stays(void **state)
{
  char *job = put_job(*state), *record = tm_path_join(job, "job.json");
  struct tm_err err = TM_ERR_NONE;
  struct tm_job_dir held;
  assert_int_equal(tm_job_dir_open(&held, tm_fs_real(), job, NULL, &err), 0);
  assert_int_equal(tm_job_remove(tm_fs_real(), job, &err), TM_EINUSE);
  assert_true(tm_fs_exists(tm_fs_real(), record));
  tm_job_dir_close(&held);
  free(record);
  free(job);
}

static void what_is_written_about_a_job_goes_with_it(void **state)
{
  char *job = put_job(*state);
  store_put(*state, "jobs/one/report.html", "<!doctype html>", 15);
  store_put(*state, "jobs/one/portal_resume.txt", "", 0);
  store_put(*state, "jobs/one/portal_only_failed.txt", "", 0);
  store_put(*state, "jobs/one/.tidemill-0123456789abcdef.tmp", "", 0);
  assert_int_equal(tm_job_remove(tm_fs_real(), job, NULL), 0);
  assert_false(tm_fs_exists(tm_fs_real(), job));
  free(job);
}

static void foreign_files_stay(void **state)
{
  char *job = put_job(*state), *path = tm_path_join(job, "notes.txt");
  store_put(*state, "jobs/one/notes.txt", "mine", 1);
  assert_stays(job, "it holds 'notes.txt', which no job has made");
  assert_int_equal(tm_tree_remove(path, NULL), 0);
  store_put(*state, "jobs/one/other/output/rows", "",
            1); /* a folder that is not a step of this job */
  assert_stays(job, "it holds 'other'");
  free(path);
  free(job);
}

static void a_record_that_is_not_a_job_s_stays(void **state)
{
  static const char *const records[] = {
    "{\"version\": 1, \"steps\": []}",
    "{\"version\": 1, \"tidemill\": \"0.1.0\", \"name\": \"one\", \"submitted\": \"x\", \"steps\": "
    "[]}",
    "{\"version\": 1, \"tidemill\": \"0.1.0\", \"name\": \"one\", \"steps\": [{\"name\": "
    "\"score\", "
    "\"definition\": {}}]}",
    "{\"version\": 1, \"tidemill\": \"0.1.0\", \"name\": \"one\", \"submitted\": \"x\", \"steps\": "
    "[{\"name\": \"score\"}]}",
  };
  char *job = put_job(*state), *lock = tm_path_join(job, "lock");
  for (size_t i = 0; i < TM_COUNT_OF(records); i++) {
    store_put(*state, "jobs/one/job.json", records[i], 1);
    assert_stays(job, "its job.json is not the record of a job");
  }
  store_put(*state, "jobs/one/job.json", "{", 1);
  assert_stays(job, "is damaged");
  store_put(*state, "jobs/one/job.json", RECORD, 1);
  assert_int_equal(tm_tree_remove(lock, NULL), 0);
  assert_stays(job, "it has no file 'lock'");
  assert_false(tm_fs_exists(tm_fs_real(), lock)); /* and does not create it */
  free(lock);
  free(job);
}

static void one_that_never_began_goes(void **state)
{
  char *job = tm_path_join(*state, "jobs/one");
  store_put(*state, "jobs/one/rows", "", 1);
  assert_stays(job, "it holds no job");
  store_put(*state, "jobs/one/lock", "", 1);
  assert_stays(job, "it holds no job");
  char *rows = tm_path_join(job, "rows");
  assert_int_equal(tm_tree_remove(rows, NULL), 0);
  store_put(*state, "jobs/one/owner.tmp", "{", 1);
  assert_removed(*state, job);
  free(rows);
  free(job);
}

/* Calls that change something. From number `end` on all fail, because a killed process makes no
 * further calls. */
struct ending {
  struct tm_fs fs;
  int end, calls;
};

static bool is_over(void *self)
{
  struct ending *e = self;
  return ++e->calls > e->end;
}

static int end_rename(void *self, const char *from, const char *to)
{
  return is_over(self) ? -EIO : tm_fs_real()->rename(NULL, from, to);
}

static int end_unlink(void *self, const char *path)
{
  return is_over(self) ? -EIO : tm_fs_real()->unlink(NULL, path);
}

static int end_tree_remove(void *self, const char *path, struct tm_err *err)
{
  return is_over(self) ? tm_err_system(err, -EIO, "cannot remove '%s'", path)
                       : tm_fs_real()->tree_remove(NULL, path, err);
}

/* After an interrupted removal, the name that exists: the job, or its leftover. The caller frees
 * it. */
static char *what_is_left(const char *job)
{
  char *leftover = tm_job_leftover(job), *record = tm_path_join(job, "job.json");
  bool is_whole = tm_fs_exists(tm_fs_real(), record);
  assert_true(tm_jobs_is_removed(tm_path_base(leftover)));
  assert_true(is_whole != tm_fs_exists(tm_fs_real(), leftover));
  assert_true(is_whole != tm_job_is_leftover(tm_fs_real(), leftover));
  free(record);
  if (!is_whole)
    return leftover;
  free(leftover);
  return tm_xstrdup(job);
}

static void any_end_leaves_the_job_or_a_leftover(void **state)
{
  int n = 0, rc;
  do {
    struct ending e = { .fs = *tm_fs_real(), .end = n++ };
    char *job = put_job(*state);
    e.fs.self = &e;
    e.fs.rename = end_rename;
    e.fs.unlink = end_unlink;
    e.fs.tree_remove = end_tree_remove;
    if ((rc = tm_job_remove(&e.fs, job, NULL)) < 0) {
      char *left = what_is_left(job);
      assert_int_equal(count_names(*state), 1);
      assert_removed(*state, left);
      free(left);
    }
    free(job);
  } while (rc < 0);
  assert_int_equal(count_names(*state), 0);
  assert_true(n > 8); /* the rename, a call for each name, and the folder */
}

static void a_leftover_in_the_way_goes_too(void **state)
{
  char *job = put_job(*state), *leftover = tm_job_leftover(job);
  assert_int_equal(rename(job, leftover), 0);
  free(put_job(*state));
  assert_removed(*state, job);
  free(leftover);
  free(job);
}

static void a_name_alone_does_not_make_a_leftover(void **state)
{
  char *job = put_job(*state), *leftover = tm_job_leftover(job), *lock;
  assert_int_equal(tm_tree_remove(job, NULL), 0);
  assert_false(tm_job_is_leftover(tm_fs_real(), leftover)); /* missing */
  free(put_job(*state));
  assert_false(tm_job_is_leftover(tm_fs_real(), job));
  assert_int_equal(rename(job, leftover), 0);
  assert_true(tm_job_is_leftover(tm_fs_real(), leftover));
  lock = tm_path_join(leftover, "lock");
  assert_int_equal(tm_tree_remove(lock, NULL), 0);
  assert_false(tm_job_is_leftover(tm_fs_real(), leftover)); /* it may belong to somebody else */
  assert_stays(leftover, "it has no file 'lock'");
  free(lock);
  free(leftover);
  free(job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(nothing_of_it_stays),
    TEST(one_that_is_in_use_stays),
    TEST(what_is_written_about_a_job_goes_with_it),
    TEST(foreign_files_stay),
    TEST(a_record_that_is_not_a_job_s_stays),
    TEST(one_that_never_began_goes),
    TEST(any_end_leaves_the_job_or_a_leftover),
    TEST(a_leftover_in_the_way_goes_too),
    TEST(a_name_alone_does_not_make_a_leftover),
});
