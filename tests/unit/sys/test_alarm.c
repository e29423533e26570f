/* test_alarm.c - signals reach one chosen thread, whichever thread the kernel delivers them to. */
#include "unit.h"

#include <signal.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* On another thread: sends itself the signal in *data. */
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
  while (n < 2) /* it was passed on */
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

static void a_tick_is_handled_by_one_thread_and_harmless_without_a_handler(void **state)
{
  tm_tick_hush();
  tm_tick_raise(); /* ends no process */
  signal(SIGPROF, on_prof);
  tm_tick_wrap();
  tm_tick_wrap(); /* a second time: nothing is wrapped twice */
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

static volatile sig_atomic_t asked_here;

static void on_ask(void *data)
{
  asked_here += *(int *)data;
}

static void *ask(void *data)
{
  tm_tick_ask();
  return NULL;
}

static void another_thread_asks_the_one_that_has_the_tick(void **state)
{
  pthread_t thread;
  struct sigaction now;
  int step = 1;
  signal(SIGPROF, on_prof);
  assert_true(tm_tick_claim(on_ask, &step));
  assert_false(tm_tick_claim(on_ask, &step));
  tm_tick_hush();
  signal(SIGPROF, on_prof);
  tm_tick_wrap();
  tm_tick_ask(); /* from the thread itself */
  assert_int_equal(asked_here, 1);
  assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
  while (asked_here < 2)
    ;
  pthread_join(thread, NULL);
  assert_int_equal(here, 0); /* none of them counted as a tick */
  tm_tick_hush();
  tm_tick_release();
  sigaction(SIGPROF, NULL, &now);
  assert_true(now.sa_handler == on_prof); /* restored */
  tm_tick_ask();                          /* nobody receives it */
  assert_true(tm_tick_claim(on_ask, &step));
  tm_tick_release();
}

UNIT_TESTS({
    cmocka_unit_test_setup(another_thread_asks_the_one_that_has_the_tick, setup),
    cmocka_unit_test_setup(an_alarm_is_handled_by_the_thread_that_catches_it, setup),
    cmocka_unit_test_setup(a_tick_is_handled_by_one_thread_and_harmless_without_a_handler, setup),
});
