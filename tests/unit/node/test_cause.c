/* test_cause.c - finds out why a worker ended. */
#include "unit.h"

#include <signal.h>
#include <string.h>

#include "node/node_own.h"

static void only_a_sigkill_by_another_may_be_the_kernel_s(void **state)
{
  assert_int_equal(tm_keeper_memory_kill(TM_END_SIGNAL, SIGKILL, true, 0), TM_KILL_LOGGED);
  assert_int_equal(tm_keeper_memory_kill(TM_END_SIGNAL, SIGKILL, true, 1), TM_KILL_LOGGED);
  assert_int_equal(tm_keeper_memory_kill(TM_END_SIGNAL, SIGKILL, false, 1), TM_KILL_COUNTED);
  assert_int_equal(tm_keeper_memory_kill(TM_END_SIGNAL, SIGKILL, false, 0), TM_KILL_OTHER);
  assert_int_equal(tm_keeper_memory_kill(TM_END_SIGNAL, SIGSEGV, true, 1), TM_KILL_OTHER);
  assert_int_equal(tm_keeper_memory_kill(TM_END_TIMEOUT, SIGKILL, true, 1), TM_KILL_OTHER);
  assert_int_equal(tm_keeper_memory_kill(TM_END_EXITED, 0, true, 1), TM_KILL_OTHER);
}

static void expect_last(const char *text, int lines, const char *expected)
{
  assert_string_equal(tm_keeper_last_lines(text, strlen(text), lines), expected);
}

static void the_last_lines_are_found(void **state)
{
  expect_last("one\ntwo\nthree\n", 1, "three\n");
  expect_last("one\ntwo\nthree", 2, "two\nthree");
  expect_last("one\ntwo\n\n\n", 1, "two\n\n\n"); /* empty ones at the end do not count */
  expect_last("one\ntwo\n", 10, "one\ntwo\n");
  expect_last("one", 1, "one");
  expect_last("", 3, "");
  expect_last("\n\n", 3, "\n\n");
}

/* Readings that show whom the kernel killed. */
static int64_t kills;
static pid_t logged;

static int64_t read_kills(void)
{
  return kills;
}

static bool log_names(pid_t pid, int64_t since_ns)
{
  return pid == logged;
}

static enum tm_memory_kill find(struct tm_keeper *k, pid_t pid)
{
  struct tm_keeper_step step = { .s = { .logs_dir = (char *)"/nonexistent",
                                        .node_id = (char *)"0" } };
  struct tm_keeper_worker w = {
    .step = &step, .name = (char *)"process000", .pid = pid, .frozen_due_ns = INT64_MAX
  };
  struct tm_ended ended = { .cause = TM_END_SIGNAL, .signal = SIGKILL };
  tm_keeper_find_cause(k, &w, &ended);
  assert_false(ended.was_frozen);
  return ended.memory;
}

static void a_kill_that_is_counted_accounts_for_one_worker(void **state)
{
  static const struct tm_keeper_readings readings = { NULL, read_kills, log_names };
  struct tm_keeper k = { .readings = &readings };
  kills = logged = 0;
  assert_int_equal(find(&k, 1), TM_KILL_OTHER);
  kills = 2;
  assert_int_equal(find(&k, 2), TM_KILL_COUNTED);
  logged = 3;
  assert_int_equal(find(&k, 3), TM_KILL_LOGGED);
  assert_int_equal(find(&k, 4), TM_KILL_OTHER); /* both are explained */
}

UNIT_TESTS({
    cmocka_unit_test(only_a_sigkill_by_another_may_be_the_kernel_s),
    cmocka_unit_test(the_last_lines_are_found),
    cmocka_unit_test(a_kill_that_is_counted_accounts_for_one_worker),
});
