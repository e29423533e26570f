/* signals.c - see signals.h.
 *
 * The data of a handler must be static, because a signal carries no pointer. They are written
 * before the handler is installed, and only the handler reads them.
 *
 *  (1) A handler keeps errno.
 *  (2) On another thread, a handler only passes the signal on, because its data belong to the one
 *      thread.
 *  (3) Caught signals are handled one at a time: an alarm does not interrupt the handler of Ctrl-C.
 *      A tick does, because that is how a handler makes one.
 */
#include "cli/terminal/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

#include "base/check.h"
#include "base/time.h"

#define CAUGHT_MAX 7

static struct caught {
  pthread_t thread;
  int signal;  /* 0: free */
  bool breaks; /* interrupts system calls, if tm_signals_break_calls() says so */
  void (*on_signal)(int signal, void *data);
  void *data;
  struct sigaction before; /* what the signal did until it was caught */
} all_caught[CAUGHT_MAX];

static void on_caught(int signal);

static void install(int signal, void (*handler)(int), int flags)
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
  sigemptyset(&action.sa_mask);
  if (handler == on_caught) {
    sigfillset(&action.sa_mask); /* keeps (3) */
    sigdelset(&action.sa_mask, SIGPROF);
  }
  sigaction(signal, &action, NULL);
}

/* Makes the signal do again what it did before; one that was ignored gets its default action. */
static void restore(const struct caught *c)
{
  bool was_ignored = c->before.sa_handler == SIG_IGN;
  if (was_ignored)
    install(c->signal, SIG_DFL, 0);
  else
    sigaction(c->signal, &c->before, NULL);
}

static struct caught *find(int signal)
{
  for (int i = 0; i < CAUGHT_MAX; i++)
    if (all_caught[i].signal == signal)
      return &all_caught[i];
  return NULL;
}

static void on_caught(int signal)
{
  int error = errno; /* keeps (1) */
  const struct caught *c = find(signal);
  if (c && pthread_equal(c->thread, pthread_self()))
    c->on_signal(signal, c->data);
  else if (c)
    pthread_kill(c->thread, signal); /* keeps (2) */
  errno = error;
}

static void catch_it(int signal, bool breaks, void (*on_signal)(int signal, void *data), void *data)
{
  struct caught *c = find(signal);
  if (c)
    restore(c);
  else
    c = find(0);
  tm_require(c);
  *c = (struct caught) { .thread = pthread_self(),
                         .signal = signal,
                         .breaks = breaks,
                         .on_signal = on_signal,
                         .data = data };
  sigaction(signal, NULL, &c->before);
  install(signal, on_caught, SA_RESTART);
}

void tm_signals_catch(int signal, void (*on_signal)(int signal, void *data), void *data)
{
  catch_it(signal, true, on_signal, data);
}

void tm_signals_watch(int signal, void (*on_signal)(int signal, void *data), void *data)
{
  catch_it(signal, false, on_signal, data);
}

void tm_signals_break_calls(bool does_break)
{
  for (int i = 0; i < CAUGHT_MAX; i++)
    if (all_caught[i].signal != 0 && all_caught[i].breaks)
      install(all_caught[i].signal, on_caught, does_break ? 0 : SA_RESTART);
}

bool tm_signals_is_ignored(int signal)
{
  struct sigaction now;
  return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void tm_signals_release(void)
{
  for (int i = 0; i < CAUGHT_MAX; i++) {
    if (all_caught[i].signal == SIGALRM)
      tm_signals_alarm(0, 0);
    if (all_caught[i].signal != 0)
      restore(&all_caught[i]);
    all_caught[i].signal = 0;
  }
}

void tm_signals_surrender(int signal)
{
  const struct caught *c = find(signal);
  if (c)
    restore(c);
  else
    install(signal, SIG_DFL, 0);
  pthread_kill(pthread_self(), signal); /* arrives when the handler returns */
}

static struct timeval timeval_of(int64_t ns)
{
  return (struct timeval) { .tv_sec = ns / TM_S, .tv_usec = ns % TM_S / 1000 };
}

void tm_signals_alarm(int64_t first_ns, int64_t again_ns)
{
  struct itimerval timer = { .it_interval = timeval_of(again_ns),
                             .it_value = timeval_of(first_ns) };
  if (first_ns > 0 && first_ns < 1000)
    timer.it_value.tv_usec = 1; /* 0 would stop the timer */
  setitimer(ITIMER_REAL, &timer, NULL);
}
