/* quantiles.c - see quantiles.h. Values below 32 have a bin each. Of a larger one, the position of
 * its highest bit and the five bits behind it select the bin. */
#include "insight/quantiles.h"

#include "insight/sums.h"

#define FINE      32 /* bins of a power of two */
#define FINE_BITS 5

size_t tm_quantiles_bin(int64_t value)
{
  if (value < FINE)
    return value > 0 ? (size_t)value : 0;
  unsigned shift = 63 - (unsigned)__builtin_clzll((uint64_t)value) - FINE_BITS;
  return (size_t)(shift + 1) * FINE + (size_t)(value >> shift) % FINE;
}

int64_t tm_quantiles_first(size_t bin)
{
  if (bin < FINE)
    return (int64_t)bin;
  if (bin >= TM_QUANTILE_BINS)
    return INT64_MAX;
  return (int64_t)(FINE + bin % FINE) << (bin / FINE - 1);
}

void tm_quantiles_add(struct tm_quantiles *q, int64_t value)
{
  value = tm_larger(value, 0);
  q->min = q->count > 0 ? tm_smaller(q->min, value) : value;
  q->max = tm_larger(q->max, value);
  q->count++;
  tm_sum_add(&q->sum, value);
  q->bins[tm_quantiles_bin(value)]++;
}

int64_t tm_quantiles_at(const struct tm_quantiles *q, double share)
{
  double wanted = share * (double)q->count;
  int64_t rank = wanted < 1 ? 1 : wanted < (double)q->count ? (int64_t)wanted : q->count;
  rank += (double)rank < wanted && rank < q->count; /* rounded up */

  for (size_t bin = 0; bin < TM_QUANTILE_BINS; bin++) {
    rank -= q->bins[bin];
    if (q->count > 0 && rank <= 0)
      return tm_smaller(bin + 1 < TM_QUANTILE_BINS ? tm_quantiles_first(bin + 1) - 1 : q->max,
                        q->max);
  }
  return q->max;
}
