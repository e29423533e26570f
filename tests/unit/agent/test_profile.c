/* test_profile.c - the file of collapsed stacks is complete at any moment, and does not grow with
 * time. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "agent/profile.h"
#include "base/mem.h"
#include "sys/fs.h"

static char dir[64], *path;

static int setup(void **state)
{
  strcpy(dir, "/tmp/tidemill-test-XXXXXX");
  assert_non_null(mkdtemp(dir));
  path = tm_xprintf("%s/sys/node", dir);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), path, 0700, NULL), 0);
  free(path);
  path = tm_xprintf("%s/sys/node/0/process000.profile", dir);
  return 0;
}

static int teardown(void **state)
{
  free(path);
  return tm_tree_remove(dir, NULL);
}

static void expect_file(const char *text)
{
  struct tm_buf found = TM_BUF_NONE;
  assert_int_equal(tm_fs_read_file(tm_fs_real(), path, 1 << 20, &found, NULL), 0);
  assert_string_equal(tm_buf_str(&found), text);
  tm_buf_release(&found);
}

static void add(struct tm_profile *p, const char *stack, uint64_t n)
{
  assert_int_equal(tm_profile_add(p, stack, strlen(stack), n, NULL), 0);
}

static void each_sample_is_there_at_once(void **state)
{
  struct tm_profile p;
  assert_int_equal(tm_profile_open(&p, path, NULL), 0);
  add(&p, "a:1;b:2", 1);
  expect_file("a:1;b:2 0000000001\n");
  add(&p, "a:1", 2);
  add(&p, "a:1;b:2", 41);
  expect_file("a:1;b:2 0000000042\na:1 0000000002\n");
  tm_profile_close(&p);
  assert_int_equal(tm_profile_open(&p, path, NULL), 0); /* the existing file stays */
  add(&p, "a:1", 3);
  add(&p, "a:1", 1);
  expect_file("a:1;b:2 0000000042\na:1 0000000002\na:1 0000000004\n");
  tm_profile_close(&p);
}

static void a_file_that_cannot_be_created_is_reported(void **state)
{
  struct tm_profile p;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), path, 0777, NULL), 0); /* a folder in its place */
  assert_true(tm_profile_open(&p, path, &err) < 0);
  assert_non_null(strstr(err.text, "process000.profile"));
  add(&p, "a:1", 1); /* skipped */
  tm_profile_close(&p);
}

static void one_that_can_no_longer_be_written_is_reported_once(void **state)
{
  struct tm_profile p;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(tm_profile_open(&p, path, NULL), 0);
  tm_fs_close(tm_fs_real(), p.fd);
  p.fd = tm_fs_open(tm_fs_real(), "/dev/full", 1 /* O_WRONLY */, 0, NULL);
  assert_true(tm_profile_add(&p, "a:1", 3, 1, &err) < 0);
  assert_non_null(strstr(err.text, "process000.profile"));
  add(&p, "a:1", 1);
  tm_profile_close(&p);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(each_sample_is_there_at_once, setup, teardown),
    cmocka_unit_test_setup_teardown(a_file_that_cannot_be_created_is_reported, setup, teardown),
    cmocka_unit_test_setup_teardown(one_that_can_no_longer_be_written_is_reported_once, setup,
                                    teardown),
});
