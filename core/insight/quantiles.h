/* quantiles.h - how a set of durations is distributed: a histogram on a logarithmic scale. Pure.
 *
 * A power of two is divided into 32 bins, so a quantile is at most 1/32 too high. Its size does not
 * depend on the number of values, and the order of adding does not matter.
 */
#ifndef TM_INSIGHT_QUANTILES_H
#define TM_INSIGHT_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

#define TM_QUANTILE_BINS 1888 /* of values up to INT64_MAX */

struct tm_quantiles { /* zeroed: no values */
  int64_t count, sum, min, max;
  int64_t bins[TM_QUANTILE_BINS];
};

void tm_quantiles_add(struct tm_quantiles *q, int64_t value); /* below 0 counts as 0 */
/* The smallest bin's last value that at least `share` of all values do not exceed, at most `max`;
 * 0: there are no values. `share`: 0.5 is the median. */
int64_t tm_quantiles_at(const struct tm_quantiles *q, double share);
/* The bin of a value, and the first value of a bin. */
size_t tm_quantiles_bin(int64_t value);
int64_t tm_quantiles_first(size_t bin);

#endif
