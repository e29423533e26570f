/* fates.h - the state of each mini-batch: two bits each (core/README.md: invariant 11).
 * Zero-initialised is empty: all open. A failed one may be marked as uncounted: its rows could not
 * be counted, and it counts as one item. */
#ifndef TM_COMMIT_FATES_H
#define TM_COMMIT_FATES_H

#include <stdint.h>

#include "commit/journal.h"

enum tm_fate { TM_FATE_OPEN, TM_FATE_COMMITTED, TM_FATE_FAILED };

struct tm_fates {
  uint64_t *words; /* 32 mini-batches each */
  size_t len, cap;
};

enum tm_fate tm_fates_get(const struct tm_fates *f, uint64_t index); /* TM_FATE_OPEN if never set */
void tm_fates_put(struct tm_fates *f, uint64_t index, enum tm_fate fate);
bool tm_fates_is_uncounted(const struct tm_fates *f, uint64_t index);
void tm_fates_put_failed(struct tm_fates *f, const struct tm_record *r); /* as in the record */
void tm_fates_reopen(struct tm_fates *f); /* reopens every failed one */
void tm_fates_release(struct tm_fates *f);

#endif
