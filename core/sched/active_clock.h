/* active_clock.h - a clock that stops while the supervisor is stopped or suspended, so that
 * timeouts do not fire for that time.
 *
 * Pure. A gap of more than a second between two looks (the supervisor was stopped, the machine was
 * suspended) counts as one second. The wall clock is not used.
 *
 * Caller: init; look about ten times a second, which returns the time.
 */
#ifndef TM_SCHED_ACTIVE_CLOCK_H
#define TM_SCHED_ACTIVE_CLOCK_H

#include <stdint.h>

struct tm_active_clock {
  int64_t looked_ns; /* monotonic */
  int64_t now_ns;    /* awake, since init */
};

void tm_active_clock_init(struct tm_active_clock *a, int64_t mono_ns);
int64_t tm_active_clock_look(struct tm_active_clock *a, int64_t mono_ns);

#endif
