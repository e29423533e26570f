/* test_program.c - programs that run to their end and programs in the background: what they
 * inherit, what is captured, and how they fail. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "folder.h"
#include "sys/program.h"

#define SECOND ((int64_t)1000000000)

struct result {
  int rc;
  struct tm_err said;
  struct tm_buf out, err;
  struct tm_process_end end;
  bool timed_out;
};

static void run(struct result *r, const struct tm_program *p, int64_t ns)
{
  struct tm_program_capture c = { .out = &r->out, .err = &r->err, .max = 100u << 20 };
  *r = (struct result) { 0 };
  r->rc = tm_program_run(p, &c, ns, &r->end, &r->timed_out, &r->said);
}

static void release(struct result *r)
{
  tm_buf_release(&r->out);
  tm_buf_release(&r->err);
}

static void run_shell(struct result *r, const char *text, int64_t ns)
{
  char *const argv[] = { "sh", "-c", (char *)text, NULL };
  run(r, &(struct tm_program) { .argv = argv }, ns);
}

static int count_fds(void)
{
  int n = 0;
  DIR *dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  while (readdir(dir) != NULL)
    n++;
  closedir(dir);
  return n;
}

static void output_and_status_are_returned(void **state)
{
  struct result r;
  run_shell(&r, "echo out; echo err >&2; exit 3", 0);
  assert_int_equal(r.rc, 0);
  assert_string_equal(r.out.data, "out\n");
  assert_string_equal(r.err.data, "err\n");
  assert_int_equal(r.end.exit_status, 3);
  assert_int_equal(r.end.signal, 0);
  release(&r);
  run_shell(&r, "kill -TERM $$", 0);
  assert_int_equal(r.end.signal, SIGTERM);
  assert_false(r.timed_out);
  release(&r);
}

static void much_goes_in_and_comes_out(void **state)
{
  struct result r;
  size_t len = 50u << 20;
  char *input = malloc(len);
  memset(input, 'x', len);
  char *const both[] = { "sh", "-c", "tee /dev/stderr", NULL };
  run(&r, &(struct tm_program) { .argv = both, .input = input, .input_len = len }, 60 * SECOND);
  assert_int_equal(r.rc, 0);
  assert_int_equal(r.out.len, len);
  assert_int_equal(r.err.len, len);
  assert_memory_equal(r.out.data, input, len);
  release(&r);
  char *const deaf[] = { "true", NULL };
  run(&r, &(struct tm_program) { .argv = deaf, .input = input, .input_len = len }, 60 * SECOND);
  assert_int_equal(r.rc, 0);
  assert_int_equal(r.end.exit_status, 0);
  release(&r);
  char *const some[] = { "head", "-c", "3", NULL };
  run(&r, &(struct tm_program) { .argv = some, .input = input, .input_len = len }, 60 * SECOND);
  assert_string_equal(r.out.data, "xxx");
  release(&r);
  free(input);
}

static void a_timeout_ends_it_and_its_children(void **state)
{
  struct result r;
  assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1),
                   0); /* this process inherits orphans, to see their end */
  run_shell(&r, "sleep 1000 & echo $!; sleep 1000", 2 * SECOND);
  assert_int_equal(r.rc, 0);
  assert_true(r.timed_out);
  assert_int_equal(r.end.signal, SIGKILL);
  pid_t orphan = (pid_t)atoi(r.out.data);
  int status;
  assert_true(orphan > 0);
  while (waitpid(-1, &status, 0) > 0) /* waits until no child is left, or for ever */
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  assert_int_equal(kill(orphan, 0), -1); /* also if the shell, killed after it, has reaped it */
  assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
  release(&r);
}

static void background_processes_are_not_waited_for(void **state)
{
  struct result r;
  run_shell(&r, "sleep 1000 & echo $!", 60 * SECOND);
  assert_int_equal(r.rc, 0);
  assert_false(r.timed_out);
  assert_int_equal(r.end.exit_status, 0);
  pid_t left = (pid_t)atoi(r.out.data);
  assert_true(left > 1);
  assert_int_equal(kill(left, SIGKILL), 0);
  release(&r);
}

static void it_stays_in_our_group_and_inherits_no_descriptor(void **state)
{
  struct result r;
  int leak = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
  int before = count_fds();
  /* checked by number, because a pipe of the shell or an open folder would be among them */
  run_shell(&r,
            "cut -d' ' -f5,6 /proc/$$/stat; i=0; while [ $i -lt 64 ]; do"
            " [ -e /proc/$$/fd/$i ] && printf '%s ' $i; i=$((i + 1)); done",
            0);
  char *expected = NULL;
  assert_true(asprintf(&expected, "%d %d\n0 1 2 ", (int)getpgrp(), (int)getsid(0)) > 0);
  assert_string_equal(r.out.data, expected);
  assert_int_equal(count_fds(), before);
  free(expected);
  close(leak);
  release(&r);
}

static void more_output_than_allowed_ends_it(void **state)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  struct tm_process_end end;
  bool timed_out;
  char *const argv[] = { "yes", NULL };
  struct tm_program_capture c = { .out = &out, .max = 1000000 };
  int rc = tm_program_run(&(struct tm_program) { .argv = argv }, &c, 0, &end, &timed_out, &err);
  assert_int_equal(rc, TM_ELIMIT);
  assert_string_equal(err.text,
                      "'yes' wrote more than 1000000 bytes and was killed; let it write to a file");
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* reaped */
  tm_buf_release(&out);
}

static bool yes(void *data)
{
  return true;
}

