/* test_process_wait.c - waits for one child, which ends in time or is killed. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "sys/process.h"

static pid_t start_sh(const char *script)
{
  char *const argv[] = { "sh", "-c", (char *)script, NULL };
  struct tm_spawn s = { .program = "/bin/sh", .argv = argv };
  pid_t pid = tm_process_start(&s, NULL);
  assert_true(pid > 0);
  return pid;
}

static void an_end_in_time_is_reported(void **state)
{
  struct tm_process_end end;
  pid_t pid = start_sh("exit 5");
  tm_process_wait(pid, 30 * TM_S, &end);
  assert_int_equal(end.pid, pid);
  assert_int_equal(end.exit_status, 5);
  assert_int_equal(end.signal, 0);
  assert_int_equal(tm_process_next_end(&end), -ECHILD); /* reaped */
}

static void a_child_that_does_not_end_is_killed(void **state)
{
  struct tm_process_end end;
  pid_t pid = start_sh("kill -STOP $$");
  tm_process_wait(pid, TM_MS, &end);
  assert_int_equal(end.signal, SIGKILL);
  assert_int_equal(tm_process_next_end(&end), -ECHILD);
}

static void another_child_is_left_alone(void **state)
{
  struct tm_process_end end;
  pid_t other = start_sh("exit 3");
  tm_process_wait(start_sh("exit 4"), 30 * TM_S, NULL);
  tm_process_wait(other, 30 * TM_S, &end);
  assert_int_equal(end.exit_status, 3);
}

static void a_child_reaped_by_the_host_is_gone(void **state)
{
  struct tm_process_end end;
  pid_t pid = start_sh("exit 4");
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  tm_process_wait(pid, 30 * TM_S, &end);
  assert_int_equal(end.pid, pid);
  assert_int_equal(end.signal, 0);
}

static void random_numbers_differ(void **state)
{
  assert_true(tm_process_random() != tm_process_random());
}

UNIT_HOOKS(.limit_s = 60);
UNIT_TESTS({
    cmocka_unit_test(an_end_in_time_is_reported),
    cmocka_unit_test(a_child_that_does_not_end_is_killed),
    cmocka_unit_test(another_child_is_left_alone),
    cmocka_unit_test(a_child_reaped_by_the_host_is_gone),
    cmocka_unit_test(random_numbers_differ),
});
