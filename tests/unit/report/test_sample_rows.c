/* test_sample_rows.c - the samples of machines and processes: figures that are missing, and what is
 * new. */
#include "unit.h"

#include "report/sample_rows.h"
#include "tree.h"

#define NODE_FILE    "perf/0/node_resource_usage.csv"
#define PROCESS_FILE "perf/supervisor/processes_resource_usage.csv"
#define DISK_FILE    "perf/12/node_disk_usage.csv"
#define NODE_HEADER                                                                                \
  "Utc Time,Cpu Percent,Memory Total (MB),Memory Available (MB),Memory Used (MB),"                 \
  "Memory Used Percent,Disk Io Read Count,Disk Io Write Count,Disk Io Read (MB),"                  \
  "Disk Io Write (MB),Network Sent (MB),Network Recv (MB),# of TCP Connections,"                   \
  "# of UDP Connections\n"
#define NODE_ROW                                                                                   \
  "1970-01-01T00:00:01.500000Z,12.5,4.00,3.00,1.00,25.0,1,2,2.00,0.50,0.25,8.00,3,4\n"

struct found {
  struct tm_buf text;
  int answer;
};

static int on_node(void *data, const struct tm_node_sample *s)
{
  struct found *f = data;
  tm_buf_printf(&f->text, "%lld %.1f memory %lld of %lld, disk %lld %lld, network %lld %lld;",
                (long long)s->wall_ns, s->cpu_percent, (long long)s->memory_used,
                (long long)s->memory_total, (long long)s->disk_read, (long long)s->disk_written,
                (long long)s->network_sent, (long long)s->network_received);
  return f->answer;
}

static int on_process(void *data, const struct tm_process_sample *s)
{
  struct found *f = data;
  tm_buf_printf(&f->text, "%lld %s %lld<%lld %s %.1f %lld, disk %lld %lld;", (long long)s->wall_ns,
                s->process, (long long)s->pid, (long long)s->parent, s->name, s->cpu_percent,
                (long long)s->rss, (long long)s->disk_read, (long long)s->disk_written);
  return f->answer;
}

static int on_disk(void *data, const struct tm_disk_sample *s)
{
  struct found *f = data;
  tm_buf_printf(&f->text, "%lld %s at %s: %lld + %lld of %lld, %.1f;", (long long)s->wall_ns,
                s->device, s->mount_point, (long long)s->used, (long long)s->free,
                (long long)s->total, s->used_percent);
  return f->answer;
}

static void expect_node(const char *dir, int64_t *at, int answer, const char *expected)
{
  struct found f = { .text = TM_BUF_NONE, .answer = answer };
  assert_int_equal(tm_sample_rows_node(dir, "0", at, on_node, &f, NULL, NULL), answer);
  assert_string_equal(tm_buf_str(&f.text), expected);
  tm_buf_release(&f.text);
}

#define FIRST                                                                                      \
  "1500000000 12.5 memory 1048576 of 4194304, disk 2097152 524288, network 262144 8388608;"

static void samples_of_a_machine_are_read_as_they_come(void **state)
{
  char *dir = folder_make();
  int64_t at = 0;
  expect_node(dir, &at, 0, "");
  file_put(dir, NODE_FILE, NODE_HEADER NODE_ROW, 0600);
  expect_node(dir, &at, 7, FIRST);
  expect_node(dir, &at, 0, "");
  file_put(dir, NODE_FILE, NODE_HEADER NODE_ROW NODE_ROW "1970-01-01T00:0", 0600);
  expect_node(dir, &at, 0, FIRST);
  folder_remove(dir);
}

static void a_figure_that_is_missing_is_negative(void **state)
{
  char *dir = folder_make();
  int64_t at = 0;
  file_put(dir, NODE_FILE,
           "Cpu Percent,Memory Total (MB),Memory Used (MB),Disk Io Read (MB),Network Sent (MB)\n"
           ",nan,-1,1e300,inf\n"
           "x,0,0x,4e12,\n",
           0600);
  expect_node(dir, &at, 0,
              "0 -1.0 memory -1 of -1, disk -1 -1, network -1 -1;"
              "0 -1.0 memory -1 of 0, disk -1 -1, network -1 -1;");
  folder_remove(dir);
}

static void processes_and_disks_have_their_names(void **state)
{
  char *dir = folder_make();
  struct found f = { .text = TM_BUF_NONE };
  int64_t at = 0;
  file_put(dir, PROCESS_FILE,
           "Utc Time,Process,Pid,Parent Pid,Name,State,Cpu Percent,User Seconds,System Seconds,"
           "Memory Rss (MB),Memory Vms (MB),Threads,Disk Io Read (MB),Disk Io Write (MB)\n"
           "1970-01-01T00:00:02.000000Z,process003,41,40,\"a, b\",R,99.5,1.00,2.00,3.00,4.00,1,"
           "5.00,6.00\n"
           "1970-01-01T00:00:02.000000Z,keeper,-4,,c,S,,,,,,,,\n",
           0600);
  assert_int_equal(tm_sample_rows_processes(dir, "supervisor", &at, on_process, &f, NULL, NULL), 0);
  assert_string_equal(tm_buf_str(&f.text),
                      "2000000000 process003 41<40 a, b 99.5 3145728, disk 5242880 6291456;"
                      "2000000000 keeper 0<0 c -1.0 -1, disk -1 -1;");
  tm_buf_clear(&f.text);
  file_put(dir, DISK_FILE,
           "Utc Time,Device,Mount Point,File System,Total (MB),Used (MB),Free (MB),Used Percent\n"
           "1970-01-01T00:00:03.000000Z,/dev/sda1,/,ext4,10.00,4.00,5.00,44.4\n",
           0600);
  at = 0;
  assert_int_equal(tm_sample_rows_disks(dir, "12", &at, on_disk, &f, NULL, NULL), 0);
  assert_string_equal(tm_buf_str(&f.text),
                      "3000000000 /dev/sda1 at /: 4194304 + 5242880 of 10485760, 44.4;");
  tm_buf_release(&f.text);
  folder_remove(dir);
}

static void only_a_word_names_a_node(void **state)
{
  assert_true(tm_sample_rows_is_node("0"));
  assert_true(tm_sample_rows_is_node("supervisor"));
  assert_false(tm_sample_rows_is_node(""));
  assert_false(tm_sample_rows_is_node(".."));
  assert_false(tm_sample_rows_is_node("0/../1"));
  assert_false(tm_sample_rows_is_node("a b"));
}

UNIT_TESTS({
    cmocka_unit_test(samples_of_a_machine_are_read_as_they_come),
    cmocka_unit_test(a_figure_that_is_missing_is_negative),
    cmocka_unit_test(processes_and_disks_have_their_names),
    cmocka_unit_test(only_a_word_names_a_node),
});
