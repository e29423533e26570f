/* alarm.h - two signals that are handled by one thread alone, whichever thread they reach: an alarm, and the ticks of a
 * profiler (SIGPROF).
 *
 * For a program, never for a library in a host: dispositions belong to the process. The thread that calls tm_alarm_catch()
 * or tm_tick_hush() first is the one.
 */
#ifndef TM_SYS_ALARM_H
#define TM_SYS_ALARM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on `signal` calls on_alarm, within a signal handler on this thread: it may do what is async-signal-safe. Five
 * signals a process; catching one again replaces what it called. System calls go on by themselves, unless the next one says
 * otherwise. */
void tm_alarm_catch(int signal, void (*on_alarm)(void *data), void *data);
/* From here on a system call that waits ends with EINTR when one of what was caught comes, or goes on again. On a thread whose
 * code stands that: who reads a terminal for a user's Lua, say. */
void tm_alarm_break_calls(bool does_break);
/* Whoever started this process wants the signal to be ignored (nohup). */
bool tm_alarm_is_ignored(int signal);
/* SIGALRM for this process, first_ns from now and then every again_ns; first_ns 0: no more. */
void tm_alarm_start(int64_t first_ns, int64_t again_ns);
/* What was caught has its default again, and no SIGALRM comes any more. */
void tm_alarm_release(void);
/* From within on_alarm: `signal` has its default again, and is sent once more: a second Ctrl-C ends the program. */
void tm_alarm_surrender(int signal);
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
