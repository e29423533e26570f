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
/* The worker has ended because the step is over. Reports the try that it had begun, if it had: as
 * canceled, for nothing is recorded of it, and a later session begins the mini-batch again. */
void tm_failed_tries_cut_off(struct tm_worker *w, const struct tm_ended *ended, const char *words);
/* How the call ended that a worker was in. */
enum tm_status tm_failed_tries_status(const struct tm_ended *ended);

#endif
