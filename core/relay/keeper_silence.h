/* keeper_silence.h - what a relay does about the silence of its keeper: it asks, reports to the
 * supervisor, and ends the node at the supervisor's timeout.
 *
 * Pure. Caller: init when the keeper has introduced itself; heard for each message of the keeper;
 * look about five times a second, and do what it says.
 */
#ifndef TM_RELAY_KEEPER_SILENCE_H
#define TM_RELAY_KEEPER_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "sched/silence.h"

/* Silence that is reported; half of the limit if that is shorter. */
#define TM_KEEPER_SILENCE_NOTE_NS (2 * INT64_C(1000000000))

struct tm_keeper_silence {
  struct tm_silence silence;
  bool is_on, is_reported;
};

struct tm_keeper_doing {
  bool asks;         /* send PING */
  bool reports;      /* send KEEPER_SILENT with silent_ns; 0: the keeper has answered again */
  bool is_over;      /* report silent_ns, and end the node */
  int64_t silent_ns; /* for how long nothing has come */
};

void tm_keeper_silence_init(struct tm_keeper_silence *s, int64_t mono_ns);
void tm_keeper_silence_heard(struct tm_keeper_silence *s);
/* `limit_ns`: the supervisor's timeout; 0: not known, so nothing is over. One below a second counts
 * as a second: the keeper was asked in that time. */
struct tm_keeper_doing tm_keeper_silence_look(struct tm_keeper_silence *s, int64_t limit_ns,
                                              int64_t mono_ns);

#endif
