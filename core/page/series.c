/* series.c - see series.h. */
#include "page/series.h"

#include <math.h>
#include <string.h>

#include "base/time.h"

void tm_series_release(struct tm_series *s)
{
  free(s->at);
  *s = (struct tm_series) { 0 };
}

void tm_series_init(struct tm_series *s, int64_t from_ns, int64_t width_ns, size_t len)
{
  *s = (struct tm_series) { .from_ns = from_ns, .width_ns = width_ns, .len = len };
  s->at = tm_xcalloc(len, sizeof(*s->at));
  for (size_t i = 0; i < len; i++)
    s->at[i] = NAN;
}

/* Bins up to `end_ns`, though nothing has happened lately. */
static size_t bins_until(const struct tm_bins *b, int64_t end_ns)
{
  int64_t past = end_ns - b->origin_ns;
  size_t len = b->width_ns > 0 && past > 0 ? (size_t)((past - 1) / b->width_ns) + 1 : 0;
  return len > b->len ? len : b->len;
}

/* Sums of `joined` bins each. */
static void sum_bins(struct tm_series *s, const struct tm_bins *b, size_t channel, size_t len,
                     size_t joined)
{
  tm_series_init(s, b->origin_ns, b->width_ns * (int64_t)joined, (len + joined - 1) / joined);
  for (size_t i = 0; i < s->len; i++) {
    s->at[i] = 0;
    for (size_t k = i * joined; k < (i + 1) * joined && k < b->len; k++)
      s->at[i] += (double)tm_bins_at(b, channel, k);
  }
}

/* How long point i lasted: the last one may not be over. */
static int64_t time_of(const struct tm_series *s, size_t i, int64_t end_ns)
{
  int64_t from = s->from_ns + (int64_t)i * s->width_ns, to = from + s->width_ns;
  return i + 1 == s->len && to > end_ns && end_ns > from ? end_ns - from : s->width_ns;
}

void tm_series_of_bins(struct tm_series *s, const struct tm_bins *b, size_t channel, size_t max,
                       int64_t end_ns, double scale)
{
  size_t joined = 1, len = bins_until(b, end_ns);
  while ((len + joined - 1) / joined > (max > 0 ? max : 1))
    joined *= 2;
  sum_bins(s, b, channel, len, joined);
  for (size_t i = 0; i < s->len; i++)
    s->at[i] *= scale / (double)time_of(s, i, end_ns);
}

/* The end of the last point, if short, says little of a rate: it counts with the point before. */
static void join_end(struct tm_series *s, int64_t end_ns)
{
  size_t n = s->len;
  int64_t last = n > 0 ? time_of(s, n - 1, end_ns) : 0;
  if (n < 2 || last >= s->width_ns / 2)
    return;
  double sum = s->at[n - 2] + s->at[n - 1];
  double share = (double)last / (double)(s->width_ns + last);
  s->at[n - 1] = sum * share;
  s->at[n - 2] = sum - s->at[n - 1];
}

bool tm_series_of_events(struct tm_series *s, const struct tm_bins *b, size_t channel, size_t max,
                         int64_t end_ns)
{
  size_t joined = 1, len = bins_until(b, end_ns);
  while ((len + joined - 1) / joined > (max > 0 ? max : 1) ||
         (b->width_ns * (int64_t)joined < TM_S && (len + joined - 1) / joined > TM_SERIES_SHORT))
    joined *= 2;
  sum_bins(s, b, channel, len, joined);
  if (s->width_ns < TM_S)
    return false;
  join_end(s, end_ns);
  for (size_t i = 0; i < s->len; i++)
    s->at[i] *= 1e9 / (double)time_of(s, i, end_ns);
  return true;
}

/* ---- gauges ---- */

struct sample {
  int64_t at_ns; /* the middle of its bin */
  double value;
};

static void put(struct tm_series *s, double *sums, double *counts, const struct sample *v)
{
  int64_t i = (v->at_ns - s->from_ns) / s->width_ns;
  if (v->at_ns >= s->from_ns && i < (int64_t)s->len) {
    sums[i] += v->value;
    counts[i]++;
  }
}

/* Values on the line between two samples, at the middles of points that have no sample. */
static void put_between(struct tm_series *s, double *sums, double *counts, const struct sample *a,
                        const struct sample *b)
{
  int64_t first = (a->at_ns - s->from_ns) / s->width_ns + 1;
  int64_t last = (b->at_ns - s->from_ns) / s->width_ns;
  for (int64_t i = first < 0 ? 0 : first; i < last && i < (int64_t)s->len; i++) {
    int64_t at = s->from_ns + i * s->width_ns + s->width_ns / 2;
    double share = (double)(at - a->at_ns) / (double)(b->at_ns - a->at_ns);
    sums[i] += a->value + (b->value - a->value) * share;
    counts[i]++;
  }
}

static bool is_one_session(const struct tm_axis *axis, int64_t from_ns, int64_t to_ns)
{
  for (size_t i = 0; i + 1 < axis->spans.len; i++)
    if (axis->spans.at[i].to_ns >= from_ns && axis->spans.at[i + 1].from_ns <= to_ns)
      return false;
  return true;
}

void tm_series_add_gauge(struct tm_series *s, const struct tm_gauge *g, const struct tm_axis *axis,
                         double scale)
{
  double *sums = tm_xcalloc(s->len, sizeof(*sums)), *counts = tm_xcalloc(s->len, sizeof(*counts));
  struct sample before = { 0 };
  int64_t apart = 0, largest = 0;
  bool has_before = false;
  for (size_t i = 0; i < g->bins.len; i++) {
    struct sample v;
    if (!tm_gauge_at(g, i, &v.value, &largest))
      continue;
    v.value *= scale;
    v.at_ns = g->bins.origin_ns + (int64_t)i * g->bins.width_ns + g->bins.width_ns / 2;
    s->largest = fmax(s->largest, (double)largest * scale);
    int64_t distance = has_before ? v.at_ns - before.at_ns : 0;
    put(s, sums, counts, &v);
    if (has_before && (apart == 0 || distance < TM_SERIES_HOLE * apart) &&
        is_one_session(axis, before.at_ns, v.at_ns))
      put_between(s, sums, counts, &before, &v);
    apart = distance;
    before = v;
    has_before = true;
  }
  for (size_t i = 0; i < s->len; i++)
    if (counts[i] > 0)
      s->at[i] = (isnan(s->at[i]) ? 0 : s->at[i]) + sums[i] / counts[i];
  free(sums);
  free(counts);
}

void tm_series_cut(struct tm_series *s, const struct tm_axis *axis)
{
  for (size_t i = 0; i < s->len; i++) {
    int64_t from = s->from_ns + (int64_t)i * s->width_ns;
    if (!tm_axis_has(axis, from, from + s->width_ns))
      s->at[i] = NAN;
  }
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct tm_series_facts tm_series_look(const struct tm_series *s)
{
  struct tm_series_facts f = { 0 };
  double *values = tm_xcalloc(s->len, sizeof(*values));
  for (size_t i = 0; i < s->len; i++) {
    if (isnan(s->at[i]))
      continue;
    if (f.len == 0 || s->at[i] > f.max) {
      f.max = s->at[i];
      f.max_ns = s->from_ns + (int64_t)i * s->width_ns + s->width_ns / 2;
    }
    f.first = f.len == 0 ? s->at[i] : f.first;
    f.last = s->at[i];
    values[f.len++] = s->at[i];
  }
  if (f.len > 1)
    qsort(values, f.len, sizeof(*values), by_value);
  f.median = f.len > 0 ? values[f.len / 2] : 0;
  free(values);
  return f;
}
