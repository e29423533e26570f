/* sums.h - sums of amounts that are not negative, but may be anything: rows of files are not
 * trusted. A sum stops at INT64_MAX, so the order of adding does not matter. Pure. */
#ifndef TM_INSIGHT_SUMS_H
#define TM_INSIGHT_SUMS_H

#include <stdint.h>

static inline int64_t tm_sum(int64_t a, int64_t b)
{
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline void tm_sum_add(int64_t *sum, int64_t amount)
{
  if (amount > 0)
    *sum = tm_sum(*sum, amount);
}

static inline int64_t tm_larger(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static inline int64_t tm_smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

#endif
