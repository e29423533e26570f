/* signals.h - signals of a command that has a terminal, and an alarm.
 *
 * Handlers run on the thread that first caught a signal, whichever thread it reaches, and may do
 * only what is async-signal-safe. A program has one set of handlers.
 */
#ifndef TM_CLI_TERMINAL_SIGNALS_H
#define TM_CLI_TERMINAL_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on `signal` calls on_signal. At most seven signals, handled one at a time; catching one
 * again replaces its function. System calls are restarted, unless the next function says otherwise.
 * */
void tm_signals_catch(int signal, void (*on_signal)(int signal, void *data), void *data);
/* The same, but system calls are always restarted. */
void tm_signals_watch(int signal, void (*on_signal)(int signal, void *data), void *data);
/* From now on, a caught signal makes a waiting system call end with EINTR, or restarts it again. */
void tm_signals_break_calls(bool does_break);
/* Whether the signal was ignored when the program started (nohup). */
bool tm_signals_is_ignored(int signal);
/* Restores what caught signals did before (a signal that was ignored gets its default action), and
 * stops SIGALRM. */
void tm_signals_release(void);
/* In on_signal: restores what `signal` did before and sends it again. So a second Ctrl-C ends the
 * program, and a sanitizer adds its report on a crash. */
void tm_signals_surrender(int signal);
/* SIGALRM first_ns from now, and then every again_ns; first_ns 0: stops it. */
void tm_signals_alarm(int64_t first_ns, int64_t again_ns);

#endif
