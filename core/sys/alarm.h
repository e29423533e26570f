/* alarm.h - two signals that are handled by one thread alone, whichever thread they reach: an alarm, and the ticks of a
 * profiler (SIGPROF).
 *
 * For a program, never for a library in a host: dispositions belong to the process. The thread that calls tm_alarm_catch()
 * or tm_tick_hush() first is the one.
 */
#ifndef TM_SYS_ALARM_H
#define TM_SYS_ALARM_H

#include <stdbool.h>
#include <sys/types.h>

/* From now on `signal` calls on_alarm, within a signal handler on this thread: it may do what is async-signal-safe. One signal a
 * process; another takes its place. System calls go on by themselves. */
void tm_alarm_catch(int signal, void (*on_alarm)(void *data), void *data);
/* What was caught has its default again. */
void tm_alarm_release(void);
/* SIGALRM for the main thread of another process. */
void tm_alarm_send(pid_t pid);

/* SIGPROF does nothing: one that comes late, after a profiler has been stopped, must not end the process. */
void tm_tick_hush(void);
/* What handles SIGPROF now is called on this thread only from here on; ticks that reach another thread are passed on. */
void tm_tick_wrap(void);
/* SIGPROF for this thread; its handler has run when this returns. Async-signal-safe. */
void tm_tick_raise(void);
/* From here on SIGPROF is one user's: false, somebody has it. tm_tick_ask() calls `on_ask` then. */
bool tm_tick_claim(void (*on_ask)(void *data), void *data);
/* A handler that was there before has it again. */
void tm_tick_release(void);
/* From any thread, also from a signal handler, once tm_tick_wrap() was called: on_ask is called within a handler on that thread. */
void tm_tick_ask(void);

#endif
