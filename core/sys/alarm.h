/* alarm.h - two signals that one thread alone handles, whichever thread they reach: an alarm, and
 * the ticks of a profiler (SIGPROF).
 *
 * Signal dispositions belong to the process. So the alarm is only for programs; in a host, SIGPROF
 * is used only while tm_tick_claim() has it. The thread that calls tm_alarm_catch() or
 * tm_tick_wrap() is the one that handles the signal.
 */
#ifndef TM_SYS_ALARM_H
#define TM_SYS_ALARM_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on `signal` calls on_alarm on this thread, from a signal handler: it may only do what is
 * async-signal-safe. A process has one such signal; a second call replaces the first. Interrupted
 * system calls restart. */
void tm_alarm_catch(int signal, void (*on_alarm)(void *data), void *data);
/* Restores the default action of the signal that was caught. */
void tm_alarm_release(void);
/* Sends SIGALRM to the main thread of another process. */
void tm_alarm_send(pid_t pid);

/* Makes SIGPROF do nothing, so that a tick that arrives after a profiler has stopped does not end
 * the process. */
void tm_tick_hush(void);
/* From here on, the current handler of SIGPROF runs on this thread only; ticks that reach another
 * thread are passed on. */
void tm_tick_wrap(void);
/* Sends SIGPROF to this thread; its handler has run when this returns. Async-signal-safe. */
void tm_tick_raise(void);
/* Reserves SIGPROF for one user, whose `on_ask` tm_tick_ask() calls. False: it is taken. */
bool tm_tick_claim(void (*on_ask)(void *data), void *data);
/* Restores the handler that was installed before the claim. */
void tm_tick_release(void);
/* Makes the claiming thread call on_ask within a handler. Any thread and any signal handler may
 * call this, once tm_tick_wrap() has been called. */
void tm_tick_ask(void);

#endif
