/* test_threads.c - threads run, block signals, and wait for each other. */
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sys/threads.h"

static void ask_mask(void *data)
{
  pthread_sigmask(SIG_SETMASK, NULL, data);
}

static void signals_are_blocked_but_for_its_own_faults(void **state)
{
  struct tm_thread t = { 0 };
  sigset_t inside, before, after;
  pthread_sigmask(SIG_SETMASK, NULL, &before);
  assert_int_equal(tm_thread_start(&t, ask_mask, &inside, NULL), 0);
  pthread_sigmask(SIG_SETMASK, NULL, &after);
  tm_thread_join(&t);
  const int blocked[] = { SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGPROF, SIGPIPE, SIGUSR1, SIGHUP };
  for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++)
    assert_int_equal(sigismember(&inside, blocked[i]), 1);
  assert_int_equal(sigismember(&inside, SIGSEGV), 0);
  assert_int_equal(sigismember(&inside, SIGBUS), 0);
  for (int s = 1; s < 32; s++)
    assert_int_equal(sigismember(&before, s), sigismember(&after, s));
}

struct shared {
  struct tm_mutex mutex;
  struct tm_cond cond;
  int turn, count; /* the thread counts when turn is 1, the test when it is 0 */
};

static void count(struct shared *s, int whose)
{
  for (int i = 0; i < 1000; i++) {
    tm_mutex_lock(&s->mutex);
    while (s->turn != whose)
      tm_cond_wait(&s->cond, &s->mutex);
    assert_int_equal(s->count % 2, whose);
    s->count++;
    s->turn = !whose;
    tm_cond_signal(&s->cond);
    tm_mutex_unlock(&s->mutex);
  }
}

static void count_second(void *data)
{
  count(data, 1);
}

static void two_threads_take_turns(void **state)
{
  struct shared s = { .turn = 0 };
  struct tm_thread t = { 0 };
  tm_mutex_init(&s.mutex);
  tm_cond_init(&s.cond);
  assert_int_equal(tm_thread_start(&t, count_second, &s, NULL), 0);
  assert_true(t.is_started);
  count(&s, 0);
  tm_thread_join(&t);
  assert_false(t.is_started);
  assert_int_equal(s.count, 2000);
  tm_cond_release(&s.cond);
  tm_mutex_release(&s.mutex);
}

static void joining_what_was_not_started_is_a_no_op(void **state)
{
  struct tm_thread t = { 0 };
  tm_thread_join(&t);
  assert_false(t.is_started);
}

UNIT_HOOKS(.limit_s = 30);
UNIT_TESTS({
    cmocka_unit_test(signals_are_blocked_but_for_its_own_faults),
    cmocka_unit_test(two_threads_take_turns),
    cmocka_unit_test(joining_what_was_not_started_is_a_no_op),
});
