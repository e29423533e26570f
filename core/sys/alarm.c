/* alarm.c - see alarm.h.
 *
 * What a handler knows must be static: a signal carries no pointer. It is written before the handler is installed, and read
 * by it alone.
 *
 *  (1) A handler keeps errno.
 *  (2) On another thread it passes the signal on and does nothing else: what it would touch belongs to the one thread.
 */
#include "sys/alarm.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/time.h"

#define CAUGHT_MAX 5

static struct caught {
  pid_t thread;
  int signal; /* 0: free */
  void (*on_alarm)(void *data);
  void *data;
} all_caught[CAUGHT_MAX];

static struct {
  pid_t thread;
  void (*handler)(int signal);
  atomic_bool is_claimed, is_asked;
  void (*on_ask)(void *data);
  void *data;
  struct sigaction before; /* it was claimed */
} tick;

static pid_t this_thread(void)
{
  return (pid_t)syscall(SYS_gettid);
}

/* Keeps (2). */
static int is_elsewhere(pid_t thread, int signal)
{
  if (this_thread() == thread)
    return 0;
  syscall(SYS_tgkill, getpid(), thread, signal);
  return 1;
}

static void install_with(int signal, void (*handler)(int), int flags)
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

static void install(int signal, void (*handler)(int))
{
  install_with(signal, handler, SA_RESTART);
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
  if (c && !is_elsewhere(c->thread, signal))
    c->on_alarm(c->data);
  errno = error;
}

void tm_alarm_catch(int signal, void (*on_alarm)(void *data), void *data)
{
  struct caught *c = find(signal);
  if (c)
    install(signal, SIG_DFL);
  else
    c = find(0);
  tm_require(c);
  *c = (struct caught) {
    .thread = this_thread(), .signal = signal, .on_alarm = on_alarm, .data = data
  };
  install(signal, on_caught);
}

void tm_alarm_break_calls(bool does_break)
{
  for (int i = 0; i < CAUGHT_MAX; i++)
    if (all_caught[i].signal != 0)
      install_with(all_caught[i].signal, on_caught, does_break ? 0 : SA_RESTART);
}

static struct timeval timeval_of(int64_t ns)
{
  return (struct timeval) { .tv_sec = ns / TM_S, .tv_usec = ns % TM_S / 1000 };
}

void tm_alarm_start(int64_t first_ns, int64_t again_ns)
{
  struct itimerval timer = { .it_interval = timeval_of(again_ns),
                             .it_value = timeval_of(first_ns) };
  if (first_ns > 0 && first_ns < 1000)
    timer.it_value.tv_usec = 1; /* none is "no more" */
  setitimer(ITIMER_REAL, &timer, NULL);
}

void tm_alarm_release(void)
{
  for (int i = 0; i < CAUGHT_MAX; i++) {
    if (all_caught[i].signal == SIGALRM)
      tm_alarm_start(0, 0);
    if (all_caught[i].signal != 0)
      install(all_caught[i].signal, SIG_DFL);
    all_caught[i].signal = 0;
  }
}

bool tm_alarm_is_ignored(int signal)
{
  struct sigaction now;
  return sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void tm_alarm_surrender(int signal)
{
  install(signal, SIG_DFL);
  syscall(SYS_tgkill, getpid(), this_thread(), signal); /* comes when the handler returns */
}

void tm_alarm_send(pid_t pid)
{
  syscall(SYS_tgkill, pid, pid, SIGALRM);
}

static void on_nothing(int signal)
{
}

static void on_tick(int signal)
{
  int error = errno; /* keeps (1) */
  if (is_elsewhere(tick.thread, signal))
    ;
  else if (atomic_exchange(&tick.is_asked, false))
    tick.on_ask(tick.data); /* may raise a tick of its own, which comes when this returns */
  else
    tick.handler(signal);
  errno = error;
}

void tm_tick_hush(void)
{
  install(SIGPROF, on_nothing);
}

void tm_tick_wrap(void)
{
  struct sigaction now;
  if (sigaction(SIGPROF, NULL, &now) < 0 || now.sa_handler == on_tick)
    return;
  tick.thread = this_thread();
  tick.handler = now.sa_handler;
  install(SIGPROF, on_tick);
}

void tm_tick_raise(void)
{
  syscall(SYS_tgkill, getpid(), this_thread(), SIGPROF);
}

bool tm_tick_claim(void (*on_ask)(void *data), void *data)
{
  if (atomic_exchange(&tick.is_claimed, true))
    return false;
  sigaction(SIGPROF, NULL, &tick.before);
  tick.on_ask = on_ask;
  tick.data = data;
  atomic_store(&tick.is_asked, false);
  return true;
}

/* Without a handler a tick that is on its way would end the process: it goes on to do nothing. */
void tm_tick_release(void)
{
  if (tick.before.sa_handler != SIG_DFL)
    sigaction(SIGPROF, &tick.before, NULL);
  tick.thread = 0;
  atomic_store(&tick.is_claimed, false);
}

void tm_tick_ask(void)
{
  if (!tick.thread)
    return;
  atomic_store(&tick.is_asked, true);
  syscall(SYS_tgkill, getpid(), tick.thread, SIGPROF);
}
