/* test_process.c - what a started process inherits and what not, and how its end is noticed. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "sys/process.h"

static void read_all(int fd, struct tm_buf *out)
{
  char bytes[4096];
  ssize_t n;
  while ((n = read(fd, bytes, sizeof bytes)) > 0)
    tm_buf_add(out, bytes, (size_t)n);
  assert_int_equal(n, 0);
}

/* Waits until a child has ended, and returns its end. */
static struct tm_process_end next_end(void)
{
  siginfo_t info;
  struct tm_process_end end;
  memset(&end, 0xff, sizeof end);
  assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
  assert_int_equal(tm_process_next_end(&end), 1);
  return end;
}

/* Runs it to its end; returns its output on descriptor 1. */
static void output_of(struct tm_spawn s, struct tm_buf *out)
{
  int fds[2], list[3] = { -1, -1, -1 };
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
  list[1] = fds[1];
  s.fds = list;
  s.fds_len = 2; /* stderr is not passed on */
  pid_t pid = tm_process_start(&s, &err);
  close(fds[1]);
  assert_string_equal(err.text, "");
  assert_true(pid > 0);
  read_all(fds[0], out);
  close(fds[0]);
  struct tm_process_end end = next_end();
  assert_int_equal(end.pid, pid);
  tm_process_reap(pid, NULL);
}

static pid_t start_sh(const char *script)
{
  char *const argv[] = { "sh", "-c", (char *)script, NULL };
  struct tm_spawn s = { .program = "/bin/sh", .argv = argv };
  pid_t pid = tm_process_start(&s, NULL);
  assert_true(pid > 0);
  return pid;
}

static void it_gets_environment_and_folder(void **state)
{
  char *const argv[] = { "sh", "-c", "echo $TM_X; pwd", NULL }, *const env[] = { "TM_X=here",
                                                                                 NULL };
  struct tm_buf out = TM_BUF_NONE;
  output_of((struct tm_spawn) { .program = "/bin/sh", .argv = argv, .env = env, .cwd = "/usr" },
            &out);
  assert_string_equal(tm_buf_str(&out), "here\n/usr\n");
  tm_buf_release(&out);
  setenv("TM_X", "ours", 1);
  output_of((struct tm_spawn) { .program = "/bin/sh", .argv = argv, .cwd = "/" }, &out);
  assert_string_equal(tm_buf_str(&out), "ours\n/\n");
  tm_buf_release(&out);
}

static void it_gets_nothing_that_is_not_listed(void **state)
{
  char *const argv[] = { "ls", "/proc/self/fd", NULL };
  struct tm_buf out = TM_BUF_NONE;
  int open_without_cloexec = dup(0); /* as a host may leave it */
  output_of((struct tm_spawn) { .program = "/bin/ls", .argv = argv }, &out);
  close(open_without_cloexec);
  assert_string_equal(tm_buf_str(&out), "0\n1\n2\n3\n"); /* 3: the folder that ls reads */
  tm_buf_release(&out);
}

static void unset_streams_are_dev_null(void **state)
{
  char *const argv[] = { "sh", "-c", "readlink /proc/self/fd/0 /proc/self/fd/2", NULL };
  struct tm_buf out = TM_BUF_NONE;
  output_of((struct tm_spawn) { .program = "/bin/sh", .argv = argv }, &out);
  assert_string_equal(tm_buf_str(&out), "/dev/null\n/dev/null\n");
  tm_buf_release(&out);
}

