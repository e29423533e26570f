/* test_proc.c - what /proc says about this process and about its children. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sys/process.h"
#include "sys/shared_memory.h"

/* A child that waits until `fds` closes, with a name that looks like the rest of its stat line. */
static pid_t start_child(int fds[2], int more_children)
{
  assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
  int ready[2];
  char byte = 'r';
  assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
  pid_t pid = fork();
  if (pid == 0) {
    close(fds[1]);
    prctl(PR_SET_NAME, ") R 1 (x");
    for (int i = 0; i < more_children; i++)
      if (fork() == 0)
        _exit(read(fds[0], &byte, 1) < 0);
    if (write(ready[1], &byte, 1) != 1)
      _exit(1);
    _exit(read(fds[0], &byte, 1) < 0);
  }
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

static void end_child(pid_t pid, int fds[2])
{
  close(fds[1]);
  waitpid(pid, NULL, 0);
  close(fds[0]);
}

static void children_are_found_whatever_they_are_called(void **state)
{
  int fds[2];
  pid_t found[4] = { 0 };
  pid_t pid = start_child(fds, 3);
  assert_int_equal(tm_process_children(getpid(), found, 4), 1);
  assert_int_equal(found[0], pid);
  assert_int_equal(tm_process_children(pid, found, 4), 3);
  assert_int_equal(tm_process_children(pid, found, 2), 2);
  assert_int_equal(tm_process_children(found[0], found, 4), 0);
  end_child(pid, fds);
}

static void a_variable_is_read_as_at_the_start(void **state)
{
  char out[64];
  assert_true(tm_process_env(getpid(), "TM_PROC", out, sizeof out));
  assert_string_equal(out, "a=b");
  setenv("TM_PROC", "changed", 1);
  assert_true(tm_process_env(getpid(), "TM_PROC", out, 4)); /* just enough */
  assert_string_equal(out, "a=b");
  assert_false(tm_process_env(getpid(), "TM_PROC", out, 3));
  assert_true(tm_process_env(getpid(), "TM_PROC_EMPTY", out, sizeof out));
  assert_string_equal(out, "");
  assert_false(tm_process_env(getpid(), "TM_PRO", out, sizeof out));
  assert_false(tm_process_env(0x7ffffff, "TM_PROC", out, sizeof out));
}

static struct tm_process_memory read_memory(void)
{
  struct tm_process_memory memory;
  assert_true(tm_process_memory(getpid(), &memory));
  return memory;
}

#define GROWTH ((size_t)32 << 20)

static void own_memory_and_shared_memory_are_seen_to_grow(void **state)
{
  int64_t before_kb = read_memory().own_kb;
  int fd = tm_shared_memory_new("grow", GROWTH, NULL);
  char *p = tm_shared_memory_map(fd, GROWTH, NULL);
  memset(p, 1, GROWTH);
  int64_t shared_kb = read_memory().own_kb;
  char *more = tm_xmalloc(GROWTH);
  memset(more, 1, GROWTH);
  int64_t after_kb = read_memory().own_kb;
  assert_true(before_kb > 100);
  assert_true(shared_kb - before_kb > 30 * 1024);
  assert_true(after_kb - shared_kb > 30 * 1024);
  free(more);
  tm_shared_memory_unmap(p, GROWTH);
  close(fd);
}

static void a_mapped_file_is_not_own_memory(void **state)
{
  char name[] = "/var/tmp/tm_proc_XXXXXX"; /* a file in memory would be shared memory */
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  unlink(name);
  struct statfs system;
  assert_int_equal(fstatfs(fd, &system), 0);
  if (system.f_type == TMPFS_MAGIC) {
    close(fd);
    skip();
  }
  char *bytes = tm_xcalloc(1, GROWTH);
  assert_int_equal(write(fd, bytes, GROWTH), GROWTH);
  free(bytes);
  struct tm_process_memory before = read_memory();
  char *p = mmap(NULL, GROWTH, PROT_READ, MAP_PRIVATE, fd, 0);
  assert_true(p != MAP_FAILED);
  unsigned sum = 0;
  for (size_t i = 0; i < GROWTH; i += 4096)
    sum += (unsigned char)p[i];
  struct tm_process_memory after = read_memory();
  assert_int_equal(sum, 0);
  assert_true(after.mapped_kb - before.mapped_kb > 30 * 1024);
  assert_true(after.own_kb - before.own_kb < 8 * 1024);
  munmap(p, GROWTH);
  close(fd);
}

static void kinds_of_memory_are_read_from_the_status(void **state)
{
  struct tm_process_memory memory;
  assert_false(tm_process_memory(0x7ffffff, &memory));
  assert_true(tm_process_memory_parse("Name:\tRssAnon: 9\nVmRSS:\t  60 kB\nRssAnon:\t  10 kB\n"
                                      "RssFile:\t  20 kB\nRssShmem:\t  30 kB\n",
                                      &memory));
  assert_int_equal(memory.own_kb, 40);
  assert_int_equal(memory.mapped_kb, 20);
  assert_true(tm_process_memory_parse("Name:\tx\nVmRSS:\t  60 kB\n", &memory));
  assert_int_equal(memory.own_kb, 60);
  assert_int_equal(memory.mapped_kb, 0);
  assert_false(tm_process_memory_parse("Name:\tx\nState:\tZ (zombie)\n", &memory));
}

static void a_process_is_stopped_until_it_is_continued(void **state)
{
  int fds[2], status;
  pid_t pid = start_child(fds, 0);
  assert_false(tm_process_is_stopped(pid));
  kill(pid, SIGSTOP);
  assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
  assert_true(tm_process_is_stopped(pid));
  kill(pid, SIGCONT);
  assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
  assert_false(tm_process_is_stopped(pid));
  end_child(pid, fds);
  assert_false(tm_process_is_stopped(pid));
}

static void the_program_is_this_one(void **state)
{
  char *path = tm_process_program();
  assert_non_null(path);
  assert_int_equal(path[0], '/');
  assert_non_null(strstr(path, "/unit_sys"));
  free(path);
}

static void open_files_of_a_process_are_counted(void **state)
{
  char path[] = "/tmp/tm_proc_XXXXXX";
  int fds[2], fd = mkostemp(path, O_CLOEXEC), other = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const char *name = path + strlen("/tmp/");
  assert_true(fd >= 0 && other >= 0);
  assert_int_equal(tm_process_count_open(getpid(), fd, name), 1);
  pid_t pid = start_child(fds, 0); /* inherits it */
  assert_int_equal(tm_process_count_open(pid, fd, name), 1);
  assert_int_equal(tm_process_count_open(pid, other, name), 0);
  assert_int_equal(tm_process_count_open(pid, fd, "null"), 0);
  end_child(pid, fds);
  assert_int_equal(tm_process_count_open(pid, fd, name), 0); /* it has ended */
  int again = open(path, O_RDONLY | O_CLOEXEC);
  assert_int_equal(tm_process_count_open(getpid(), fd, name), 2);
  close(again);
  close(other);
  close(fd);
  unlink(path);
}

/* The test again, in a process that was started with this environment. */
static void start(char **argv)
{
  if (getenv("TM_PROC"))
    return;
  setenv("TM_PROC", "a=b", 1);
  setenv("TM_PROC_EMPTY", "", 1);
  execv("/proc/self/exe", argv);
  _exit(127);
}

UNIT_HOOKS(.start = start, .limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(children_are_found_whatever_they_are_called),
    cmocka_unit_test(a_variable_is_read_as_at_the_start),
    cmocka_unit_test(own_memory_and_shared_memory_are_seen_to_grow),
    cmocka_unit_test(a_mapped_file_is_not_own_memory),
    cmocka_unit_test(kinds_of_memory_are_read_from_the_status),
    cmocka_unit_test(a_process_is_stopped_until_it_is_continued),
    cmocka_unit_test(the_program_is_this_one),
    cmocka_unit_test(open_files_of_a_process_are_counted),
});
