/* test_job_dir.c - what kind of folder it is, and who may own it. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "folder.h"

#include "record/job_dir.h"

static void put(struct folder *f, const char *name)
{
  int fd = open(folder_file(f, name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  close(fd);
}

static enum tm_job_dir_state look(const char *path)
{
  struct tm_err err = TM_ERR_NONE;
  enum tm_job_dir_state state = tm_job_dir_look(path, &err);
  assert_int_equal(state == TM_JOB_DIR_UNKNOWN, err.text[0] != '\0');
  return state;
}

static void the_contents_of_a_folder_decide_its_kind(void **state)
{
  struct folder f;
  folder_init(&f);
  assert_int_equal(look(folder_file(&f, "missing")), TM_JOB_DIR_NEW);
  assert_int_equal(look(f.path), TM_JOB_DIR_NEW);
  put(&f, "lock");
  assert_int_equal(mkdir(folder_file(&f, "resume_from"), 0700), 0);
  assert_int_equal(look(f.path), TM_JOB_DIR_INCOMPLETE);
  put(&f, "other");
  assert_int_equal(look(f.path), TM_JOB_DIR_FOREIGN);
  put(&f, "job.json");
  assert_int_equal(look(f.path), TM_JOB_DIR_JOB);
  assert_int_equal(look(folder_file(&f, "other")), TM_JOB_DIR_UNKNOWN);
  folder_release(&f);
}

static void an_unreadable_folder_does_not_count_as_another_job(void **state)
{
  char path[5000];
  memset(path, 'x', sizeof(path) - 1);
  path[0] = '/';
  path[sizeof(path) - 1] = '\0';
  assert_int_equal(look(path), TM_JOB_DIR_UNKNOWN); /* the name is too long */
}

static void holding_a_folder_changes_nothing_and_is_shared(void **state)
{
  struct folder f;
  struct tm_job_dir owner, a, b;
  struct tm_err err = TM_ERR_NONE;
  const struct tm_fs *fs = tm_fs_real();
  folder_init(&f);
  assert_true(tm_job_dir_hold(&a, fs, f.path, &err) <
              0); /* without a lock file: nobody has owned it */
  assert_int_equal(look(f.path), TM_JOB_DIR_NEW);
  assert_int_equal(tm_job_dir_open(&owner, fs, f.path, NULL, &err), 0);
  uint64_t epoch = owner.epoch;
  char *owner_file = strdup(owner.owner_file);
  tm_job_dir_close(&owner);
  assert_int_equal(tm_job_dir_hold(&a, fs, f.path, &err), 0);
  assert_int_equal(tm_job_dir_hold(&b, fs, f.path, &err), 0);
  assert_int_equal(tm_job_dir_check_owner(fs, owner_file, epoch, &err), 0);
  int fd = open(folder_file(&f, "lock"), O_RDWR | O_CLOEXEC);
  assert_int_not_equal(tm_lock_take(fd, false), 0); /* nobody owns it at this moment */
  tm_job_dir_close(&a);
  assert_int_not_equal(tm_lock_take(fd, false), 0);
  tm_job_dir_close(&b);
  assert_int_equal(tm_lock_take(fd, false), 0);
  close(fd);
  free(owner_file);
  folder_release(&f);
}

static bool is_second_call(void *data)
{
  return ++*(int *)data == 2;
}

static void a_wait_for_another_can_be_stopped(void **state)
{
  const struct tm_fs *fs = tm_fs_real();
  struct folder f;
  struct tm_job_dir owner, other;
  struct tm_err err = TM_ERR_NONE;
  int calls = 0;
  struct tm_job_wait wait = { .is_stopped = is_second_call, .data = &calls };
  folder_init(&f);
  assert_int_equal(tm_job_dir_open(&owner, fs, f.path, &wait, &err), 0);
  assert_int_equal(calls, 0); /* nobody owns it */
  assert_int_equal(tm_job_dir_open(&other, fs, f.path, &wait, &err), -ECANCELED);
  assert_int_equal(calls, 2);
  assert_non_null(strstr(err.text, "canceled while another process had the job"));
  tm_job_dir_close(&other);
  tm_job_dir_close(&owner);
  folder_release(&f);
}

static void a_session_that_ran_nothing_gives_the_folder_back(void **state)
{
  struct folder f;
  struct tm_job_dir first, second, third;
  struct tm_err err = TM_ERR_NONE;
  const struct tm_fs *fs = tm_fs_real();
  folder_init(&f);
  assert_int_equal(tm_job_dir_open(&first, fs, f.path, NULL, &err), 0);
  uint64_t epoch = first.epoch;
  char *owner_file = strdup(first.owner_file);
  tm_job_dir_give_back(&first); /* nobody had it before */
  assert_int_equal(tm_job_dir_check_owner(fs, owner_file, epoch, &err), 0);
  tm_job_dir_close(&first);
  assert_int_equal(tm_job_dir_open(&second, fs, f.path, NULL, &err), 0);
  assert_int_equal(tm_job_dir_check_owner(fs, owner_file, epoch, NULL), TM_EINUSE);
  tm_job_dir_give_back(&second);
  assert_int_equal(tm_job_dir_check_owner(fs, owner_file, epoch, &err), 0);
  tm_job_dir_give_back(&second); /* it is another's now */
  tm_job_dir_close(&second);
  assert_int_equal(tm_job_dir_check_owner(fs, owner_file, epoch, &err), 0);
  assert_int_equal(tm_job_dir_open(&third, fs, f.path, NULL, &err), 0);
  tm_job_dir_close(&third);
  assert_int_equal(tm_job_dir_check_owner(fs, owner_file, epoch, NULL), TM_EINUSE);
  free(owner_file);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(the_contents_of_a_folder_decide_its_kind),
    cmocka_unit_test(an_unreadable_folder_does_not_count_as_another_job),
    cmocka_unit_test(holding_a_folder_changes_nothing_and_is_shared),
    cmocka_unit_test(a_session_that_ran_nothing_gives_the_folder_back),
    cmocka_unit_test(a_wait_for_another_can_be_stopped),
});
