/* alarm.c - see alarm.h.
 *
 * What a handler needs is in static memory, because a signal carries no pointer. It is written
 * before the handler is installed; only the handler reads it.
 *
 *  (1) A handler keeps errno.
 *  (2) On another thread a handler only passes the signal on: its data belongs to one thread.
 */
#include "sys/alarm.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  pid_t thread;
  int signal; /* 0: none */
  void (*on_alarm)(void *data);
  void *data;
} caught;

static struct {
  pid_t thread;
  void (*handler)(int signal);
  atomic_bool is_claimed, is_asked;
  void (*on_ask)(void *data);
  void *data;
  struct sigaction before; /* what handled SIGPROF before the claim */
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

static void install(int signal, void (*handler)(int))
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

static void on_caught(int signal)
{
  int error = errno; /* keeps (1) */
  if (signal == caught.signal && !is_elsewhere(caught.thread, signal))
    caught.on_alarm(caught.data);
  errno = error;
}

void tm_alarm_catch(int signal, void (*on_alarm)(void *data), void *data)
{
  tm_alarm_release();
  caught.thread = this_thread();
  caught.signal = signal;
  caught.on_alarm = on_alarm;
  caught.data = data;
  install(signal, on_caught);
}

void tm_alarm_release(void)
{
  if (caught.signal != 0)
    install(caught.signal, SIG_DFL);
  caught.signal = 0;
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
    tick.on_ask(tick.data); /* if on_ask raises a tick, it arrives when this returns */
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

/* A tick that is still on its way would end the process if no handler were installed, so the
 * handler that does nothing stays. */
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
