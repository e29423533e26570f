/* running_call.h - whatever runs now can be asked to stop: a slot for one call in C that may take
 * long, such as a model that runs or a picture that is decoded.
 *
 *   tm_running_call_arm(&slot, stop, data);      on the thread that makes the call
 *   ... the call ...
 *   tm_running_call_disarm(&slot);               when it has returned
 *
 *   tm_running_call_stop(&slot)                  in a signal handler, on the same thread: calls
 *                                                stop(data) if something is armed; may be repeated
 *
 * stop() runs within a signal handler, and may do only what is async-signal-safe: set a flag that
 * the call looks at, or make one call of a library that is documented to do no more. It does not
 * end the call; it asks. So a call that cannot be divided still ends late.
 *
 * A slot belongs to one thread: the one that arms it and handles the signal. So a stop() never runs
 * beside the end of its call, and `data` need live no longer than that. A signal that arrives
 * before the slot is armed stops nothing: whoever arms it asks afterwards whether one has come
 * (lua/bind/stoppable.h does both). Calls do not nest.
 */
#ifndef TM_SYS_RUNNING_CALL_H
#define TM_SYS_RUNNING_CALL_H

#include <stdatomic.h>
#include <stdint.h>

typedef void (*tm_running_call_fn)(void *data);

struct tm_running_call { /* zeroed: nothing is armed */
  _Atomic(tm_running_call_fn) stop;
  _Atomic(void *) data;
  /* becomes 1 when a call is armed, for another thread or process that decides whether to send the
   * signal; or NULL */
  _Atomic uint64_t *shown;
};

void tm_running_call_arm(struct tm_running_call *slot, tm_running_call_fn stop, void *data);
void tm_running_call_disarm(struct tm_running_call *slot);
/* Async-signal-safe, if `stop` is. */
void tm_running_call_stop(struct tm_running_call *slot);

/* A `stop` for calls that look at a flag: sets `flag`, an atomic_bool. */
void tm_running_call_set_flag(void *flag);

#endif
