/* mini_batch_states.h - the state of each mini-batch: two bits each (core/README.md: invariant 11).
 * Zero-initialised is empty: all open. A failed one may be marked as uncounted: its rows could not
 * be counted, and it counts as one item. */
#ifndef TM_COMMIT_MINI_BATCH_STATES_H
#define TM_COMMIT_MINI_BATCH_STATES_H

#include <stdint.h>

#include "commit/journal.h"

enum tm_mini_batch_state { TM_MINI_BATCH_OPEN, TM_MINI_BATCH_COMMITTED, TM_MINI_BATCH_FAILED };

struct tm_mini_batch_states {
  uint64_t *words; /* 32 mini-batches each */
  size_t len, cap;
};

enum tm_mini_batch_state tm_mini_batch_states_get(
    const struct tm_mini_batch_states *f, uint64_t index); /* TM_MINI_BATCH_OPEN if never set */
void tm_mini_batch_states_put(struct tm_mini_batch_states *f, uint64_t index,
                              enum tm_mini_batch_state state);
bool tm_mini_batch_states_is_uncounted(const struct tm_mini_batch_states *f, uint64_t index);
void tm_mini_batch_states_put_failed(struct tm_mini_batch_states *f,
                                     const struct tm_record *r);  /* as in the record */
void tm_mini_batch_states_reopen(struct tm_mini_batch_states *f); /* reopens every failed one */
void tm_mini_batch_states_release(struct tm_mini_batch_states *f);

#endif
