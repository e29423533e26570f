/* test_memory.c - how much memory there is, and whom the kernel killed, from a tree of files that
 * the test makes. */
#include "unit.h"

#include <string.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "sys/fs.h"
#include "sys/machine/memory.h"

#define MB INT64_C(1048576)

static int setup(void **state)
{
  char name[] = "/tmp/tm_memory_XXXXXX";
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

static struct tm_memory read_all(const char *root)
{
  char *proc = tm_path_join(root, "proc"), *groups = tm_path_join(root, "groups");
  struct tm_memory m = { 0 };
  assert_true(tm_memory_read(&m, proc, groups));
  free(proc);
  free(groups);
  return m;
}

static int64_t read_kills(const char *root)
{
  char *proc = tm_path_join(root, "proc"), *groups = tm_path_join(root, "groups");
  int64_t kills = tm_memory_kills(proc, groups);
  free(proc);
  free(groups);
  return kills;
}

static void put_machine(const char *root)
{
  put(root, "proc/meminfo",
      "MemTotal:        8388608 kB\nMemFree:          100 kB\nMemAvailable:    4194304 kB\n");
}

static void without_a_limit_the_machine_counts(void **state)
{
  put_machine(*state);
  put(*state, "proc/self/cgroup", "0::/a\n");
  put(*state, "groups/a/memory.max", "max\n");
  put(*state, "groups/a/memory.current", "1000000\n");
  struct tm_memory m = read_all(*state);
  assert_int_equal(m.total, 8192 * MB);
  assert_int_equal(m.available, 4096 * MB);
}

static void a_group_s_limit_counts_and_its_caches_are_available(void **state)
{
  put_machine(*state);
  put(*state, "proc/self/cgroup", "0::/a/b\n");
  put(*state, "groups/a/memory.max",
      "1073741824\n"); /* the parent has 1 GB, uses 900 MB, of which 400 MB are caches */
  put(*state, "groups/a/memory.current", "943718400\n");
  put(*state, "groups/a/memory.stat",
      "anon 500000000\ninactive_file 209715200\nactive_file 104857600\nslab_reclaimable "
      "104857600\n");
  struct tm_memory m = read_all(*state);
  assert_int_equal(m.total, 1024 * MB);
  assert_int_equal(m.available, 524 * MB);
}

static void version_1_is_read_too(void **state)
{
  put_machine(*state);
  put(*state, "proc/self/cgroup", "4:memory:/x\n0::/\n");
  put(*state, "groups/memory/x/memory.limit_in_bytes", "268435456\n");
  put(*state, "groups/memory/x/memory.usage_in_bytes", "251658240\n");
  put(*state, "groups/memory/x/memory.stat", "cache 5\ntotal_inactive_file 0\n");
  put(*state, "groups/memory/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
  put(*state, "groups/memory/memory.usage_in_bytes", "5\n");
  struct tm_memory m = read_all(*state);
  assert_int_equal(m.total, 256 * MB);
  assert_int_equal(m.available, 16 * MB);
}

static void unreadable_values_are_unknown(void **state)
{
  struct tm_memory m;
  assert_false(tm_memory_read(&m, *state, *state));
  put(*state, "meminfo", "MemTotal: 5 kB\n");
  assert_false(tm_memory_read(&m, *state, *state));
}

static int64_t read_limit(const char *root)
{
  char *proc = tm_path_join(root, "proc"), *groups = tm_path_join(root, "groups");
  int64_t limit = tm_memory_limit(proc, groups);
  free(proc);
  free(groups);
  return limit;
}

/* Also of a group that leaves more than the machine has now. */
static void the_least_limit_counts_whatever_is_available(void **state)
{
  assert_int_equal(read_limit(*state), 0);
  put_machine(*state);
  assert_int_equal(read_limit(*state), 8192 * MB);
  put(*state, "proc/self/cgroup", "0::/a/b\n");
  put(*state, "groups/a/b/memory.max", "max\n");
  put(*state, "groups/a/memory.max", "7000000000\n");
  put(*state, "groups/a/memory.current", "0\n");
  assert_int_equal(read_limit(*state), 7000000000);
}

static void kills_are_the_group_s_else_the_machine_s(void **state)
{
  assert_int_equal(read_kills(*state), 0);
  put(*state, "proc/vmstat", "nr_free_pages 12\noom_kill 7\n");
  assert_int_equal(read_kills(*state), 7);
  put(*state, "proc/self/cgroup", "0::/a/b\n");
  put(*state, "groups/a/b/memory.events", "low 0\noom 9\noom_kill 3\noom_group_kill 1\n");
  put(*state, "groups/a/memory.events", "oom_kill 100\n");
  assert_int_equal(read_kills(*state), 3);
}

/* A real file returns several records in one read, this one a single record. */
static bool is_named(const char *root, const char *record, pid_t pid, int64_t since_ns)
{
  char *path = tm_path_join(root, "kmsg");
  put(root, "kmsg", record);
  bool found = tm_memory_log_names(path, pid, since_ns);
  free(path);
  return found;
}

static void the_log_names_only_the_killed_process(void **state)
{
  static const char killed[] =
      "3,99,100000000,-;Memory cgroup out of memory: Killed process 4711 (tidemill) total-vm:1kB\n";
  assert_true(is_named(*state, killed, 4711, 90 * TM_S));
  assert_false(is_named(*state, killed, 471, 90 * TM_S));
  assert_false(
      is_named(*state, killed, 4711, 200 * TM_S)); /* an earlier process with that number */
  assert_false(is_named(*state, "6,1,100000000,-;eth0: link 4711 is up\n", 4711, 0));
  assert_false(tm_memory_log_names("/nonexistent/kmsg", 4711, 0));
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(without_a_limit_the_machine_counts, setup, teardown),
    cmocka_unit_test_setup_teardown(a_group_s_limit_counts_and_its_caches_are_available, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(version_1_is_read_too, setup, teardown),
    cmocka_unit_test_setup_teardown(unreadable_values_are_unknown, setup, teardown),
    cmocka_unit_test_setup_teardown(the_least_limit_counts_whatever_is_available, setup, teardown),
    cmocka_unit_test_setup_teardown(kills_are_the_group_s_else_the_machine_s, setup, teardown),
    cmocka_unit_test_setup_teardown(the_log_names_only_the_killed_process, setup, teardown),
});
