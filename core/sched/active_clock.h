/* active_clock.h - a clock that stops while the supervisor is stopped or suspended, so that
 * timeouts do not fire for that time.
 *
 * Pure. A gap of more than a second between two looks (the supervisor was stopped, the machine was
 * suspended) counts as one second. The wall clock is not used.
 *
 * Its owner can make it stand still, too: a step that has no node is not to blame for that time.
 *
 * Caller: init; look about ten times a second, which returns the time; pause, or let it go on.
 */
#ifndef TM_SCHED_ACTIVE_CLOCK_H
#define TM_SCHED_ACTIVE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct tm_active_clock {
  int64_t looked_ns; /* monotonic */
  int64_t now_ns;    /* awake, since init */
  bool is_paused;
};

void tm_active_clock_init(struct tm_active_clock *a, int64_t mono_ns);
void tm_active_clock_pause(struct tm_active_clock *a, bool is_paused, int64_t mono_ns);
int64_t tm_active_clock_look(struct tm_active_clock *a, int64_t mono_ns);

#endif
