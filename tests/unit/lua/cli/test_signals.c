/* test_signals.c - a command's signals: one thread catches them, calls continue or end, and the old
 * handlers return. */
#include "unit.h"

#include <signal.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "cli/terminal/signals.h"

static pthread_t one;
static volatile sig_atomic_t here, elsewhere;

static void count(int signal, void *data)
{
  if (pthread_equal(pthread_self(), one))
    here++;
  else
    elsewhere++;
}

static void count_and_write(int signal, void *data)
{
  count(signal, data);
  (void)!write(*(int *)data, "", 1);
}

static int setup(void **state)
{
  one = pthread_self();
  here = elsewhere = 0;
  return 0;
}

static int teardown(void **state)
{
  tm_signals_release();
  return 0;
}

static void *send_here(void *data)
{
  pthread_kill(pthread_self(), *(int *)data);
  return NULL;
}

static void a_signal_of_another_thread_reaches_the_one(void **state)
{
  int signal = SIGUSR1;
  pthread_t other;
  tm_signals_catch(SIGUSR1, count, NULL);
  assert_int_equal(pthread_create(&other, NULL, send_here, &signal), 0);
  pthread_join(other, NULL);
  while (here == 0)
    ;
  assert_int_equal(elsewhere, 0);
}

static void an_alarm_comes_again_and_again_until_it_is_stopped(void **state)
{
  tm_signals_catch(SIGALRM, count, NULL);
  tm_signals_alarm(1, TM_MS);
  while (here < 3)
    ;
  tm_signals_alarm(0, 0);
  assert_int_equal(elsewhere, 0);
}

/* A read without data: a signal ends it with EINTR, or it returns what the signal's handler writes.
 */
static ssize_t read_interrupted(int fds[2], bool does_break,
                                void (*catch_it)(int, void (*)(int, void *), void *))
{
  char byte;
  catch_it(SIGALRM, count_and_write, &fds[1]);
  tm_signals_break_calls(does_break);
  tm_signals_alarm(20 * TM_MS, 0);
  ssize_t n = read(fds[0], &byte, 1);
  int error = errno;
  tm_signals_break_calls(false);
  if (n < 0)
    assert_int_equal(read(fds[0], &byte, 1), 1);
  errno = error;
  return n;
}

static void calls_continue_unless_they_should_end(void **state)
{
  int fds[2];
  assert_int_equal(pipe(fds), 0);
  assert_int_equal(read_interrupted(fds, false, tm_signals_catch), 1);
  assert_int_equal(read_interrupted(fds, true, tm_signals_catch), -1);
  assert_int_equal(errno, EINTR);
  assert_int_equal(read_interrupted(fds, true, tm_signals_watch), 1);
  close(fds[0]);
  close(fds[1]);
}

static void caught_signals_are_given_back(void **state)
{
  struct sigaction now;
  signal(SIGHUP, SIG_DFL); /* nohup ignores it */
  assert_false(tm_signals_is_ignored(SIGHUP));
  signal(SIGHUP, SIG_IGN);
  assert_true(tm_signals_is_ignored(SIGHUP));
  signal(SIGHUP, SIG_DFL);
  tm_signals_catch(SIGHUP, count, NULL);
  tm_signals_watch(SIGWINCH, count, NULL);
  tm_signals_release();
  sigaction(SIGHUP, NULL, &now);
  assert_true(now.sa_handler == SIG_DFL);
  sigaction(SIGWINCH, NULL, &now);
  assert_true(now.sa_handler == SIG_DFL);
}

static volatile sig_atomic_t depth, deepest, handled;

static void send_others(int signal, void *data)
{
  depth++;
  deepest = depth > deepest ? depth : deepest;
  if (handled++ == 0) {
    raise(SIGALRM);
    raise(SIGTERM);
  }
  depth--;
}

static void caught_signals_are_handled_one_at_a_time(void **state)
{
  static const int all[] = { SIGINT, SIGALRM, SIGTERM };
  for (int i = 0; i < 3; i++)
    tm_signals_catch(all[i], send_others, NULL);
  tm_signals_break_calls(true);
  raise(SIGINT);
  assert_int_equal(handled, 3); /* the others once the first has returned */
  assert_int_equal(deepest, 1);
}

static void surrender(int signal, void *data)
{
  tm_signals_surrender(SIGINT);
}

static void one_that_surrenders_is_ended_by_the_signal(void **state)
{
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    tm_signals_catch(SIGINT, surrender, NULL);
    raise(SIGINT);
    for (;;)
      pause();
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_signal_of_another_thread_reaches_the_one, setup, teardown),
    cmocka_unit_test_setup_teardown(an_alarm_comes_again_and_again_until_it_is_stopped, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(calls_continue_unless_they_should_end, setup, teardown),
    cmocka_unit_test_setup_teardown(caught_signals_are_given_back, setup, teardown),
    cmocka_unit_test_setup_teardown(caught_signals_are_handled_one_at_a_time, setup, teardown),
    cmocka_unit_test_setup_teardown(one_that_surrenders_is_ended_by_the_signal, setup, teardown),
});
