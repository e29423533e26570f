/* test_temp_dirs.c - names of the workers' folders, their records, and what is removed because of
 * them and what is not. */
#include "unit.h"

#include "store_fixture.h"

#include <errno.h>
#include <stdlib.h>

#include "inspect/removal.h"
#include "record/temp_dirs.h"
#include "sys/process.h"

#define HEX 12 /* letters at the end of a name */

static void set_variable(const char *name, const char *value)
{
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static struct tm_temp_dirs record(const char *job, bool wants_memory)
{
  struct tm_temp_dirs d;
  struct tm_err err = TM_ERR_NONE;
  if (tm_temp_dirs_record(&d, tm_fs_real(), job, NULL, wants_memory, &err) < 0)
    fail_msg("%s", err.text);
  return d;
}

/* parent NULL: no folder may exist. */
static void expect_place(const char *path, const char *parent)
{
  if (!parent) {
    assert_string_equal(path, "");
    return;
  }
  char *begin = tm_xprintf("%s/tidemill-%u-", parent, (unsigned)geteuid());
  assert_int_equal(strncmp(path, begin, strlen(begin)), 0);
  assert_int_equal(strlen(path), strlen(begin) + 8 + 1 + HEX);
  free(begin);
}

static void expect(const char *job, const char *tmp, const char *memory_dir, const char *temp,
                   const char *memory)
{
  set_variable("TMPDIR", tmp);
  set_variable(TM_ENV_MEMORY_DIR, memory_dir);
  for (int wants_memory = 0; wants_memory < 2; wants_memory++) {
    struct tm_temp_dirs d = record(job, wants_memory);
    expect_place(d.temp, temp);
    expect_place(d.memory, wants_memory ? memory : NULL);
    tm_temp_dirs_release(&d);
  }
}

struct places {
  char *job, *records, *tmp, *memory;
};

static struct places make_places(const char *dir)
{
  struct places p = { .job = tm_path_join(dir, "jobs/job"),
                      .records = tm_path_join(dir, "jobs/job/temp_dirs"),
                      .tmp = tm_path_join(dir, "tmp"),
                      .memory = tm_path_join(dir, "memory") };
  store_put(dir, "jobs/job/lock", "", 1);
  store_put(dir, "jobs/job/job.json",
            "{\"version\": 1, \"tidemill\": \"0.1.0\", \"name\": \"one\", \"submitted\": "
            "\"2026-01-01\", \"steps\": [{\"name\": \"score\", \"definition\": {}}]}",
            1);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), p.tmp, 0700, NULL), 0);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), p.memory, 0700, NULL), 0);
  set_variable("TMPDIR", p.tmp);
  set_variable(TM_ENV_MEMORY_DIR, p.memory);
  return p;
}

static void release_places(struct places *p)
{
  free(p->job);
  free(p->records);
  free(p->tmp);
  free(p->memory);
}

static void memory_is_used_where_nobody_says_where_files_are_wanted(void **state)
{
  struct places p = make_places(*state);
  expect(p.job, NULL, NULL, "/tmp", "/dev/shm");
  expect(p.job, "", NULL, "/tmp", "/dev/shm");
  expect(p.job, "/a", NULL, "/a", NULL);
  expect(p.job, "/a", "/m", "/a", "/m");
  expect(p.job, NULL, "/m", "/tmp", "/m");
  expect(p.job, NULL, "", "/tmp", NULL);
  expect(p.job, NULL, "m", "/tmp", NULL);
  release_places(&p);
}

static void names_of_one_job_differ_in_a_random_part(void **state)
{
  struct places p = make_places(*state);
  set_variable(TM_ENV_MEMORY_DIR, p.tmp);
  struct tm_temp_dirs a = record(p.job, true), b = record(p.job, true);
  size_t same = strlen(a.temp) - HEX;
  assert_int_equal(strncmp(a.temp, b.temp, same), 0);
  assert_string_not_equal(a.temp, b.temp);
  assert_string_not_equal(a.temp, a.memory);
  tm_temp_dirs_release(&a);
  tm_temp_dirs_release(&b);
  release_places(&p);
}

/* ---- nodes ---- */

