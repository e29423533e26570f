/* test_sampler.c - rows of the resource monitor, from a /proc that the test makes. */
#include "unit.h"

#include "base/time.h"
#include "node/node_own.h"
#include "node/sampler.h"
#include "tree.h"

#define WALL_NS (INT64_C(1767225600) * TM_S) /* 2026-01-01 00:00:00 */

static const char network[] = "  eth0:1048576 1 0 0 0 0 0 0 2097152 1 0 0 0 0 0 0\n";

static void put_process(const char *proc, int pid, int parent, const char *name,
                        const char *children, int ticks)
{
  char path[64], text[256];
  snprintf(path, sizeof(path), "%d/stat", pid);
  snprintf(text, sizeof(text),
           "%d (%s) R %d 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 1000 1048576 256 0\n", pid, name,
           parent, ticks);
  file_put(proc, path, text, 0600);
  snprintf(path, sizeof(path), "%d/task/%d/children", pid, pid);
  file_put(proc, path, children, 0600);
  snprintf(path, sizeof(path), "%d/cmdline", pid);
  file_put(proc, path, name, 0600);
}

/* proc/, with the supervisor 10, the keeper 20, the worker 30, its child 31 and grandchild 32; and
 * 99, an unrelated process. */
static char *make_proc(const char *dir)
{
  char *proc = tm_path_join(dir, "proc");
  file_put(proc, "stat", "cpu  100 0 0 900\nbtime 1767220000\n", 0600);
  file_put(proc, "meminfo", "MemTotal: 4096 kB\nMemAvailable: 1024 kB\n", 0600);
  file_put(proc, "diskstats", "8 0 sda 3 0 2048 0 4 0 4096 0 0 0 0\n", 0600);
  file_put(proc, "net/dev", network, 0600);
  file_put(proc, "net/sockstat", "TCP: inuse 5 orphan 0 tw 1\nUDP: inuse 2\n", 0600);
  file_put(proc, "self/mounts",
           "/dev/x / ext4 rw 0 0\n/dev/x /again ext4 rw 0 0\nproc /proc proc rw 0 0\n", 0600);
  put_process(proc, 10, 1, "tidemill", "20 99", 100);
  put_process(proc, 20, 10, "tidemill", "30", 100);
  put_process(proc, 30, 20, "wor,\"ker\n", "31", 100);
  put_process(proc, 31, 30, "sh", "32", 0);
  put_process(proc, 32, 31, "sleep", "", 0);
  put_process(proc, 99, 10, "stranger", "", 0);
  return proc;
}

static const struct tm_sample_root roots[] = {
  { .pid = 10, .name = "supervisor", .is_alone = true },
  { .pid = 20, .name = "keeper", .is_alone = true },
  { .pid = 30, .name = "process000" }
};

struct fixture {
  char *dir, *proc, *perf;
  struct tm_sampler *s;
};

static int setup(void **state)
{
  struct fixture *f = TM_NEW(struct fixture);
  f->dir = folder_make();
  f->proc = make_proc(f->dir);
  f->perf = tm_path_join(f->dir, "perf/0");
  f->s = tm_sampler_new(f->perf, f->proc, NULL);
  *state = f;
  return f->s == NULL;
}

static int teardown(void **state)
{
  struct fixture *f = *state;
  tm_sampler_free(f->s);
  folder_remove(f->dir);
  free(f->proc);
  free(f->perf);
  free(f);
  return 0;
}

static void take(struct fixture *f, int64_t wall_ns, int64_t mono_ns)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_sampler_take(f->s, roots, 3, true, wall_ns, mono_ns, &err) < 0)
    fail_msg("%s", err.text);
  while (tm_sampler_is_listing(f->s))
    assert_true(tm_sampler_list(f->s, &err) >= 0);
}

static void expect_text(struct fixture *f, const char *name, const char *expected)
{
  char *text = file_text(f->perf, name);
  assert_non_null(text);
  assert_string_equal(text, expected);
  free(text);
}

