/* progress_timeout.h - how long a step may run without creating or ending a mini-batch.
 *
 * It gets the time and the numbers, and has neither clock nor timer. Only time awake counts
 * (active_clock.h).
 *
 * Caller: init when the step starts; look about ten times a second.
 */
#ifndef TM_SCHED_PROGRESS_TIMEOUT_H
#define TM_SCHED_PROGRESS_TIMEOUT_H

#include <stdint.h>

#include "base/err.h"
#include "record/counts.h"
#include "sched/active_clock.h"

struct tm_progress_timeout {
  int64_t first_ns;  /* first_task_creation_timeout */
  int64_t update_ns; /* progress_update_timeout */
  struct tm_active_clock clock;
  int64_t since_ns; /* awake; when something was last created or ended */
  int64_t created, ended;
};

void tm_progress_timeout_init(struct tm_progress_timeout *p, int64_t first_ns, int64_t update_ns,
                              int64_t now_ns);
/* 0, or TM_ETHRESHOLD with the timeout that was passed. */
int tm_progress_timeout_look(struct tm_progress_timeout *p, const struct tm_counts *c,
                             int64_t now_ns, struct tm_err *err);

#endif
