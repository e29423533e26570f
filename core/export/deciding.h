/* deciding.h - which try decides what becomes of its mini-batch, from the tries alone, in the order
 * in which they ended.
 *
 * A try of the whole mini-batch decides if run() returned, or if it was the last. If the bad items
 * of a mini-batch are isolated, the try decides after which each item has succeeded or failed for
 * good. A mini-batch of a job that was resumed may be decided again; the last decision counts.
 *
 * It remembers the mini-batches with failed tries that are not decided yet, and no others.
 */
#ifndef TM_EXPORT_DECIDING_H
#define TM_EXPORT_DECIDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_deciding { /* zeroed: ready */
  struct tm_undecided *slots;
  size_t len, cap;
};

struct tm_deciding_try {
  int64_t mini_batch;    /* negative: none, and nothing is decided */
  bool is_part, is_done; /* of a mini-batch; run() returned */
  int64_t items;         /* 0: not known */
  int64_t failed;        /* items that have failed for good */
  int64_t bytes;         /* of the result */
};

struct tm_decision {
  bool has_succeeded; /* run() returned for the mini-batch, or for a part of it */
  int64_t bytes;      /* of its result, of all parts */
};

/* Whether this try decides. */
bool tm_deciding_add(struct tm_deciding *d, const struct tm_deciding_try *t,
                     struct tm_decision *out);
void tm_deciding_release(struct tm_deciding *d);

#endif
