/* gauges.h - a quantity that is measured now and then, over time. Pure. What was not measured is a
 * gap, not zero. Bins and their merging are those of bins.h. */
#ifndef TM_INSIGHT_GAUGES_H
#define TM_INSIGHT_GAUGES_H

#include <stdbool.h>

#include "insight/bins.h"

struct tm_gauge {      /* zeroed, then tm_gauge_init() */
  struct tm_bins bins; /* channels: sum, count, largest */
};

void tm_gauge_init(struct tm_gauge *g, int64_t origin_ns, size_t max);
void tm_gauge_release(struct tm_gauge *g);
void tm_gauge_add(struct tm_gauge *g, int64_t at_ns, int64_t value); /* >= 0 */
/* Adds a part of a value that is the sum of several, all of one moment. `sum`: of the parts so far;
 * `is_first`: this is the first of them. */
void tm_gauge_add_part(struct tm_gauge *g, int64_t at_ns, int64_t part, int64_t sum, bool is_first);
/* The mean and the largest of a bin; false: a gap. */
bool tm_gauge_at(const struct tm_gauge *g, size_t bin, double *mean, int64_t *largest);

#endif
