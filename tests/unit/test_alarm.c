/* test_alarm.c - signals reach the one thread, whichever thread they were delivered to. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/alarm.h"

static pthread_t one;
static volatile sig_atomic_t here, elsewhere;

static void count(void)
{
  if (pthread_equal(pthread_self(), one))
    here++;
  else
    elsewhere++;
}

static void on_alarm(void *data)
{
  *(volatile sig_atomic_t *)data += 1;
  count();
}

static void on_prof(int signal)
{
  count();
}

static int setup(void **state)
{
  one = pthread_self();
  here = elsewhere = 0;
  return 0;
}

/* On another thread: the signal in *data comes to it alone. */
static void *send_here(void *data)
{
  pthread_kill(pthread_self(), *(int *)data);
  return NULL;
}

static void send_elsewhere(int signal)
{
  pthread_t other;
  assert_int_equal(pthread_create(&other, NULL, send_here, &signal), 0);
  pthread_join(other, NULL);
}

static void an_alarm_is_handled_by_the_thread_that_catches_it(void **state)
{
  volatile sig_atomic_t n = 0;
  tm_alarm_catch(SIGALRM, on_alarm, (void *)&n);
  raise(SIGALRM);
  assert_int_equal(n, 1);
  send_elsewhere(SIGALRM);
  while (n < 2) /* it has been passed on */
    ;
  tm_alarm_send(getpid());
  while (n < 3)
    ;
  assert_int_equal(here, 3);
  assert_int_equal(elsewhere, 0);
  tm_alarm_release();
  struct sigaction now;
  sigaction(SIGALRM, NULL, &now);
  assert_true(now.sa_handler == SIG_DFL);
}

static volatile sig_atomic_t depth, deepest, handled;

static void send_others(void *data)
{
  depth++;
  deepest = depth > deepest ? depth : deepest;
  if (handled++ == 0) {
    raise(SIGALRM);
    raise(SIGTERM);
  }
  depth--;
}

static void what_is_caught_is_handled_one_at_a_time(void **state)
{
  static const int all[] = { SIGINT, SIGALRM, SIGTERM };
  for (int i = 0; i < 3; i++)
    tm_alarm_catch(all[i], send_others, NULL);
  tm_alarm_break_calls(true);
  raise(SIGINT);
  assert_int_equal(handled, 3); /* the others when the first has returned */
  assert_int_equal(deepest, 1);
  tm_alarm_release();
}

static void surrender(void *data)
{
  tm_alarm_surrender(SIGINT);
}

static void one_that_surrenders_is_ended_by_the_signal(void **state)
{
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    tm_alarm_catch(SIGINT, surrender, NULL);
    raise(SIGINT);
    for (;;)
      pause();
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

static void a_tick_is_handled_by_one_thread_and_harmless_without_a_handler(void **state)
{
  tm_tick_hush();
  tm_tick_raise(); /* ends nobody */
  signal(SIGPROF, on_prof);
  tm_tick_wrap();
  tm_tick_wrap(); /* again: nothing is wrapped twice */
  tm_tick_raise();
  assert_int_equal(here, 1);
  send_elsewhere(SIGPROF);
  while (here < 2)
    ;
  assert_int_equal(elsewhere, 0);
  tm_tick_hush();
  send_elsewhere(SIGPROF);
  tm_tick_raise();
  assert_int_equal(here, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup(an_alarm_is_handled_by_the_thread_that_catches_it, setup),
    cmocka_unit_test_setup(what_is_caught_is_handled_one_at_a_time, setup),
    cmocka_unit_test_setup(one_that_surrenders_is_ended_by_the_signal, setup),
    cmocka_unit_test_setup(a_tick_is_handled_by_one_thread_and_harmless_without_a_handler, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
