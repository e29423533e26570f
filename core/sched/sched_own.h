/* sched_own.h - between the files of the scheduler: dispatch.c hands out, starts workers and
 * recalls, after the events of a turn. */
#ifndef TM_SCHED_SCHED_OWN_H
#define TM_SCHED_SCHED_OWN_H

#include "sched/sched.h"

void tm_dispatch_init(struct tm_sched *s);
void tm_dispatch_turn(struct tm_sched *s, int64_t now_ns);
/* Asks for what waits behind the worker's first and was handed out until `until_ns`. */
void tm_dispatch_recall(struct tm_sched *s, struct tm_sched_worker *w, int64_t until_ns);
/* When it has to look at crowded workers; INT64_MAX: not planned. */
int64_t tm_dispatch_look_due(const struct tm_sched *s);
/* Whether another worker should start, when a slot is free. */
bool tm_dispatch_wants_worker(const struct tm_sched *s);

#endif
