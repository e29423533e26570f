/* test_proc_text.c - parses files of /proc: samples from a kernel, hostile names, cut texts. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "node/proc_text.h"

#define MEGABYTE 1048576u

static const char stat_text[] = "cpu  100 20 30 800 50 6 7 3 90 0\n"
                                "cpu0 50 10 15 400 25 3 3 1 45 0\n"
                                "intr 12345 0 0\nctxt 99\nbtime 1700000000\nprocesses 4\n";

static void processors_are_busy_when_they_do_not_wait(void **state)
{
  struct tm_cpu_times before, now = { 0 };
  assert_true(tm_proc_cpu(stat_text, &before));
  assert_int_equal(before.total, 1016); /* `user` already includes guests */
  assert_int_equal(before.busy, 166);
  assert_int_equal(tm_proc_boot_s(stat_text), 1700000000);
  assert_true(tm_proc_cpu("cpu  125 20 30 875 50 6 7 3 90 0\n", &now));
  assert_true(tm_cpu_percent(&before, &now) == 25.0);
  assert_true(tm_cpu_percent(&now, &now) == 0);
  assert_true(tm_cpu_percent(&now, &before) == 0);
  assert_true(tm_proc_cpu("cpu  1 2 3 4\n", &now)); /* an old kernel */
  assert_int_equal(now.busy, 6);
  assert_false(tm_proc_cpu("", &now));
  assert_false(tm_proc_cpu("cpu  1 2\n", &now));
  assert_false(tm_proc_cpu("cpu0 1 2 3 4\n", &now));
}

static void memory_that_is_available_is_not_used(void **state)
{
  struct tm_memory m;
  assert_true(tm_proc_memory("MemTotal:       4000 kB\nMemFree:         100 kB\n"
                             "MemAvailable:   3000 kB\n",
                             &m));
  assert_int_equal(m.total_kb, 4000);
  assert_int_equal(m.available_kb, 3000);
  assert_true(tm_proc_memory("MemTotal: 4000 kB\nMemFree: 100 kB\n", &m));
  assert_int_equal(m.available_kb, 100);
  assert_false(tm_proc_memory("", &m));
  assert_false(tm_proc_memory("MemTotal: 10 kB\nMemAvailable: 11 kB\n", &m));
}

static void a_disk_counts_once(void **state)
{
  struct tm_disk_io d;
  tm_proc_disks("   8       0 sda 10 1 2048 5 20 2 4096 7 0 9 12 0 0 0 0\n"
                "   8       1 sda1 10 1 2048 5 20 2 4096 7 0 9 12 0 0 0 0\n"
                "   8      16 sdaa 1 0 2 0 1 0 2 0 0 0 0\n" /* a different disk */
                " 259       0 nvme0n1 1 0 2 0 1 0 2 0 0 0 0\n"
                " 259       1 nvme0n1p1 1 0 2 0 1 0 2 0 0 0 0\n"
                " 253       0 dm-0 100 0 200 0 100 0 200 0 0 0 0\n"
                "   7       0 loop0 100 0 200 0 100 0 200 0 0 0 0\n"
                "not a line\n",
                &d);
  assert_int_equal(d.reads, 12);
  assert_int_equal(d.writes, 22);
  assert_int_equal(d.read_bytes, MEGABYTE + 2048);
  assert_int_equal(d.written_bytes, 2 * MEGABYTE + 2048);
  tm_proc_disks("", &d);
  assert_int_equal(d.reads, 0);
}

static void all_interfaces_are_added_up(void **state)
{
  struct tm_network_io n;
  tm_proc_network("Inter-|   Receive                        |  Transmit\n"
                  " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n"
                  "    lo:  100  2 0 0 0 0 0 0  100  2 0 0 0 0 0 0\n"
                  "  eth0:1000 20 0 0 0 0 0 0 5000 20 0 0 0 0 0 0\n"
                  " cut0: 7 7\n",
                  &n);
  assert_int_equal(n.received_bytes, 1100);
  assert_int_equal(n.sent_bytes, 5100);
}

