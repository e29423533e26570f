/* backoff.h - how long to wait before a retry: a delay that doubles, with jitter.
 *
 * Pure: randomness comes in as a seed; the same seed gives the same delay. Jitter subtracts up to a
 * quarter, so that things that failed together are not retried together, and no delay exceeds the
 * stated one.
 */
#ifndef TM_SCHED_BACKOFF_H
#define TM_SCHED_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

struct tm_backoff {
  int64_t first_ns; /* 0: no delay at all */
  int64_t max_ns;
};

/* After `failures` consecutive failures, from 1; 0 if there are none. */
int64_t tm_backoff_delay(const struct tm_backoff *b, int64_t failures, uint64_t seed);

/* Before the next try of a mini-batch whose try number `tries` has failed. `given_ns`: retry_delay;
 * negative: not given, and only a try that was lost with its worker (`is_lost`) waits. */
int64_t tm_backoff_retry(int64_t given_ns, bool is_lost, uint32_t tries, uint64_t seed);

#endif
