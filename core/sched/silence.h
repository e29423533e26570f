/* silence.h - how long a process that should answer has been silent, and what follows.
 *
 * Pure. Only silence counts that could have been heard: time in which this process was stopped or
 * suspended does not (active_clock.h), and a look that comes more than a second late does not
 * judge. What arrived meanwhile is read before the next look.
 *
 * Caller: init; heard for whatever comes; look about ten times a second.
 */
#ifndef TM_SCHED_SILENCE_H
#define TM_SCHED_SILENCE_H

#include <stdint.h>

#include "sched/active_clock.h"

struct tm_silence {
  struct tm_active_clock clock;
  int64_t limit_ns;
  int64_t heard_ns, asked_ns; /* awake */
};

enum tm_silence_verdict {
  TM_SILENCE_NONE,
  TM_SILENCE_ASK,  /* a second, or a third of limit_ns, has passed since the last time: ask */
  TM_SILENCE_OVER, /* nothing came for limit_ns */
};

void tm_silence_init(struct tm_silence *s, int64_t limit_ns, int64_t mono_ns);
void tm_silence_heard(struct tm_silence *s);
enum tm_silence_verdict tm_silence_look(struct tm_silence *s, int64_t mono_ns);
/* For how long nothing has come, at the last look. */
int64_t tm_silence_ns(const struct tm_silence *s);

#endif
