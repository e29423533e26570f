/* test_temp_dirs.c - where the folders of workers are, and that none is left when their step is opened again or removed. */
#include "store_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "run/removal.h"
#include "run/temp_dirs.h"

#define REST "tidemill-%u-job-"

static void expect(const char *tmp, const char *memory_dir, const char *temp, const char *memory)
{
  if (tmp)
    setenv("TMPDIR", tmp, 1);
  else
    unsetenv("TMPDIR");
  if (memory_dir)
    setenv(TM_ENV_MEMORY_DIR, memory_dir, 1);
  else
    unsetenv(TM_ENV_MEMORY_DIR);
  struct tm_temp_dirs d = tm_temp_dirs_of("/w/job", "/w/job/score", "process007");
  char *name = tm_xprintf(REST, (unsigned)getuid());
  const char *found[] = { d.temp, d.memory }, *wanted[] = { temp, memory };
  for (int i = 0; i < 2; i++) {
    if (!wanted[i]) {
      assert_string_equal(found[i], "");
      continue;
    }
    char *begin = tm_xprintf("%s/%s", wanted[i], name);
    if (strncmp(found[i], begin, strlen(begin)) != 0)
      print_error("'%s', not '%s...'\n", found[i], begin);
    assert_int_equal(strncmp(found[i], begin, strlen(begin)), 0);
    assert_string_equal(strrchr(found[i], '-'), "-process007");
    free(begin);
  }
  tm_temp_dirs_release(&d);
  free(name);
}

static void memory_is_used_where_nobody_says_where_files_are_wanted(void **state)
{
  expect(NULL, NULL, "/tmp", "/dev/shm");
  expect("", NULL, "/tmp", "/dev/shm");
  expect("/a", NULL, "/a", NULL);
  expect("/a", "/m", "/a", "/m");
  expect(NULL, "/m", "/tmp", "/m");
  expect(NULL, "", "/tmp", NULL);
  expect(NULL, "m", "/tmp", NULL);
}

static char *make_left(const char *job, const char *step, const char *worker)
{
  struct tm_temp_dirs d = tm_temp_dirs_of(job, step, worker);
  char *below = tm_path_join(d.memory, "1");
  assert_int_equal(mkdir(d.temp, 0700), 0);
  assert_int_equal(mkdir(d.memory, 0700), 0);
  assert_int_equal(mkdir(below, 0700), 0);
  free(below);
  free(d.temp);
  return d.memory;
}

static int count_name(void *data, const char *name, int type)
{
  *(int *)data += strncmp(name, "tidemill-", 9) == 0;
  return 0;
}

static int count_left(const char *dir)
{
  int left = 0;
  assert_int_equal(tm_dir_read(dir, count_name, &left), 0);
  return left;
}

static void what_killed_workers_left_goes_with_the_next_session_or_the_job(void **state)
{
  char *job = tm_path_join(*state, "jobs/job"), *step = tm_path_join(job, "score");
  char *tmp = tm_path_join(*state, "tmp"), *memory = tm_path_join(*state, "memory");
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(mkdir(tmp, 0700), 0);
  assert_int_equal(mkdir(memory, 0700), 0);
  setenv("TMPDIR", tmp, 1);
  setenv(TM_ENV_MEMORY_DIR, memory, 1);
  for (int removed = 0; removed < 2; removed++) {
    store_put(*state, "jobs/job/job.json", "{}", 1);
    store_put(*state, "jobs/job/score/logs/user/stdout/0/process000.stdout.txt", "", 1);
    store_put(*state, "jobs/job/score/logs/user/stdout/0/process012.stdout.txt", "", 1);
    free(make_left(job, step, "process000"));
    free(make_left(job, step, "process012"));
    assert_int_equal(count_left(tmp) + count_left(memory), 4);
    if (removed)
      assert_int_equal(tm_job_remove(tm_fs_real(), job, &err), 0);
    else
      assert_int_equal(tm_temp_dirs_remove_all(job, step), 13);
    assert_int_equal(count_left(tmp) + count_left(memory), 0);
  }
  assert_int_equal(tm_temp_dirs_remove_all(job, step), 0);
  free(job);
  free(step);
  free(tmp);
  free(memory);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(memory_is_used_where_nobody_says_where_files_are_wanted),
    TEST(what_killed_workers_left_goes_with_the_next_session_or_the_job),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
