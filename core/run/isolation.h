/* isolation.h - which parts of a failed mini-batch are tried next, until its bad items stand alone.
 *
 * Pure: it sees no clock, no file and no worker, and holds no results. What failed is tried in halves; a half that fails, in
 * halves of its own. Parts may run at the same time, and end in any order.
 *
 *  (1) A part is tried once.
 *  (2) At most 2 * k * ceil(log2 n) + 2 tries for k bad items of n: on each of the ceil(log2 n) levels at most k parts hold a
 *      bad item, and only the halves of these are tried on the next.
 *  (3) Never more than max_try. What could not be tried for it is not tested: nobody knows whether it is bad.
 *
 * Caller: begin, which gives the first parts to try; for each that ends fail, which may give further ones, or good; until
 * nothing is open.
 */
#ifndef TM_RUN_ISOLATION_H
#define TM_RUN_ISOLATION_H

#include <stddef.h>
#include <stdint.h>

struct tm_isolation {
  int64_t max_try;
  int64_t tries; /* given out */
  int64_t open;  /* of these, not ended; 0: it is over */
};

/* What follows from a failure. Parts: run/part.h; 0: none. */
struct tm_isolation_next {
  uint64_t tries[2]; /* to be tried */
  size_t tries_len;
  uint64_t bad;      /* one item, that has failed alone */
  uint64_t untested; /* failed in company, and max_try is used up */
};

/* A mini-batch of `items` has failed as a whole. One item needs no trying: it is bad. */
void tm_isolation_begin(struct tm_isolation *x, uint32_t items, int64_t max_try,
                        struct tm_isolation_next *out);
/* A part has failed. */
void tm_isolation_fail(struct tm_isolation *x, uint64_t part, struct tm_isolation_next *out);
/* A part has ended well; or it will not be tried in halves, for another reason. */
void tm_isolation_settle(struct tm_isolation *x);

#endif
