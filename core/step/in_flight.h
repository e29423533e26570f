/* in_flight.h - what a step knows of the assignments that a worker holds and has not answered. The
 * scheduler has the assignments themselves (sched/window.h).
 *
 * Each worker has a ring (base/ring.h). Caller: tm_in_flight_init(); tm_in_flight_add() for each
 * assignment that is handed out, in order; tm_ring_find(); tm_ring_remove() when one is over;
 * tm_in_flight_release().
 */
#ifndef TM_STEP_IN_FLIGHT_H
#define TM_STEP_IN_FLIGHT_H

#include "base/buf.h"
#include "base/ring.h"
#include "commit/manifest.h"
#include "sched/assignment.h"

/* tm_item_describe_first() */
struct tm_first_item {
  uint32_t len, cap; /* bytes */
  char bytes[];
};

/* A job may have 100,000 workers, and each holds some: without padding. */
struct tm_in_flight {
  uint64_t seq;         /* ring.h */
  uint64_t index, part; /* these six are copied from the assignment */
  uint32_t try, picked, search, rows;
  uint32_t dataset;
  uint32_t items; /* 0: rows of a table that are not counted yet */
  int64_t manifest_at;
  struct tm_first_item *first_item; /* the memory is used again; NULL only in a free place */
  bool has_keys;                    /* first_item: the keys of a group */
  bool is_uncounted; /* it has failed, and its rows could not be counted: `items` is 1 */
  bool is_announced; /* it has left the worker: announced.h */
};

void tm_in_flight_init(struct tm_ring *held);
void tm_in_flight_release(struct tm_ring *held);
/* Valid until the next add. `scratch`: its contents are lost. */
struct tm_in_flight *tm_in_flight_add(struct tm_ring *held, const struct tm_assignment *what,
                                      const struct tm_manifest_entry *entry,
                                      struct tm_buf *scratch);

#endif
