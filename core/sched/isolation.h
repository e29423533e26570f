/* isolation.h - which parts of a failed mini-batch to try next, until its bad items are isolated.
 *
 * Pure: no clock, no file, no worker, and no results. A failed part is tried in halves; a half that
 * fails, in halves of its own. Parts may run at the same time, and end in any order.
 *
 *  (1) A part is tried once.
 *  (2) At most 2 * k * ceil(log2 n) + 2 tries for k bad items of n: on each of the ceil(log2 n)
 *      levels at most k parts hold a bad item, and only their halves are tried on the next.
 *  (3) Never more than max_try. What could not be tried because of that is untested: nobody knows
 *      whether it is bad.
 *
 * Caller: begin, which gives the first parts to try; for each part that ends, fail, which may give
 * further ones, or settle; until nothing is open.
 */
#ifndef TM_SCHED_ISOLATION_H
#define TM_SCHED_ISOLATION_H

#include <stddef.h>
#include <stdint.h>

struct tm_isolation {
  int64_t max_try;
  int64_t tries; /* started */
  int64_t open;  /* of these, running; 0: the search is over */
};

/* What follows from a failure. Parts: record/part.h; 0: none. */
struct tm_isolation_next {
  uint64_t tries[2]; /* to be tried */
  size_t tries_len;
  uint64_t bad;      /* one item that has failed alone */
  uint64_t untested; /* failed together, and max_try is used up */
};

/* A mini-batch of `items` has failed as a whole. A single item is bad without further tries. */
void tm_isolation_begin(struct tm_isolation *x, uint32_t items, int64_t max_try,
                        struct tm_isolation_next *out);
/* A part has failed. */
void tm_isolation_fail(struct tm_isolation *x, uint64_t part, struct tm_isolation_next *out);
/* A part has succeeded; or it will not be tried in halves, for another reason. */
void tm_isolation_settle(struct tm_isolation *x);

#endif