static struct tm_temp_dirs record_node(const struct places *p, const char *boot_id, uint32_t uid)
{
  struct tm_temp_node node = {
    .temp = p->tmp, .memory = p->memory, .boot_id = boot_id, .uid = uid
  };
  struct tm_temp_dirs d;
  struct tm_err err = TM_ERR_NONE;
  if (tm_temp_dirs_record(&d, tm_fs_real(), p->job, &node, true, &err) < 0)
    fail_msg("%s", err.text);
  return d;
}

static bool exists(const char *path)
{
  return tm_fs_exists(tm_fs_real(), path);
}

/* Of three nodes: on this machine, on another one, on one that does not know its kernel. */
static void only_folders_of_this_machine_are_removed(void **state)
{
  struct places p = make_places(*state);
  char *here = tm_process_boot_id();
  const char *const boot_ids[] = { here, "another kernel", "" };
  struct tm_temp_dirs d[3];
  set_variable("TMPDIR", "/not the folder of a node");
  for (int i = 0; i < 3; i++) {
    d[i] = record_node(&p, boot_ids[i], geteuid());
    expect_place(d[i].temp, p.tmp);
    expect_place(d[i].memory, p.memory);
    store_put(d[i].temp, "file", "text", 1);
    store_put(d[i].memory, "file", "text", 1);
  }
  for (int i = 0; i < 3; i++) {
    bool is_here = i == 0;
    assert_int_equal(tm_temp_dirs_remove_of(&d[i], tm_fs_real(), p.job, NULL), 0);
    assert_int_equal(exists(d[i].temp), !is_here);
    assert_int_equal(exists(d[i].memory), !is_here);
    tm_temp_dirs_release(&d[i]);
  }
  assert_false(exists(p.records)); /* nothing is left to be tried again */
  free(here);
  release_places(&p);
}

static void a_later_session_leaves_folders_of_other_machines_alone(void **state)
{
  struct places p = make_places(*state);
  char *here = tm_process_boot_id();
  struct tm_temp_dirs near = record_node(&p, here, geteuid()),
                      far = record_node(&p, "another kernel", geteuid());
  store_put(near.temp, "file", "text", 1);
  store_put(far.temp, "file", "text", 1);
  assert_int_equal(tm_temp_dirs_remove(tm_fs_real(), p.job, NULL), 0);
  assert_false(exists(near.temp));
  assert_true(exists(far.temp));
  assert_false(exists(p.records));
  tm_temp_dirs_release(&near);
  tm_temp_dirs_release(&far);
  free(here);
  release_places(&p);
}

static void names_have_the_user_of_their_keeper(void **state)
{
  struct places p = make_places(*state);
  struct tm_temp_dirs d = record_node(&p, "another kernel", 4711);
  assert_non_null(strstr(d.temp, "/tidemill-4711-"));
  assert_int_equal(tm_temp_dirs_remove_of(&d, tm_fs_real(), p.job, NULL), 0);
  assert_false(exists(p.records));
  tm_temp_dirs_release(&d);
  release_places(&p);
}

/* What a killed keeper has left, with a folder that is closed to its owner. */
static void make_left(const struct tm_temp_dirs *d)
{
  const char *const dirs[] = { d->temp, d->memory };
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++) {
    char *worker = tm_path_join(dirs[i], "score-process000"), *below = tm_path_join(worker, "1");
    store_put(worker, "1/file", "text", 1);
    assert_int_equal(chmod(below, 0500), 0);
    free(below);
    free(worker);
  }
}

static int count_name(void *data, const char *name, int type)
{
  ++*(int *)data;
  return 0;
}

static int count_in(const char *dir)
{
  int n = 0;
  assert_int_equal(tm_dir_read(dir, count_name, &n), 0);
  return n;
}

