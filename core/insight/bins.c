/* bins.c - see bins.h. */
#include "insight/bins.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "insight/sums.h"

void tm_bins_init(struct tm_bins *b, int64_t origin_ns, size_t channels, size_t max)
{
  tm_require(max > 0 && (max & (max - 1)) == 0 && channels <= 32);
  *b = (struct tm_bins) { .origin_ns = origin_ns,
                          .width_ns = TM_BIN_NS,
                          .max = max,
                          .channels = channels,
                          .channel = tm_xcalloc(channels, sizeof(struct tm_bin_channel)) };
}

void tm_bins_release(struct tm_bins *b)
{
  for (size_t c = 0; c < b->channels; c++)
    free(b->channel[c].at);
  free(b->channel);
  *b = (struct tm_bins) { 0 };
}

/* The bin of a moment at a width, in a time that does not depend on a division by a variable. */
static size_t bin_of(int64_t origin_ns, int64_t at_ns, unsigned shift)
{
  int64_t after;
  if (at_ns <= origin_ns)
    return 0;
  if (__builtin_sub_overflow(at_ns, origin_ns, &after))
    after = INT64_MAX;
  return (size_t)((after / TM_BIN_NS) >> shift);
}

unsigned tm_bins_shift(int64_t origin_ns, int64_t at_ns, size_t max, unsigned shift)
{
  while (bin_of(origin_ns, at_ns, shift) >= max)
    shift++;
  return shift;
}

static void join(const struct tm_bins *b, size_t channel, size_t to, int64_t amount)
{
  int64_t *sum = &b->channel[channel].at[to];
  *sum = (b->largest >> channel & 1) ? tm_larger(*sum, amount) : tm_sum(*sum, amount);
}

static void merge_pairs(struct tm_bins *b)
{
  for (size_t c = 0; c < b->channels; c++) {
    struct tm_bin_channel *channel = &b->channel[c];
    size_t len = tm_smaller((int64_t)b->len, (int64_t)channel->cap);
    for (size_t i = 0; i < len; i++) {
      int64_t amount = channel->at[i];
      channel->at[i] = 0;
      join(b, c, i / 2, amount);
    }
  }
  b->len = (b->len + 1) / 2;
  b->shift++;
  b->width_ns = (int64_t)((uint64_t)TM_BIN_NS << b->shift);
}

void tm_bins_widen(struct tm_bins *b, unsigned shift)
{
  while (b->shift < shift)
    merge_pairs(b);
}

void tm_bins_merge(struct tm_bins *b, size_t max)
{
  tm_require(max > 0 && (max & (max - 1)) == 0);
  b->max = max;
  while (b->len > max)
    merge_pairs(b);
}

void tm_bins_reach(struct tm_bins *b, int64_t at_ns)
{
  tm_bins_widen(b, tm_bins_shift(b->origin_ns, at_ns, b->max, b->shift));
}

/* The bin of a moment; makes it. */
static size_t place(struct tm_bins *b, int64_t at_ns)
{
  size_t bin = bin_of(b->origin_ns, at_ns, b->shift);
  if (bin >= b->max) {
    tm_bins_reach(b, at_ns);
    bin = bin_of(b->origin_ns, at_ns, b->shift);
  }
  if (bin >= b->len)
    b->len = bin + 1;
  return bin;
}

static void reserve(struct tm_bins *b, size_t channel, size_t len)
{
  struct tm_bin_channel *c = &b->channel[channel];
  size_t had = c->cap;
  if (len <= had)
    return;
  tm_array_reserve((void **)&c->at, len, &c->cap, sizeof(int64_t));
  memset(c->at + had, 0, (c->cap - had) * sizeof(int64_t));
}

void tm_bins_add(struct tm_bins *b, size_t channel, int64_t at_ns, int64_t amount)
{
  if (amount <= 0)
    return;
  size_t bin = place(b, at_ns);
  reserve(b, channel, bin + 1);
  join(b, channel, bin, amount);
}

void tm_bins_add_span(struct tm_bins *b, size_t channel, int64_t from_ns, int64_t to_ns)
{
  from_ns = tm_larger(from_ns, 0);
  if (to_ns <= from_ns)
    return;
  size_t last = place(b, to_ns - 1), bin = last;
  reserve(b, channel, last + 1);
  if (last > 0 && from_ns < b->origin_ns + (int64_t)last * b->width_ns)
    bin = place(b, from_ns);
  while (bin < last) {
    int64_t end_ns = b->origin_ns + (int64_t)(bin + 1) * b->width_ns;
    join(b, channel, bin++, end_ns - from_ns);
    from_ns = end_ns;
  }
  join(b, channel, last, to_ns - from_ns);
}

int64_t tm_bins_at(const struct tm_bins *b, size_t channel, size_t bin)
{
  return channel < b->channels && bin < b->len && bin < b->channel[channel].cap
             ? b->channel[channel].at[bin]
             : 0;
}

void tm_bins_add_all(struct tm_bins *b, const struct tm_bins *from)
{
  tm_require(b->channels == from->channels && b->origin_ns == from->origin_ns);
  if (from->shift > b->shift)
    tm_bins_widen(b, from->shift);
  while (from->len > 0 && (from->len - 1) >> (b->shift - from->shift) >= b->max)
    merge_pairs(b);
  for (size_t i = 0; i < from->len; i++) {
    size_t to = i >> (b->shift - from->shift);
    b->len = to >= b->len ? to + 1 : b->len;
    for (size_t c = 0; c < b->channels; c++) {
      int64_t amount = tm_bins_at(from, c, i);
      if (amount == 0)
        continue;
      reserve(b, c, to + 1);
      join(b, c, to, amount);
    }
  }
}

void tm_bins_clear(struct tm_bins *b, size_t channel)
{
  struct tm_bin_channel *c = &b->channel[channel];
  if (c->cap > 0)
    memset(c->at, 0, c->cap * sizeof(int64_t));
}
