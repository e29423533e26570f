/* test_process_marked.c - real processes with a mark in their environment: which are killed because
 * of it, and which are not. */
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/process.h"

#define NAME  "TM_TEST_MARK"
#define LIMIT (30 * TM_S)

/* A mark that no other run of the tests has. */
static void make_mark(char mark[32], const char *suffix)
{
  snprintf(mark, 32, "%ld.%s:", (long)getpid(), suffix);
}

/* A spawn returns when the old memory is gone; the kernel shows the new environment a moment later.
 */
static void wait_for_environment(pid_t pid)
{
  char found[256];
  int64_t until_ns = tm_clock_mono_ns() + LIMIT;
  while (!tm_process_env(pid, NAME, found, sizeof found) && tm_clock_mono_ns() < until_ns)
    sched_yield();
  assert_true(tm_process_env(pid, NAME, found, sizeof found));
}

static pid_t start(const char *value)
{
  char *program = tm_process_program();
  char *variable = tm_xprintf(NAME "=%s", value);
  char *argv[] = { program, (char *)"pause", NULL }, *env[] = { variable, NULL };
  struct tm_spawn spawn = { .program = program, .argv = argv, .env = env };
  pid_t pid = tm_process_start(&spawn, NULL);
  assert_true(pid > 0);
  wait_for_environment(pid);
  free(program);
  free(variable);
  return pid;
}

static int end_of(pid_t pid)
{
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static bool lives(pid_t pid)
{
  return waitpid(pid, NULL, WNOHANG) == 0;
}

static size_t kill_marked(const char *mark)
{
  return tm_process_kill_marked(&(struct tm_process_mark) { .name = NAME, .begin = mark }, LIMIT);
}

static void those_with_the_mark_are_killed_and_no_other(void **state)
{
  char mark[32], other[32], inner[128];
  make_mark(mark, "a");
  make_mark(other, "ab");
  snprintf(inner, sizeof inner, "%sprocess001:1,%sprocess000:0", other, mark);
  pid_t first = start(mark), within = start(inner), stays = start(other);
  snprintf(inner, sizeof inner, "x%s", mark);
  pid_t stays_too = start(inner);
  assert_int_equal(kill_marked(mark), 2);
  assert_int_equal(end_of(first), SIGKILL);
  assert_int_equal(end_of(within), SIGKILL);
  assert_true(lives(stays) && lives(stays_too));
  assert_int_equal(kill_marked(mark), 0);
  kill(stays, SIGTERM);
  kill(stays_too, SIGTERM);
  assert_int_equal(end_of(stays), SIGTERM);
  assert_int_equal(end_of(stays_too), SIGTERM);
}

static void more_than_one_look_holds_are_killed(void **state)
{
  char mark[32];
  pid_t pids[150];
  make_mark(mark, "many");
  for (size_t i = 0; i < TM_COUNT_OF(pids); i++)
    pids[i] = start(mark);
  assert_int_equal(kill_marked(mark), TM_COUNT_OF(pids));
  for (size_t i = 0; i < TM_COUNT_OF(pids); i++)
    assert_int_equal(end_of(pids[i]), SIGKILL);
}

/* exec() gives a process new memory first, and its environment a moment later. */
static void a_process_in_the_middle_of_exec_has_its_mark(void **state)
{
  char mark[32], found[256], *program = tm_process_program();
  make_mark(mark, "exec");
  char *variable = tm_xprintf(NAME "=%s", mark);
  char *argv[] = { program, (char *)"loop", NULL };
  char *env[] = { variable, (char *)"TM_UNIT=process_marked", NULL };
  struct tm_spawn spawn = { .program = program, .argv = argv, .env = env };
  pid_t pid = tm_process_start(&spawn, NULL);
  assert_true(pid > 0);
  wait_for_environment(pid);
  int missed = 0;
  for (int i = 0; i < 5000; i++)
    missed += !tm_process_env(pid, NAME, found, sizeof found);
  kill(pid, SIGKILL);
  assert_int_equal(end_of(pid), SIGKILL);
  assert_int_equal(missed, 0);
  free(variable);
  free(program);
}

/* The program that carries the mark: what does a hunt from within find, and does it spare the
 * processes above it? */
static int hunt_from_within(void)
{
  char *program = tm_process_program();
  char *argv[] = { program, (char *)"hunt-wiped", NULL };
  char *env[] = { (char *)"TM_UNIT=process_marked", NULL };
  struct tm_spawn spawn = { .program = program, .argv = argv, .env = env };
  struct tm_process_end end;
  if (kill_marked(getenv(NAME)) != 0)
    return 1; /* it carries the mark itself */
  argv[1] = tm_xprintf("hunt-wiped %s", getenv(NAME));
  pid_t pid = tm_process_start(&spawn, NULL);
  tm_process_wait(pid, LIMIT, &end);
  free(argv[1]);
  free(program);
  return end.signal == 0 && end.exit_status == 0 ? 0 : 2; /* and this process lives */
}

static void the_hunter_and_those_above_it_are_spared(void **state)
{
  char mark[32], *program = tm_process_program();
  int status;
  make_mark(mark, "self");
  char *variable = tm_xprintf(NAME "=%s", mark);
  char *argv[] = { program, (char *)"hunt", NULL };
  char *env[] = { variable, (char *)"TM_UNIT=process_marked", NULL };
  struct tm_spawn spawn = { .program = program, .argv = argv, .env = env };
  pid_t pid = tm_process_start(&spawn, NULL);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  free(variable);
  free(program);
}

static int serve(int argc, char **argv)
{
  const char *wiped = "hunt-wiped ";
  if (strcmp(argv[1], "loop") == 0) {
    execv("/proc/self/exe", argv);
    return 3;
  }
  if (strcmp(argv[1], "hunt") == 0)
    return hunt_from_within();
  if (strncmp(argv[1], wiped, strlen(wiped)) == 0)
    return kill_marked(argv[1] + strlen(wiped)) == 0 ? 0 : 1;
  return 2;
}

UNIT_HOOKS(.serve = serve);
UNIT_TESTS({
    cmocka_unit_test(those_with_the_mark_are_killed_and_no_other),
    cmocka_unit_test(more_than_one_look_holds_are_killed),
    cmocka_unit_test(a_process_in_the_middle_of_exec_has_its_mark),
    cmocka_unit_test(the_hunter_and_those_above_it_are_spared),
});