static void sockets_of_both_kinds_of_addresses_count(void **state)
{
  struct tm_sockets s = { 0 };
  tm_proc_sockets("sockets: used 200\nTCP: inuse 5 orphan 0 tw 2 alloc 9 mem 1\n"
                  "UDP: inuse 3 mem 1\nUDPLITE: inuse 7\nRAW: inuse 0\n",
                  &s);
  tm_proc_sockets("TCP6: inuse 4\nUDP6: inuse 2\n", &s);
  assert_int_equal(s.tcp, 11);
  assert_int_equal(s.udp, 5);
  tm_proc_sockets("", &s);
  assert_int_equal(s.tcp, 11);
}

static void a_mount_may_have_any_name(void **state)
{
  struct tm_mount m = { .device = TM_BUF_NONE };
  const char *at = "/dev/sda1 / ext4 rw 0 0\n"
                   "\n"
                   "//host/share /mnt/with\\040blank\\012and\\134more cifs rw 0 0\n"
                   "/dev/fuse /run/x fuse rw 0 0\n"
                   "cut\n"
                   "/dev/sdb1 /b fuseblk rw";
  assert_true(tm_proc_mount(&at, &m));
  assert_string_equal(m.device.data, "/dev/sda1");
  assert_string_equal(m.point.data, "/");
  assert_true(tm_mount_is_local(&m));
  assert_true(tm_proc_mount(&at, &m));
  assert_string_equal(m.point.data, "/mnt/with blank\nand\\more");
  assert_false(tm_mount_is_local(&m));
  assert_true(tm_proc_mount(&at, &m));
  assert_false(tm_mount_is_local(&m));
  assert_true(tm_proc_mount(&at, &m));
  assert_string_equal(m.type.data, "fuseblk");
  assert_true(tm_mount_is_local(&m));
  assert_false(tm_proc_mount(&at, &m));
  tm_mount_release(&m);
}

#define REST                                                                                       \
  " S 7 8 9 34817 8 4194304 11 12 13 14 150 50 17 18 20 0 3 0 1000 1048576 256 "                   \
  "18446744073709551615 1 2\n"

static bool read_process(const char *name, struct tm_process_stat *out, char text[256])
{
  snprintf(text, 256, "42 (%s)" REST, name);
  return tm_proc_process(text, strlen(text), out);
}

static void a_process_may_have_any_name(void **state)
{
  static const char *const names[] = { "sh", "", ") R 1 (x", "a b", "a\nb,\"c\"", "(((", ")))" };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    struct tm_process_stat p;
    char text[256];
    assert_true(read_process(names[i], &p, text));
    assert_int_equal(p.pid, 42);
    assert_int_equal(p.parent, 7);
    assert_int_equal(p.name_len, strlen(names[i]));
    assert_memory_equal(p.name, names[i], p.name_len);
    assert_int_equal(p.state, 'S');
    assert_int_equal(p.user_ticks, 150);
    assert_int_equal(p.system_ticks, 50);
    assert_int_equal(p.threads, 3);
    assert_int_equal(p.start_ticks, 1000);
    assert_int_equal(p.memory_bytes, 1048576);
    assert_int_equal(p.resident_pages, 256);
  }
}

static void a_truncated_process_line_is_ignored(void **state)
{
  static const char whole[] = "42 (sh)" REST;
  struct tm_process_stat p;
  for (size_t n = 0;
       n <
       strlen("42 (sh) S 7 8 9 34817 8 4194304 11 12 13 14 150 50 17 18 20 0 3 0 1000 1048576 ");
       n++) {
    char *copy = tm_xstrndup(
        whole, n); /* a buffer of exact size, so that a sanitizer sees a read beyond it */
    assert_false(tm_proc_process(copy, n, &p));
    free(copy);
  }
}

static void a_process_has_read_bytes_and_an_owner(void **state)
{
  uint64_t r, w;
  assert_true(tm_proc_io("rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\n"
                         "cancelled_write_bytes: 0\n",
                         &r, &w));
  assert_int_equal(r, 4096);
  assert_int_equal(w, 8192);
  assert_false(tm_proc_io("", &r, &w));
  assert_int_equal(r + w, 0);
  assert_int_equal(tm_proc_uid("Name:\tsh\nUid:\t1000\t1001\t1000\t1000\nGid:\t1\n"), 1001);
  assert_int_equal(tm_proc_uid("Name:\tsh\n"), -1);
}