static void an_interruption_that_came_too_early_for_it_reaches_it(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_process_end end;
  bool timed_out;
  char *const argv[] = { "sleep", "1000", NULL };
  struct tm_program_capture c = { .is_interrupted = yes };
  int rc = tm_program_run(&(struct tm_program) { .argv = argv }, &c, 60 * SECOND, &end, &timed_out,
                          &err);
  assert_int_equal(rc, 0);
  assert_int_equal(end.signal, SIGINT);
}

static void expect_refused(const struct tm_program *p, int code, const char *words)
{
  struct result r;
  int before = count_fds();
  run(&r, p, 0);
  assert_int_equal(r.rc, code);
  assert_non_null(strstr(r.said.text, words));
  assert_int_equal(tm_program_start(p, &r.said), code);
  assert_int_equal(count_fds(), before);
  release(&r);
}

static void write_script(struct folder *f, const char *name, const char *text, mode_t mode)
{
  struct tm_err err;
  assert_int_equal(
      tm_fs_write_file(tm_fs_real(), folder_file(f, name), text, strlen(text), 0600, &err), 0);
  assert_int_equal(chmod(f->name, mode), 0);
}

static void a_start_that_fails_says_why(void **state)
{
  struct folder f;
  folder_init(&f);
  char *missing[] = { "no-such-program", NULL }, *file[] = { "./plain", NULL },
       *folder[] = { "/tmp", NULL };
  char *orphan[] = { "./orphan", NULL }, *text[] = { "./text", NULL }, *good[] = { "true", NULL };
  char *path[] = { "PATH=/nowhere:relative", NULL };
  write_script(&f, "plain", "echo\n", 0600);
  write_script(&f, "orphan", "#!/no/such/interpreter\n", 0700);
  write_script(&f, "text", "no program\n", 0700);
  expect_refused(&(struct tm_program) { .argv = missing }, -ENOENT,
                 "there is no such program in PATH (");
  expect_refused(&(struct tm_program) { .argv = good, .env = path }, -ENOENT,
                 "in PATH (/nowhere:relative)");
  expect_refused(&(struct tm_program) { .argv = file, .cwd = f.path }, -EACCES,
                 "it is not executable");
  expect_refused(&(struct tm_program) { .argv = folder }, -EACCES, "it is a folder");
  expect_refused(&(struct tm_program) { .argv = orphan, .cwd = f.path }, -ENOENT,
                 "the interpreter that it names");
  expect_refused(&(struct tm_program) { .argv = text, .cwd = f.path }, -ENOEXEC,
                 "begins with a line as '#!/bin/sh'");
  expect_refused(&(struct tm_program) { .argv = good, .cwd = "/no/such/folder" }, -ENOENT,
                 "cannot start 'true' in the folder '/no/such/folder': no such file or directory");
  expect_refused(&(struct tm_program) { .argv = good, .out_path = "/no/such/folder/x" }, -ENOENT,
                 "cannot open '/no/such/folder/x'");
  folder_release(&f);
}

static void folder_environment_and_files_are_its_own(void **state)
{
  struct folder f;
  struct result r;
  folder_init(&f);
  write_script(&f, "say", "#!/bin/sh\npwd; echo $FOO; echo problem >&2\n", 0700);
  char *argv[] = { "./say", NULL }, *env[] = { "FOO=bar", NULL };
  char *out = tm_xprintf("%s/out", f.path);
  run(&r, &(struct tm_program) { .argv = argv, .cwd = f.path, .env = env }, 0);
  assert_string_equal(r.out.data + strlen(f.path), "\nbar\n");
  release(&r);
  struct tm_err err = TM_ERR_NONE;
  struct tm_process_end end;
  pid_t pid = tm_program_start(
      &(struct tm_program) {
          .argv = argv, .cwd = f.path, .env = env, .out_path = out, .err_path = "/dev/null" },
      &err);
  assert_true(pid > 0);
  assert_int_equal(tm_program_wait(pid, -1, &end, &err), 1);
  assert_int_equal(end.exit_status, 0);
  assert_int_equal(folder_size(&f, "out"), strlen(f.path) + 5);
  free(out);
  folder_release(&f);
}

static void a_started_program_is_polled_and_killed(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_process_end end;
  char *const argv[] = { "sleep", "1000", NULL };
  pid_t pid = tm_program_start(&(struct tm_program) { .argv = argv }, &err);
  assert_true(pid > 0);
  assert_int_equal(tm_program_wait(pid, 0, &end, &err), 0);
  assert_int_equal(tm_program_kill(pid, SIGTERM, &err), 0);
  assert_int_equal(tm_program_wait(pid, 60 * SECOND, &end, &err), 1);
  assert_int_equal(end.signal, SIGTERM);
  assert_int_equal(tm_program_wait(pid, -1, &end, &err), -ECHILD);
}

UNIT_TESTS({
    cmocka_unit_test(output_and_status_are_returned),
    cmocka_unit_test(much_goes_in_and_comes_out),
    cmocka_unit_test(a_timeout_ends_it_and_its_children),
    cmocka_unit_test(background_processes_are_not_waited_for),
    cmocka_unit_test(it_stays_in_our_group_and_inherits_no_descriptor),
    cmocka_unit_test(more_output_than_allowed_ends_it),
    cmocka_unit_test(an_interruption_that_came_too_early_for_it_reaches_it),
    cmocka_unit_test(a_start_that_fails_says_why),
    cmocka_unit_test(folder_environment_and_files_are_its_own),
    cmocka_unit_test(a_started_program_is_polled_and_killed),
});