static void the_machine_has_a_row(void **state)
{
  struct fixture *f = *state;
  file_put(f->proc, "stat", "cpu  150 0 0 950\nbtime 1767220000\n", 0600);
  take(f, WALL_NS, 30 * TM_S);
  take(f, WALL_NS + TM_S, 31 * TM_S);
  expect_text(f, "node_resource_usage.csv",
              "Utc Time,Cpu Percent,Memory Total (MB),Memory Available (MB),Memory Used (MB),"
              "Memory Used Percent,Disk Io Read Count,Disk Io Write Count,Disk Io Read (MB),"
              "Disk Io Write (MB),Network Sent (MB),Network Recv (MB),# of TCP Connections,"
              "# of UDP Connections\n"
              "2026-01-01T00:00:00.000Z,50.0,4.00,1.00,3.00,75.0,3,4,1.00,2.00,2.00,1.00,6,2\n"
              "2026-01-01T00:00:01.000Z,0.0,4.00,1.00,3.00,75.0,3,4,1.00,2.00,2.00,1.00,6,2\n");
}

static void processes_of_the_job_have_rows_and_no_others(void **state)
{
  struct fixture *f = *state;
  take(f, WALL_NS, 30 * TM_S); /* they began at 10 s, and have used 1 s */
  put_process(f->proc, 30, 20, "wor,\"ker\n", "31", 150);
  take(f, WALL_NS + TM_S, 31 * TM_S);
  expect_text(f, "processes_resource_usage.csv",
              "Utc Time,Process,Pid,Parent Pid,Name,State,Cpu Percent,User Seconds,System Seconds,"
              "Memory Rss (MB),Memory Vms (MB),Threads,Disk Io Read (MB),Disk Io Write (MB)\n"
              "2026-01-01T00:00:00.000Z,supervisor,10,1,tidemill,R,5,1,0,1,1,1,0,0\n"
              "2026-01-01T00:00:00.000Z,keeper,20,10,tidemill,R,5,1,0,1,1,1,0,0\n"
              "2026-01-01T00:00:00.000Z,process000,30,20,\"wor,\"\"ker\\n\",R,5,1,0,1,1,1,0,0\n"
              "2026-01-01T00:00:00.000Z,process000,31,30,sh,R,0,0,0,1,1,1,0,0\n"
              "2026-01-01T00:00:00.000Z,process000,32,31,sleep,R,0,0,0,1,1,1,0,0\n"
              "2026-01-01T00:00:01.000Z,supervisor,10,1,tidemill,R,0,1,0,1,1,1,0,0\n"
              "2026-01-01T00:00:01.000Z,keeper,20,10,tidemill,R,0,1,0,1,1,1,0,0\n"
              "2026-01-01T00:00:01.000Z,process000,30,20,\"wor,\"\"ker\\n\",R,50,1.5,0,1,1,1,0,0\n"
              "2026-01-01T00:00:01.000Z,process000,31,30,sh,R,0,0,0,1,1,1,0,0\n"
              "2026-01-01T00:00:01.000Z,process000,32,31,sleep,R,0,0,0,1,1,1,0,0\n");
}

/* A day's rows of many workers are tens of megabytes. */
static void large_amounts_of_processes_have_no_decimals(void **state)
{
  struct fixture *f = *state;
  file_put(f->proc, "31/io", "read_bytes: 9961472\nwrite_bytes: 104857600\n", 0600);
  put_process(f->proc, 31, 30, "sh", "", 123456);
  take(f, WALL_NS, 30 * TM_S);
  char *text = file_text(f->perf, "processes_resource_usage.csv");
  assert_non_null(strstr(text, ",process000,31,30,sh,R,6173,1235,0,1,1,1,9.5,100\n"));
  free(text);
}

static void a_process_that_has_gone_has_no_row(void **state)
{
  struct fixture *f = *state;
  char *gone = tm_path_join(f->proc, "30");
  tm_tree_remove(gone, NULL);
  free(gone);
  take(f, WALL_NS, 30 * TM_S);
  char *text = file_text(f->perf, "processes_resource_usage.csv");
  assert_non_null(strstr(text, ",keeper,"));
  assert_null(strstr(text, "process000"));
  free(text);
}

static void a_file_system_has_one_row(void **state)
{
  struct fixture *f = *state;
  take(f, WALL_NS, 30 * TM_S);
  char *text = file_text(f->perf, "node_disk_usage.csv");
  assert_non_null(strstr(text, "Utc Time,Device,Mount Point,File System,Total (MB),"));
  assert_non_null(strstr(text, "Z,/dev/x,/,ext4,"));
  assert_null(strstr(text, "/again"));
  assert_null(strstr(text, "proc"));
  free(text);
}