static void it_has_default_signals_and_its_own_session(void **state)
{
  char *const argv[] = { "cat", "/proc/self/status", "/proc/self/stat", NULL };
  struct tm_buf out = TM_BUF_NONE;
  unsigned long long blocked, ignored;
  long pid, session;
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  signal(SIGINT, SIG_IGN);
  output_of((struct tm_spawn) { .program = "/bin/cat", .argv = argv }, &out);
  signal(SIGINT, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  const char *blk = strstr(tm_buf_str(&out), "SigBlk:"), *ign = strstr(tm_buf_str(&out), "SigIgn:");
  assert_int_equal(sscanf(blk, "SigBlk: %llx", &blocked), 1);
  assert_int_equal(sscanf(ign, "SigIgn: %llx", &ignored), 1);
  assert_int_equal(blocked, 0);
  assert_int_equal(ignored & 0x7fffffff, 0); /* the C library keeps the two highest for itself */
  assert_int_equal(sscanf(strstr(ign, "(cat) "), "(cat) %*c %*d %*d %ld", &session), 1);
  assert_int_equal(sscanf(strstr(tm_buf_str(&out), "\nPid:"), " Pid: %ld", &pid), 1);
  assert_int_equal(session, pid);
  assert_int_not_equal(session, getsid(0));
  tm_buf_release(&out);
}

static void descriptors_may_be_exchanged(void **state)
{
  int a[2], b[2], list[10];
  char script[64], *const argv[] = { "sh", "-c", script, NULL };
  struct tm_buf out = TM_BUF_NONE;
  assert_int_equal(pipe2(a, O_CLOEXEC), 0);
  assert_int_equal(pipe2(b, O_CLOEXEC), 0);
  assert_in_range(a[1], 3, 9); /* a shell's redirection takes one digit */
  assert_in_range(b[1], 3, 9);
  for (int i = 0; i < 10; i++)
    list[i] = i == a[1] ? b[1] : i == b[1] ? a[1] : -1;
  snprintf(script, sizeof script, "echo one >&%d; echo two >&%d", a[1], b[1]);
  struct tm_spawn s = { .program = "/bin/sh", .argv = argv, .fds = list, .fds_len = 10 };
  pid_t pid = tm_process_start(&s, NULL);
  close(a[1]);
  close(b[1]);
  read_all(a[0], &out);
  read_all(b[0], &out);
  assert_string_equal(tm_buf_str(&out), "two\none\n");
  assert_int_equal(next_end().pid, pid);
  tm_process_reap(pid, NULL);
  close(a[0]);
  close(b[0]);
  tm_buf_release(&out);
}

static void a_failed_start_is_reported(void **state)
{
  char *const argv[] = { "x", NULL };
  struct tm_err err = TM_ERR_NONE;
  struct tm_spawn s = { .program = "/none/such", .argv = argv };
  assert_int_equal(tm_process_start(&s, &err), -ENOENT);
  assert_string_equal(err.text, "cannot start '/none/such': no such file or directory");
  s.program = "/bin/sh";
  s.cwd = "/none";
  assert_int_equal(tm_process_start(&s, &err), -ENOENT);
  assert_string_equal(err.text, "cannot start '/bin/sh' in '/none': no such file or directory");
  const int closed[] = { 999 };
  s = (struct tm_spawn) { .program = "/bin/sh", .argv = argv, .fds = closed, .fds_len = 1 };
  assert_int_equal(tm_process_start(&s, &err), -EBADF);
  struct tm_process_end end;
  assert_int_equal(tm_process_next_end(&end), -ECHILD);
}

static void an_end_is_seen_until_it_is_reaped(void **state)
{
  int64_t rss = 0;
  pid_t pid = start_sh("exit 7");
  struct tm_process_end end = next_end();
  assert_int_equal(end.pid, pid);
  assert_int_equal(end.exit_status, 7);
  assert_int_equal(end.signal, 0);
  assert_false(end.core_dumped);
  assert_int_equal(tm_process_next_end(&end), 1);
  assert_int_equal(end.pid, pid);
  tm_process_reap(pid, &rss);
  assert_in_range(rss, 100, 1000000);
  assert_int_equal(tm_process_next_end(&end), -ECHILD);
}

static void a_signal_is_distinguished_from_an_exit(void **state)
{
  pid_t pid = start_sh("kill -STOP $$");
  struct tm_process_end end;
  assert_int_equal(tm_process_next_end(&end), 0);
  tm_process_kill(pid, SIGKILL);
  end = next_end();
  assert_int_equal(end.signal, SIGKILL);
  assert_int_equal(end.exit_status, 0);
  tm_process_reap(pid, NULL);
}

static void a_group_ends_as_one(void **state)
{
  int fds[2], list[4] = { -1, -1, -1, -1 };
  char byte, *const argv[] = { "sh", "-c", "(echo x >&3; kill -STOP 0) & wait", NULL };
  assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
  list[3] = fds[1];
  struct tm_spawn s = { .program = "/bin/sh", .argv = argv, .fds = list, .fds_len = 4 };
  pid_t pid = tm_process_start(&s, NULL);
  close(fds[1]);
  assert_int_equal(read(fds[0], &byte, 1), 1);
  tm_process_kill_group(pid, SIGKILL);
  while (read(fds[0], &byte, 1) > 0) /* until nobody holds the pipe */
    ;
  struct tm_process_end end = next_end();
  assert_int_equal(end.signal, SIGKILL);
  tm_process_reap(pid, NULL);
  close(fds[0]);
}

static void on_fault(const char *text, bool fatal, void *data)
{
  ++*(int *)data;
}

static void nobody_else_is_killed(void **state)
{
  int faults = 0;
  tm_set_on_fault(on_fault, &faults);
  tm_process_kill(0, SIGKILL);
  tm_process_kill(-1, SIGKILL);
  tm_process_kill_group(0, SIGKILL);
  tm_process_kill_group(1, SIGKILL);
  tm_set_on_fault(NULL, NULL);
  assert_int_equal(faults, 4);
}

/* The child of a child that ends: it reports on the pipe that it is ready, and holds the pipe open
 * while it lives. */
static void leave_grandchild(int fd, bool dies)
{
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid > 0) {
    waitpid(pid, NULL, 0);
    return;
  }
  int ready[2];
  char byte = 'r';
  pid_t middle = getpid();
  if (pipe(ready) < 0)
    _exit(1);
  pid = fork();
  if (pid == 0) {
    if (dies)
      tm_process_die_with_parent(middle);
    if (write(ready[1], &byte, 1) == 1 && write(fd, &byte, 1) == 1)
      for (;;)
        pause();
    _exit(1);
  }
  _exit(read(ready[0], &byte, 1) == 1 ? 0 : 1);
}

