/* signals.h - signals of a command that has a terminal, and an alarm.
 *
 * Handlers run on the thread that caught the signal first, whichever thread it reaches, and may do what is async-signal-safe. A
 * program has one set of them.
 */
#ifndef TM_CLI_SIGNALS_H
#define TM_CLI_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on `signal` calls on_signal. Seven signals, handled one at a time; catching one again replaces what it called. System calls go on by
 * themselves, unless the next one says otherwise. */
void tm_signals_catch(int signal, void (*on_signal)(void *data), void *data);
/* The same, where system calls go on by themselves in any case. */
void tm_signals_watch(int signal, void (*on_signal)(void *data), void *data);
/* From here on a system call that waits ends with EINTR when one of what was caught comes, or goes on again. */
void tm_signals_break_calls(bool does_break);
/* Whoever started the program wants the signal to be ignored (nohup). */
bool tm_signals_is_ignored(int signal);
/* What was caught has its default again, and no SIGALRM comes any more. */
void tm_signals_release(void);
/* From within on_signal: `signal` has its default again, and is sent once more: a second Ctrl-C ends the program. */
void tm_signals_surrender(int signal);
/* SIGALRM first_ns from now, and then every again_ns; first_ns 0: no more. */
void tm_signals_alarm(int64_t first_ns, int64_t again_ns);

#endif
