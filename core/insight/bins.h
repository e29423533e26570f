/* bins.h - sums over time: some channels, each with the same bins of equal width. Pure.
 *
 * When a moment lies behind the last bin, neighbouring bins are merged in pairs until it has one,
 * so the width is 1 ms times a power of two. All amounts are integers. So the same amounts in any
 * order end in the same bins. A channel takes no memory before it has something.
 */
#ifndef TM_INSIGHT_BINS_H
#define TM_INSIGHT_BINS_H

#include <stddef.h>
#include <stdint.h>

#define TM_BIN_NS 1000000 /* the width at first */

struct tm_bin_channel {
  int64_t *at; /* NULL: nothing but zeros */
  size_t cap;
};

struct tm_bins {
  int64_t origin_ns; /* where the first bin begins; earlier moments count in it */
  int64_t width_ns;  /* TM_BIN_NS << shift */
  unsigned shift;
  size_t len, max; /* bins up to the last one that has something; at most */
  size_t channels;
  uint32_t largest; /* bit c: channel c holds the largest amount of a bin rather than the sum */
  struct tm_bin_channel *channel;
};

/* `max`: a power of two. */
void tm_bins_init(struct tm_bins *b, int64_t origin_ns, size_t channels, size_t max);
void tm_bins_release(struct tm_bins *b); /* zeroed: a no-op */
/* `amount` > 0; others add nothing. */
void tm_bins_add(struct tm_bins *b, size_t channel, int64_t at_ns, int64_t amount);
/* Adds the ns of each bin's part of the span. Nothing if the span is empty or negative. */
void tm_bins_add_span(struct tm_bins *b, size_t channel, int64_t from_ns, int64_t to_ns);
/* 0 behind the last bin. */
int64_t tm_bins_at(const struct tm_bins *b, size_t channel, size_t bin);
/* The shift, at least `shift`, with which the moment lies within `max` bins. */
unsigned tm_bins_shift(int64_t origin_ns, int64_t at_ns, size_t max, unsigned shift);
/* Widens the bins until one has the moment. */
void tm_bins_reach(struct tm_bins *b, int64_t at_ns);
/* Merges neighbours until the width is TM_BIN_NS << shift; a smaller shift does nothing. */
void tm_bins_widen(struct tm_bins *b, unsigned shift);
/* Reduces the number of bins at most, for a table of many of them. */
void tm_bins_merge(struct tm_bins *b, size_t max);
/* Adds the bins of `from`, which has the same origin and channels. */
void tm_bins_add_all(struct tm_bins *b, const struct tm_bins *from);
/* Sets all bins of a channel to 0. */
void tm_bins_clear(struct tm_bins *b, size_t channel);

#endif
