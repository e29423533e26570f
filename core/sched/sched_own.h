/* sched_own.h - between the files of the scheduler: sched.c has the events; dispatch.c hands out,
 * starts workers and recalls, after the events of a turn; node_events.c says what follows from the
 * events of nodes, try_ends.c from the end of a try. */
#ifndef TM_SCHED_SCHED_OWN_H
#define TM_SCHED_SCHED_OWN_H

#include "sched/sched.h"

/* A try that has ended, and has left its worker. */
struct tm_try {
  struct tm_assignment what;
  uint32_t worker, node;
  uint64_t seq;
};
/* The assignment leaves the worker. */
struct tm_try tm_sched_take_try(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq);
/* Likewise, and it waits again, uncounted. */
void tm_sched_put_back(struct tm_sched *s, struct tm_sched_worker *w, uint64_t seq);
/* It has ended, and holds nothing. Frees its slot, and the worker. */
void tm_sched_remove_worker(struct tm_sched *s, struct tm_sched_worker *w, int64_t now_ns);

/* The worker gets nothing more, and ends when what it has begun has ended. Not if it is leaving. */
void tm_sched_release_worker(struct tm_sched *s, struct tm_sched_worker *w);
void tm_sched_kill_worker(struct tm_sched *s, struct tm_sched_worker *w);

bool tm_sched_node_event(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns);

void tm_dispatch_init(struct tm_sched *s);
void tm_dispatch_turn(struct tm_sched *s, int64_t now_ns);
/* Asks for what waits behind the worker's first and was handed out until `until_ns`. */
void tm_dispatch_recall(struct tm_sched *s, struct tm_sched_worker *w, int64_t until_ns);
/* When it has to look at crowded workers; INT64_MAX: not planned. */
int64_t tm_dispatch_look_due(const struct tm_sched *s);
/* Whether another worker should start, when a slot is free. */
bool tm_dispatch_wants_worker(const struct tm_sched *s);

/* Decides what becomes of the mini-batch, or the part. `e`: rows, items, no_halves. Keeps (2). */
void tm_try_ends_badly(struct tm_sched *s, const struct tm_try *t, bool is_lost,
                       const struct tm_sched_event *e, int64_t now_ns);
/* Its node is lost, and it was at a worker there. It counts as a loss, not as a try.
 * True: the last that it may have, so the mini-batch, or the part, has failed. */
bool tm_try_ends_with_node(struct tm_sched *s, const struct tm_try *t);
void tm_try_ends_well(struct tm_sched *s, const struct tm_try *t);
/* An event with `what`. */
bool tm_try_ends_announced(struct tm_sched *s, const struct tm_sched_event *e, int64_t now_ns);

#endif
