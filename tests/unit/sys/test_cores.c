/* test_cores.c - quotas of control groups, from a tree of files that the test makes. */
#include "unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "sys/process.h"

static int setup(void **state)
{
  char name[] = "/tmp/tm_cores_XXXXXX";
  *state = mkdtemp(name) != NULL ? tm_xstrdup(name) : NULL;
  return *state == NULL;
}

static int teardown(void **state)
{
  int rc = tm_tree_remove(*state, NULL);
  free(*state);
  return rc;
}

static void put(const char *root, const char *path, const char *text)
{
  char *full = tm_path_join(root, path), *dir = tm_path_dir(full);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0755, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), full, text, strlen(text), 0644, NULL), 0);
  free(dir);
  free(full);
}

static void version_2_is_rounded_up(void **state)
{
  put(*state, "a/cpu.max", "150000 100000\n");
  assert_int_equal(tm_process_quota("0::/a\n", *state), 2);
  put(*state, "a/cpu.max", "300000 100000\n");
  assert_int_equal(tm_process_quota("0::/a\n", *state), 3);
  put(*state, "a/cpu.max", "1000 100000\n");
  assert_int_equal(tm_process_quota("0::/a\n", *state), 1);
}

static void max_means_no_limit(void **state)
{
  put(*state, "a/cpu.max", "max 100000\n");
  assert_int_equal(tm_process_quota("0::/a\n", *state), 0);
}

static void the_least_of_the_groups_above_holds(void **state)
{
  put(*state, "a/cpu.max", "200000 100000\n");
  put(*state, "a/b/cpu.max", "800000 100000\n");
  put(*state, "a/b/c/cpu.max", "max 100000\n");
  assert_int_equal(tm_process_quota("0::/a/b/c\n", *state), 2);
}

static void a_path_of_the_host_leads_to_the_root(void **state)
{
  put(*state, "cpu.max", "400000 100000\n");
  assert_int_equal(tm_process_quota("0::/docker/0123/x\n", *state), 4);
}

static void version_1_has_two_files(void **state)
{
  put(*state, "cpu/g/cpu.cfs_quota_us", "250000\n");
  put(*state, "cpu/g/cpu.cfs_period_us", "50000\n");
  assert_int_equal(tm_process_quota("4:memory:/m\n3:cpuset:/g\n1:cpu:/g\n", *state), 5);
  put(*state, "cpu/g/cpu.cfs_quota_us", "-1\n");
  assert_int_equal(tm_process_quota("1:cpu:/g\n", *state), 0);
}

static void version_1_may_be_mounted_with_another(void **state)
{
  put(*state, "cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  put(*state, "cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  assert_int_equal(tm_process_quota("2:cpu,cpuacct:/\n", *state), 3);
}

static void cpuacct_is_not_cpu(void **state)
{
  put(*state, "cpuacct/cpu.cfs_quota_us", "300000\n");
  put(*state, "cpuacct/cpu.cfs_period_us", "100000\n");
  assert_int_equal(tm_process_quota("2:cpuacct:/\n", *state), 0);
}

static void a_wrong_list_of_groups_sets_no_limit(void **state)
{
  assert_int_equal(tm_process_quota("", *state), 0);
  assert_int_equal(tm_process_quota("no colon\n1:\n::\n\n", *state), 0);
  put(*state, "a/cpu.max", "-5 0\n");
  assert_int_equal(tm_process_quota("0::/a", *state), 0);
}

static void at_least_one_core_and_no_more_than_there_are(void **state)
{
  assert_in_range(tm_process_cores(), 1, sysconf(_SC_NPROCESSORS_CONF));
}

#define WITH_ROOT(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS({
    WITH_ROOT(version_2_is_rounded_up),
    WITH_ROOT(max_means_no_limit),
    WITH_ROOT(the_least_of_the_groups_above_holds),
    WITH_ROOT(a_path_of_the_host_leads_to_the_root),
    WITH_ROOT(version_1_has_two_files),
    WITH_ROOT(version_1_may_be_mounted_with_another),
    WITH_ROOT(cpuacct_is_not_cpu),
    WITH_ROOT(a_wrong_list_of_groups_sets_no_limit),
    cmocka_unit_test(at_least_one_core_and_no_more_than_there_are),
});
