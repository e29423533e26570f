/* awake.h - time in which the supervisor was awake: what somebody else may be blamed for having let pass.
 *
 * Pure. Of a longer gap between two looks (the supervisor was stopped, the machine was suspended) a second is taken. The wall
 * clock has no part in it.
 *
 * Caller: init; look about ten times a second, whose answer is the time.
 */
#ifndef TM_RUN_AWAKE_H
#define TM_RUN_AWAKE_H

#include <stdint.h>

struct tm_awake {
  int64_t looked_ns; /* monotonic */
  int64_t now_ns;    /* awake, since init */
};

void tm_awake_init(struct tm_awake *a, int64_t mono_ns);
int64_t tm_awake_look(struct tm_awake *a, int64_t mono_ns);

#endif
