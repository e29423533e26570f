/* gauges.c - see gauges.h. */
#include "insight/gauges.h"

enum channel { SUM, COUNT, LARGEST, CHANNELS };

void tm_gauge_init(struct tm_gauge *g, int64_t origin_ns, size_t max)
{
  tm_bins_init(&g->bins, origin_ns, CHANNELS, max);
  g->bins.largest = 1u << LARGEST;
}

void tm_gauge_release(struct tm_gauge *g)
{
  tm_bins_release(&g->bins);
}

void tm_gauge_add(struct tm_gauge *g, int64_t at_ns, int64_t value)
{
  tm_gauge_add_part(g, at_ns, value, value, true);
}

void tm_gauge_add_part(struct tm_gauge *g, int64_t at_ns, int64_t part, int64_t sum, bool is_first)
{
  if (part < 0)
    return;
  tm_bins_add(&g->bins, COUNT, at_ns, is_first);
  tm_bins_add(&g->bins, SUM, at_ns, part);
  tm_bins_add(&g->bins, LARGEST, at_ns, sum);
}

bool tm_gauge_at(const struct tm_gauge *g, size_t bin, double *mean, int64_t *largest)
{
  int64_t count = tm_bins_at(&g->bins, COUNT, bin);
  if (count == 0)
    return false;
  *mean = (double)tm_bins_at(&g->bins, SUM, bin) / (double)count;
  *largest = tm_bins_at(&g->bins, LARGEST, bin);
  return true;
}