static void all_processes_are_listed_once_a_minute(void **state)
{
  struct fixture *f = *state;
  take(f, WALL_NS, 30 * TM_S);
  take(f, WALL_NS + 59 * TM_S, 89 * TM_S);
  char *text = file_text(f->perf, "os/2026010100/processes_00");
  assert_non_null(text);
  size_t lines = 0;
  for (char *at = text; (at = strchr(at, '\n')); at++)
    lines++;
  assert_int_equal(lines, 7); /* the header and six rows */
  assert_non_null(strstr(text, " 00:00:00 stranger\n"));
  assert_non_null(strstr(text, " wor,\"ker\\n\n"));
  free(text);
  take(f, WALL_NS + 60 * TM_S, 90 * TM_S);
  text = file_text(f->perf, "os/2026010100/processes_01");
  assert_non_null(text);
  free(text);
}

static void processes_are_listed_only_when_asked_for(void **state)
{
  struct fixture *f = *state;
  assert_int_equal(tm_sampler_take(f->s, roots, 3, false, WALL_NS, 30 * TM_S, NULL), 0);
  assert_false(tm_sampler_is_listing(f->s));
}

static void the_automatic_interval_grows(void **state)
{
  assert_int_equal(tm_keeper_monitor_interval(-1, 0), TM_S);
  assert_int_equal(tm_keeper_monitor_interval(-1, 119 * TM_S), TM_S);
  assert_int_equal(tm_keeper_monitor_interval(-1, 120 * TM_S), 5 * TM_S);
  assert_int_equal(tm_keeper_monitor_interval(-1, 3599 * TM_S), 5 * TM_S);
  assert_int_equal(tm_keeper_monitor_interval(-1, 3600 * TM_S), 30 * TM_S);
  assert_int_equal(tm_keeper_monitor_interval(7 * TM_S, 3600 * TM_S), 7 * TM_S);
  assert_int_equal(tm_keeper_monitor_interval(TM_MS, 0), 100 * TM_MS); /* ten a second at most */
}

static void values_hidden_by_a_container_are_zero(void **state)
{
  struct fixture *f = *state;
  static const char *const names[] = { "meminfo", "diskstats", "net", "self" };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    char *path = tm_path_join(f->proc, names[i]);
    tm_tree_remove(path, NULL);
    free(path);
  }
  take(f, WALL_NS, 30 * TM_S);
  char *text = file_text(f->perf, "node_resource_usage.csv");
  assert_non_null(strstr(text, "Z,0.0,0.00,0.00,0.00,0.0,0,0,0.00,0.00,0.00,0.00,0,0\n"));
  free(text);
}

static void without_proc_there_is_no_sampler(void **state)
{
  struct fixture *f = *state;
  struct tm_err err = TM_ERR_NONE;
  assert_null(tm_sampler_new(f->perf, "/nonexistent", &err));
  assert_non_null(strstr(err.text, "/nonexistent/stat"));
  err = (struct tm_err)TM_ERR_NONE;
  file_put(f->proc, "stat", "", 0600);
  assert_null(tm_sampler_new(f->perf, f->proc, &err));
  assert_true(err.code < 0);
}

static void a_failed_write_is_an_error(void **state)
{
  struct fixture *f = *state;
  struct tm_err err = TM_ERR_NONE;
  file_put(f->dir, "perf", "in the way", 0600);
  assert_true(tm_sampler_take(f->s, roots, 3, true, WALL_NS, TM_S, &err) < 0);
  assert_non_null(strstr(err.text, "perf"));
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(the_machine_has_a_row, setup, teardown),
    cmocka_unit_test_setup_teardown(processes_of_the_job_have_rows_and_no_others, setup, teardown),
    cmocka_unit_test_setup_teardown(large_amounts_of_processes_have_no_decimals, setup, teardown),
    cmocka_unit_test_setup_teardown(a_process_that_has_gone_has_no_row, setup, teardown),
    cmocka_unit_test_setup_teardown(a_file_system_has_one_row, setup, teardown),
    cmocka_unit_test_setup_teardown(all_processes_are_listed_once_a_minute, setup, teardown),
    cmocka_unit_test_setup_teardown(processes_are_listed_only_when_asked_for, setup, teardown),
    cmocka_unit_test(the_automatic_interval_grows),
    cmocka_unit_test_setup_teardown(values_hidden_by_a_container_are_zero, setup, teardown),
    cmocka_unit_test_setup_teardown(without_proc_there_is_no_sampler, setup, teardown),
    cmocka_unit_test_setup_teardown(a_failed_write_is_an_error, setup, teardown),
});
