/* speed.c - see speed.h. */
#include "page/speed.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"

#define WINDOWS     100  /* about */
#define WINDOWS_MIN 10   /* fewer say nothing about a median */
#define SPEED_MIN   TM_S /* a shorter time says nothing about a speed */

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Whole windows, `per_window` bins each, in which a worker lived: their items per second. */
static size_t find_windows(const struct tm_bins *b, size_t per_window, double *rates)
{
  size_t n = 0;
  double seconds = (double)b->width_ns * (double)per_window / 1e9;
  for (size_t from = 0; from + per_window <= b->len; from += per_window) {
    int64_t items = 0;
    bool is_alive = true;
    for (size_t i = from; i < from + per_window; i++) {
      items += tm_bins_at(b, TM_SERIES_ITEMS, i);
      is_alive = is_alive && tm_bins_at(b, TM_SERIES_ALIVE, i) > 0;
    }
    if (is_alive)
      rates[n++] = (double)items / seconds;
  }
  return n;
}

bool tm_speed_of(const struct tm_step_model *m, struct tm_speed *speed)
{
  const struct tm_bins *b = &m->series;
  int64_t items = 0, alive = 0, tries = 0;
  for (size_t i = 0; i < b->len; i++) {
    items += tm_bins_at(b, TM_SERIES_ITEMS, i);
    tries += tm_bins_at(b, TM_SERIES_OK, i);
    alive += tm_bins_at(b, TM_SERIES_ALIVE, i) > 0;
  }
  if (tries < 2 || alive * b->width_ns < SPEED_MIN)
    return false;
  *speed =
      (struct tm_speed) { .average = (double)items / ((double)alive * (double)b->width_ns / 1e9) };
  size_t per_window = (size_t)(TM_S / b->width_ns) + (TM_S % b->width_ns > 0);
  if (per_window < b->len / WINDOWS)
    per_window = b->len / WINDOWS;
  double *rates = tm_xcalloc(b->len / per_window + 1, sizeof(*rates));
  size_t n = find_windows(b, per_window, rates);
  if (n >= WINDOWS_MIN) {
    qsort(rates, n, sizeof(*rates), by_value);
    speed->windows = n;
    speed->median = (rates[(n - 1) / 2] + rates[n / 2]) / 2;
    speed->peak = rates[n - 1];
  }
  free(rates);
  return true;
}
