/* test_running_call.c - a signal asks the call that runs to stop, and no other. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "sys/alarm.h"
#include "sys/running_call.h"

static struct tm_running_call slot;

static void on_alarm(void *data)
{
  tm_running_call_stop(&slot);
}

/* Sends alarms to this thread until the test ends it. */
struct sender {
  pthread_t thread;
  atomic_bool is_over;
};

static void *send(void *data)
{
  struct sender *s = data;
  while (!atomic_load(&s->is_over)) {
    sched_yield();
    tm_alarm_send(getpid());
  }
  return NULL;
}

static void start(struct sender *s)
{
  *s = (struct sender) { .is_over = false };
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  assert_int_equal(pthread_create(&s->thread, NULL, send, s), 0);
}

static void end(struct sender *s)
{
  atomic_store(&s->is_over, true);
  pthread_join(s->thread, NULL);
  tm_alarm_release();
}

static void a_loop_that_looks_at_a_flag_ends(void **state)
{
  struct sender sender;
  atomic_bool is_stopped = false;
  tm_running_call_arm(&slot, tm_running_call_set_flag, &is_stopped);
  start(&sender);
  while (!atomic_load(&is_stopped))
    ;
  end(&sender);
  tm_running_call_disarm(&slot);
}

static void another_process_sees_that_a_call_was_armed(void **state)
{
  static _Atomic uint64_t shown;
  struct tm_running_call call = { .shown = &shown };
  atomic_bool flag = false;
  tm_running_call_arm(&call, tm_running_call_set_flag, &flag);
  assert_int_equal(atomic_load(&shown), 1);
  tm_running_call_disarm(&call);
}

static void count(void *data)
{
  ++*(int *)data;
}

static void a_signal_between_two_calls_stops_neither(void **state)
{
  int first = 0, second = 0;
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  raise(SIGALRM); /* before any call */
  tm_running_call_arm(&slot, count, &first);
  tm_running_call_disarm(&slot);
  raise(SIGALRM);
  tm_running_call_arm(&slot, count, &second);
  assert_int_equal(first + second, 0);
  raise(SIGALRM);
  raise(SIGALRM); /* repeated */
  tm_running_call_disarm(&slot);
  tm_alarm_release();
  assert_int_equal(first, 0);
  assert_int_equal(second, 2);
}

struct call {
  volatile sig_atomic_t runs;
};
static volatile sig_atomic_t stopped, wrong;

static void look(void *data)
{
  stopped++;
  wrong += !((struct call *)data)->runs;
}

/* Signals at any moment, also in the middle of arming: each one finds a call that runs. */
static void only_a_call_that_runs_is_asked(void **state)
{
  struct sender sender;
  struct call calls[2] = { { 0 }, { 0 } };
  stopped = wrong = 0;
  start(&sender);
  for (int i = 0; i < 2000 || stopped < 20; i++) {
    struct call *call = &calls[i % 2];
    call->runs = 1;
    tm_running_call_arm(&slot, look, call);
    tm_running_call_disarm(&slot);
    call->runs = 0;
  }
  end(&sender);
  assert_int_equal(wrong, 0);
}

UNIT_TESTS({
    cmocka_unit_test(a_loop_that_looks_at_a_flag_ends),
    cmocka_unit_test(another_process_sees_that_a_call_was_armed),
    cmocka_unit_test(a_signal_between_two_calls_stops_neither),
    cmocka_unit_test(only_a_call_that_runs_is_asked),
});
