/* backoff.h - how long to wait before something that failed is done again: a delay that doubles, with jitter.
 *
 * Pure: chance comes in as a seed; the same seed gives the same delay. Jitter takes off up to a quarter, so that what failed
 * at one moment does not come back at one moment, and no delay is longer than is said.
 */
#ifndef TM_RUN_BACKOFF_H
#define TM_RUN_BACKOFF_H

#include <stdint.h>

#include "agent/message.h"

struct tm_backoff {
  int64_t first_ns; /* 0: none at all */
  int64_t max_ns;
};

/* After `failures` in a row, from 1; 0 for none. */
int64_t tm_backoff_delay(const struct tm_backoff *b, int64_t failures, uint64_t seed);

/* Before the next try of a mini-batch whose try number `tries` has failed with `status`. `given_ns`: retry_delay; negative: it
 * was not given, and only what was lost with its worker waits. */
int64_t tm_backoff_retry(int64_t given_ns, enum tm_status status, uint32_t tries, uint64_t seed);

#endif