static void leftovers_are_removed_by_the_next_session_or_with_the_job(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct places p = make_places(*state);
  for (int removed = 0; removed < 2; removed++) {
    struct tm_temp_dirs killed = record(p.job, true), again = record(p.job, true);
    make_left(&killed);
    make_left(&again);
    assert_int_equal(count_in(p.tmp) + count_in(p.memory), 4);
    set_variable("TMPDIR", "/another"); /* the next session may have a different one */
    set_variable(TM_ENV_MEMORY_DIR, "");
    int rc = removed ? tm_job_remove(tm_fs_real(), p.job, &err)
                     : tm_temp_dirs_remove_left(tm_fs_real(), p.job, &err);
    if (rc < 0)
      fail_msg("%s", err.text);
    assert_int_equal(count_in(p.tmp) + count_in(p.memory), 0);
    assert_false(tm_fs_exists(tm_fs_real(), p.records));
    set_variable("TMPDIR", p.tmp);
    set_variable(TM_ENV_MEMORY_DIR, p.memory);
    tm_temp_dirs_release(&killed);
    tm_temp_dirs_release(&again);
  }
  assert_int_equal(tm_temp_dirs_remove(tm_fs_real(), p.job, &err), 0);
  release_places(&p);
}

/* Left by a job directory that was removed by hand and created again; but it must not touch what a
 * keeper in another container holds. */