static void it_dies_with_its_parent(void **state)
{
  int fds[2];
  char byte;
  assert_int_equal(pipe(fds), 0);
  leave_grandchild(fds[1], true);
  close(fds[1]);
  while (read(fds[0], &byte, 1) > 0) /* its end is the end of file */
    ;
  close(fds[0]);
}

static void it_dies_when_the_parent_has_gone_before(void **state)
{
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    tm_process_die_with_parent(getppid() + 1);
    _exit(0);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void orphans_are_adopted(void **state)
{
  int fds[2];
  char byte;
  pid_t children[8];
  assert_int_equal(tm_process_adopt_orphans(), 0);
  assert_int_equal(pipe(fds), 0);
  leave_grandchild(fds[1], false);
  close(fds[1]);
  assert_int_equal(read(fds[0], &byte, 1), 1);
  assert_int_equal(tm_process_children(getpid(), children, 8), 1);
  tm_process_kill(children[0], SIGTERM);
  struct tm_process_end end = next_end();
  assert_int_equal(end.pid, children[0]);
  assert_int_equal(end.signal, SIGTERM);
  assert_int_equal(tm_process_children(getpid(), children, 8), 0); /* dead, although not reaped */
  tm_process_reap(end.pid, NULL);
  close(fds[0]);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void the_limit_of_descriptors_is_raised(void **state)
{
  struct rlimit before, after;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit low = { before.rlim_max < 256 ? before.rlim_max : 256, before.rlim_max };
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
  tm_process_raise_fd_limit();
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
  assert_int_equal(after.rlim_cur, before.rlim_max);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* In a child, because limits cannot be raised again. */
static void a_failed_start_names_the_limits_that_may_be_the_cause(void **state)
{
  int status;
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    struct rlimit memory = { 512u << 20, 512u << 20 }, processes = { 7, 7 };
    struct tm_err err = TM_ERR_NONE, other = TM_ERR_NONE;
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_NPROC, &processes);
    tm_err_set(&err, -EAGAIN, "cannot start it");
    tm_err_set(&other, -ENOENT, "cannot start it");
    bool is_right =
        tm_process_blame_limits(-EAGAIN, &err) == -EAGAIN &&
        strcmp(err.text, "cannot start it; a process may have 512 MB of address space (ulimit -v); "
                         "this user may have 7 processes and threads (ulimit -u)") == 0 &&
        tm_process_blame_limits(-ENOENT, &other) == -ENOENT &&
        strcmp(other.text, "cannot start it") == 0 &&
        tm_process_blame_limits(-EAGAIN, NULL) == -EAGAIN;
    _exit(is_right ? 0 : 1);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(it_gets_environment_and_folder),
    cmocka_unit_test(it_gets_nothing_that_is_not_listed),
    cmocka_unit_test(unset_streams_are_dev_null),
    cmocka_unit_test(it_has_default_signals_and_its_own_session),
    cmocka_unit_test(descriptors_may_be_exchanged),
    cmocka_unit_test(a_failed_start_is_reported),
    cmocka_unit_test(an_end_is_seen_until_it_is_reaped),
    cmocka_unit_test(a_signal_is_distinguished_from_an_exit),
    cmocka_unit_test(a_group_ends_as_one),
    cmocka_unit_test(nobody_else_is_killed),
    cmocka_unit_test(it_dies_with_its_parent),
    cmocka_unit_test(it_dies_when_the_parent_has_gone_before),
    cmocka_unit_test(orphans_are_adopted),
    cmocka_unit_test(the_limit_of_descriptors_is_raised),
    cmocka_unit_test(a_failed_start_names_the_limits_that_may_be_the_cause),
});