static void expect_line(const char *command, size_t len, const char *name, int64_t now_s,
                        const char *expected)
{
  struct tm_process_stat p;
  struct tm_buf out = TM_BUF_NONE;
  char text[256];
  assert_true(read_process(name, &p, text));
  struct tm_ps_line line = { .stat = &p,
                             .user = "root",
                             .command = command,
                             .command_len = len,
                             .boot_s = 1700000000, /* 2023-11-14 22:13:20 */
                             .now_s = now_s,
                             .ticks_per_second = 100 };
  tm_ps_add_line(&out, &line);
  assert_string_equal(out.data, expected);
  tm_buf_release(&out);
}
#define WORDS(s) s, sizeof(s) - 1

static void a_line_of_ps_is_one_line(void **state)
{
  int64_t now_s = 1700000000 + 50;
  expect_line(WORDS("sh\0-c\0true\0"), "sh", now_s,
              "root          42       7  5 22:13 pts/1    00:00:02 sh -c true\n");
  expect_line(WORDS(""), "kworker/0:1", now_s,
              "root          42       7  5 22:13 pts/1    00:00:02 [kworker/0:1]\n");
  expect_line(WORDS("a\nb\0\x1b[31m\xff\0"), "sh", now_s,
              "root          42       7  5 22:13 pts/1    00:00:02 a\\nb \\x1B[31m\\xFF\n");
  expect_line(WORDS(""), "x\ny", now_s,
              "root          42       7  5 22:13 pts/1    00:00:02 [x\\ny]\n");
  expect_line(WORDS("sh"), "sh", now_s + 86400, /* from yesterday */
              "root          42       7  0 Nov14 pts/1    00:00:02 sh\n");
  expect_line(WORDS("sh"), "sh", 0, /* somebody has put the clock back */
              "root          42       7  0 Nov14 pts/1    00:00:02 sh\n");
}

static void the_header_fits_its_columns(void **state)
{
  static const char header[] = TM_PS_HEADER;
  static const char line[] = "root          42       7  5 22:13 pts/1    00:00:02 sh -c true\n";
  assert_int_equal(strstr(header, "PID") + 3 - header, strstr(line, "42") + 2 - line);
  assert_int_equal(strstr(header, "TTY") - header, strstr(line, "pts") - line);
  assert_int_equal(strstr(header, "CMD") - header, strstr(line, "sh ") - line);
}

static void a_user_has_the_name_of_the_file(void **state)
{
  static const char text[] = "root:x:0:0:root:/root:/bin/sh\nbad\nodd name:x:7:7::/:\n"
                             "ann:x:1000:1000:,,,:/h:/bin/sh\n:x:8:8::/:\nx:y\n";
  char name[8];
  assert_true(tm_passwd_name(text, 0, name, sizeof(name)));
  assert_string_equal(name, "root");
  assert_true(tm_passwd_name(text, 1000, name, sizeof(name)));
  assert_string_equal(name, "ann");
  assert_false(tm_passwd_name(text, 7, name, sizeof(name)));
  assert_false(tm_passwd_name(text, 8, name, sizeof(name)));
  assert_false(tm_passwd_name(text, 1, name, sizeof(name)));
  assert_false(tm_passwd_name(text, -1, name, sizeof(name)));
  assert_false(tm_passwd_name("", 0, name, sizeof(name)));
  assert_false(tm_passwd_name("a-long-name:x:3:3::/:\n", 3, name, sizeof(name)));
}

UNIT_TESTS({
    cmocka_unit_test(processors_are_busy_when_they_do_not_wait),
    cmocka_unit_test(memory_that_is_available_is_not_used),
    cmocka_unit_test(a_disk_counts_once),
    cmocka_unit_test(all_interfaces_are_added_up),
    cmocka_unit_test(sockets_of_both_kinds_of_addresses_count),
    cmocka_unit_test(a_mount_may_have_any_name),
    cmocka_unit_test(a_process_may_have_any_name),
    cmocka_unit_test(a_truncated_process_line_is_ignored),
    cmocka_unit_test(a_process_has_read_bytes_and_an_owner),
    cmocka_unit_test(a_line_of_ps_is_one_line),
    cmocka_unit_test(the_header_fits_its_columns),
    cmocka_unit_test(a_user_has_the_name_of_the_file),
});
