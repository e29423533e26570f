/* awake.h - a clock that stops while the supervisor is stopped or suspended, so that timeouts do
 * not fire for that time.
 *
 * Pure. A gap of more than a second between two looks (the supervisor was stopped, the machine was
 * suspended) counts as one second. The wall clock is not used.
 *
 * Caller: init; look about ten times a second, which returns the time.
 */
#ifndef TM_SCHED_AWAKE_H
#define TM_SCHED_AWAKE_H

#include <stdint.h>

struct tm_awake {
  int64_t looked_ns; /* monotonic */
  int64_t now_ns;    /* awake, since init */
};

void tm_awake_init(struct tm_awake *a, int64_t mono_ns);
int64_t tm_awake_look(struct tm_awake *a, int64_t mono_ns);

#endif