static void a_folder_without_a_record_is_found_by_name_unless_locked(void **state)
{
  struct places p = make_places(*state);
  struct tm_temp_dirs killed = record(p.job, true), held = record(p.job, true);
  make_left(&killed);
  make_left(&held);
  store_put(p.tmp, "tidemill-other/file", "text", 1);
  assert_int_equal(tm_tree_remove(p.records, NULL), 0);
  int fd = open(held.temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(tm_lock_take(fd, true), 0);
  assert_int_equal(tm_temp_dirs_remove_left(tm_fs_real(), p.job, NULL), 0);
  assert_true(tm_fs_exists(tm_fs_real(), held.temp));
  assert_int_equal(count_in(p.tmp), 2);
  assert_int_equal(count_in(p.memory), 0);
  close(fd);
  assert_int_equal(tm_temp_dirs_remove_left(tm_fs_real(), p.job, NULL), 0);
  assert_int_equal(count_in(p.tmp), 1);
  tm_temp_dirs_release(&killed);
  tm_temp_dirs_release(&held);
  release_places(&p);
}

/* Somebody copies the directory of a job that runs, and resumes the copy. */
static void a_copy_spares_what_the_job_uses(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct places p = make_places(*state);
  struct tm_temp_dirs killed = record(p.job, true), held = record(p.job, true);
  char *name = tm_path_join("temp_dirs", strrchr(held.temp, '/') + 1);
  char *copy = tm_path_join(*state, "jobs/copy");
  make_left(&killed);
  make_left(&held);
  int fd = open(held.temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(tm_lock_take(fd, true), 0);
  store_put(copy, name, p.tmp, 1);
  if (tm_temp_dirs_remove_left(tm_fs_real(), copy, &err) < 0)
    fail_msg("%s", err.text);
  assert_true(tm_fs_exists(tm_fs_real(), held.temp));
  assert_int_equal(tm_temp_dirs_remove(tm_fs_real(), copy, &err), 0);
  assert_true(tm_fs_exists(tm_fs_real(), held.temp));
  assert_int_equal(tm_temp_dirs_remove_left(tm_fs_real(), p.job, NULL), 0);
  assert_int_equal(count_in(p.tmp), 1);
  close(fd);
  assert_int_equal(tm_temp_dirs_remove_left(tm_fs_real(), p.job, NULL), 0);
  assert_int_equal(count_in(p.tmp), 0);
  tm_temp_dirs_release(&killed);
  tm_temp_dirs_release(&held);
  release_places(&p);
  free(copy);
  free(name);
}

/* A process that writes a record may be killed at any moment. */
static void a_record_without_a_folder_is_removed(void **state)
{
  struct places p = make_places(*state);
  struct tm_temp_dirs d = record(p.job, true);
  char *empty = tm_xprintf("jobs/job/temp_dirs/tidemill-%u-0-0", (unsigned)geteuid());
  store_put(*state, empty, "", 1);
  assert_int_equal(count_in(p.records), 3);
  assert_int_equal(tm_temp_dirs_remove(tm_fs_real(), p.job, NULL), 0);
  assert_false(tm_fs_exists(tm_fs_real(), p.records));
  free(empty);
  tm_temp_dirs_release(&d);
  release_places(&p);
}

/* Two nodes of a job have a keeper each, and one of them is lost. */
static void the_folders_of_one_keeper_are_removed(void **state)
{
  struct places p = make_places(*state);
  struct tm_temp_dirs gone = record(p.job, true), kept = record(p.job, true);
  const char *const paths[] = { gone.temp, gone.memory, kept.temp, kept.memory };
  for (size_t i = 0; i < TM_COUNT_OF(paths); i++)
    assert_int_equal(mkdir(paths[i], 0700), 0);
  assert_int_equal(tm_temp_dirs_remove_of(&gone, tm_fs_real(), p.job, NULL), 0);
  for (size_t i = 0; i < TM_COUNT_OF(paths); i++)
    assert_int_equal(tm_fs_exists(tm_fs_real(), paths[i]), i >= 2);
  assert_int_equal(count_in(p.records), 2);
  assert_int_equal(tm_temp_dirs_remove_of(&kept, tm_fs_real(), p.job, NULL), 0);
  assert_false(tm_fs_exists(tm_fs_real(), kept.temp));
  assert_false(tm_fs_exists(tm_fs_real(), p.records));
  tm_temp_dirs_release(&gone);
  assert_int_equal(tm_temp_dirs_remove_of(&gone, tm_fs_real(), p.job, NULL), 0);
  tm_temp_dirs_release(&kept);
  release_places(&p);
}

static void foreign_folders_stay(void **state)
{
  struct places p = make_places(*state);
  struct tm_temp_dirs link = record(p.job, false), file = record(p.job, false);
  store_put(*state, "other/kept", "text", 1);
  store_put(*state, "jobs/job/temp_dirs/other", (char *)*state, 1); /* not a name of tidemill's */
  char *other = tm_path_join(*state, "other"), *kept = tm_path_join(other, "kept");
  assert_int_equal(symlink(other, link.temp), 0);
  store_put(p.tmp, tm_path_base(file.temp), "text", 1);
  assert_int_equal(tm_temp_dirs_remove_left(tm_fs_real(), p.job, NULL), 0);
  assert_true(tm_fs_exists(tm_fs_real(), kept));
  assert_int_equal(count_in(p.tmp), 2);
  assert_int_equal(count_in(p.records), 1);
  free(kept);
  free(other);
  tm_temp_dirs_release(&link);
  tm_temp_dirs_release(&file);
  release_places(&p);
}

/* Root removes a user's job: the job stays, because it knows where the folder is. */
static void a_folder_of_another_user_keeps_its_record_and_the_job(void **state)
{
  struct places p = make_places(*state);
  struct tm_err err = TM_ERR_NONE;
  char *name = tm_xprintf("tidemill-%u-0-0", (unsigned)geteuid() + 1);
  char *folder = tm_path_join(p.tmp, name), *entry = tm_path_join("jobs/job/temp_dirs", name);
  store_put(*state, entry, p.tmp, 1);
  assert_int_equal(mkdir(folder, 0700), 0);
  assert_true(tm_job_remove(tm_fs_real(), p.job, &err) < 0);
  assert_words(&err, -EPERM, "was made by another user");
  assert_true(tm_fs_exists(tm_fs_real(), folder));
  assert_int_equal(count_in(p.records), 1);
  assert_int_equal(rmdir(folder), 0);
  assert_int_equal(tm_job_remove(tm_fs_real(), p.job, &err), 0);
  free(entry);
  free(folder);
  free(name);
  release_places(&p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_open, store_close)

UNIT_TESTS({
    TEST(memory_is_used_where_nobody_says_where_files_are_wanted),
    TEST(names_of_one_job_differ_in_a_random_part),
    TEST(leftovers_are_removed_by_the_next_session_or_with_the_job),
    TEST(a_folder_without_a_record_is_found_by_name_unless_locked),
    TEST(a_copy_spares_what_the_job_uses),
    TEST(a_record_without_a_folder_is_removed),
    TEST(the_folders_of_one_keeper_are_removed),
    TEST(foreign_folders_stay),
    TEST(only_folders_of_this_machine_are_removed),
    TEST(a_later_session_leaves_folders_of_other_machines_alone),
    TEST(names_have_the_user_of_their_keeper),
    TEST(a_folder_of_another_user_keeps_its_record_and_the_job),
});
