/* series.h - numbers at even distances of time, as a picture shows them: made of the bins and
 * gauges of a model, with as many points as the picture has use for. Pure.
 *
 * NAN is a gap: nothing was measured, or no session had that time.
 */
#ifndef TM_PAGE_SERIES_H
#define TM_PAGE_SERIES_H

#include "insight/bins.h"
#include "insight/gauges.h"
#include "page/axis.h"

struct tm_series { /* point i is from from_ns + i * width_ns on, for width_ns */
  int64_t from_ns, width_ns;
  size_t len;
  double *at;
  double largest; /* of the gauge's single values, not of means; 0: there are none */
};

void tm_series_release(struct tm_series *s); /* zeroed: a no-op */
/* How much there was per nanosecond, times `scale`: 1e9 is per second. At most `max` points; what
 * is behind `end_ns` has not been yet. */
void tm_series_of_bins(struct tm_series *s, const struct tm_bins *b, size_t channel, size_t max,
                       int64_t end_ns, double scale);
/* Things that happened. True: per second, in points of at least a second. False: how many there are
 * in a point of less than a second: a job of half a minute has at most TM_SERIES_SHORT of them. */
#define TM_SERIES_SHORT 64
bool tm_series_of_events(struct tm_series *s, const struct tm_bins *b, size_t channel, size_t max,
                         int64_t end_ns);
/* `len` gaps. */
void tm_series_init(struct tm_series *s, int64_t from_ns, int64_t width_ns, size_t len);
/* Adds the means of a gauge, times `scale`, where it was measured. Between two samples are values
 * on a line, unless the second is TM_SERIES_HOLE times as far away as the one before was: samples
 * are up to six times as far apart as before when the monitor slows down. */
#define TM_SERIES_HOLE 8
void tm_series_add_gauge(struct tm_series *s, const struct tm_gauge *g, const struct tm_axis *axis,
                         double scale);
/* Gaps where no session was. */
void tm_series_cut(struct tm_series *s, const struct tm_axis *axis);

struct tm_series_facts {
  size_t len; /* points that are not gaps */
  double max, median, first, last;
  int64_t max_ns; /* the middle of the largest point */
};
/* All 0 if there are only gaps. */
struct tm_series_facts tm_series_look(const struct tm_series *s);

#endif
