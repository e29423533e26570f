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
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  pid_t thread;
  int signal;
  void (*on_alarm)(void *data);
  void *data;
} caught;

static struct {
  pid_t thread;
  void (*handler)(int signal);
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
  if (!is_elsewhere(caught.thread, signal))
    caught.on_alarm(caught.data);
  errno = error;
}

void tm_alarm_catch(int signal, void (*on_alarm)(void *data), void *data)
{
  tm_alarm_release();
  caught.thread = this_thread();
  caught.on_alarm = on_alarm;
  caught.data = data;
  caught.signal = signal;
  install(signal, on_caught);
}

void tm_alarm_release(void)
{
  if (caught.signal != 0)
    install(caught.signal, SIG_DFL);
  caught.signal = 0;
}

void tm_alarm_surrender(void)
{
  int signal = caught.signal;
  install(signal, SIG_DFL);
  syscall(SYS_tgkill, getpid(), caught.thread, signal); /* comes when the handler returns */
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
  if (!is_elsewhere(tick.thread, signal))
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
