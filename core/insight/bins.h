/* bins.h - sums over time: some channels, each with the same bins of equal width. Pure.
 *
 * When a moment lies behind the last bin, neighbouring bins are merged in pairs until it has one, so
 * the width is 1 ms times a power of two. All amounts are integers. So the same amounts in any order
 * end in the same bins.
 */
#ifndef TM_INSIGHT_BINS_H
#define TM_INSIGHT_BINS_H

#include <stddef.h>
#include <stdint.h>

#define TM_BIN_NS 1000000 /* the width at first */

struct tm_bins {
  int64_t origin_ns; /* where the first bin begins; earlier moments count in it */
  int64_t width_ns;
  size_t len, max; /* bins that have something; at most */
  size_t channels;
  int64_t *at; /* [channel * max + bin] */
};

/* `max`: even. */
void tm_bins_init(struct tm_bins *b, int64_t origin_ns, size_t channels, size_t max);
void tm_bins_release(struct tm_bins *b); /* zeroed: a no-op */
void tm_bins_add(struct tm_bins *b, size_t channel, int64_t at_ns, int64_t amount);
/* Adds the ns of each bin's part of the span. Nothing if the span is empty or negative. */
void tm_bins_add_span(struct tm_bins *b, size_t channel, int64_t from_ns, int64_t to_ns);
/* 0 behind the last bin. */
int64_t tm_bins_at(const struct tm_bins *b, size_t channel, size_t bin);
/* Halves the number of bins at most, for a table of many of them. */
void tm_bins_merge(struct tm_bins *b, size_t max);
/* Adds the bins of `from`, which has the same origin and channels. */
void tm_bins_add_all(struct tm_bins *b, const struct tm_bins *from);

#endif
