/* failed_tries.h - tries that have failed: what is recorded and reported of them. The scheduler
 * decides whether the mini-batch is tried again. Part of the supervisor, on its thread.
 */
#ifndef TM_STEP_FAILED_TRIES_H
#define TM_STEP_FAILED_TRIES_H

#include "step/attempt.h"

/* The worker has reported that the try failed, or its result cannot count. */
void tm_failed_tries_end(struct tm_worker *w, struct tm_in_flight *held, struct tm_answer *a);
/* The scheduler has decided what becomes of the mini-batch: records and reports that, and removes
 * it from what the worker holds. */
void tm_failed_tries_settle(struct tm_supervisor *s, const struct tm_sched_action *action,
                            const struct tm_try_end *end);
/* How the call ended that a worker was in. */
enum tm_status tm_failed_tries_status(const struct tm_ended *ended);

#endif
