/* test_removal.c - a job's directory goes whole, and not while somebody has it. */
#include "store_fixture.h"

#include "run/job_dir.h"
#include "run/removal.h"

static char *put_job(const char *dir)
{
  store_put(dir, "jobs/one/job.json", "{}", 1);
  store_put(dir, "jobs/one/score/output/rows", "12345", 1);
  return tm_path_join(dir, "jobs/one");
}

static int on_name(void *data, const char *name, int type)
{
  ++*(int *)data;
  return 0;
}

static void nothing_of_it_stays(void **state)
{
  char *job = put_job(*state), *jobs = tm_path_join(*state, "jobs");
  struct tm_err err = TM_ERR_NONE;
  int names = 0;
  assert_int_equal(tm_job_size(tm_fs_real(), job), 7);
  assert_int_equal(tm_job_remove(tm_fs_real(), job, &err), 0);
  assert_int_equal(tm_dir_read(jobs, on_name, &names), 0);
  assert_int_equal(names, 0);
  assert_true(tm_job_remove(tm_fs_real(), job, &err) < 0);
  assert_false(tm_fs_exists(tm_fs_real(), job)); /* and is not made */
  free(jobs);
  free(job);
}

static void one_that_is_in_use_stays(void **state)
{
  char *job = put_job(*state), *record = tm_path_join(job, "job.json");
  struct tm_err err = TM_ERR_NONE;
  struct tm_job_dir held;
  assert_int_equal(tm_job_dir_open(&held, tm_fs_real(), job, &err), 0);
  assert_int_equal(tm_job_remove(tm_fs_real(), job, &err), TM_EINUSE);
  assert_true(tm_fs_exists(tm_fs_real(), record));
  tm_job_dir_close(&held);
  free(record);
  free(job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(nothing_of_it_stays),
    TEST(one_that_is_in_use_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
