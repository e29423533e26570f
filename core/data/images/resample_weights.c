/* resample_weights.c - the formulas and the order of their operations are Pillow's, because
 * another order rounds in another way. */
#include <math.h>

#include "base/mem.h"
#include "data/images/resample_own.h"

#define PI 3.14159265358979323846

static double box(double x)
{
  return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bilinear(double x)
{
  x = fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

static double bicubic(double x)
{
  const double a = -0.5;
  x = fabs(x);
  if (x < 1.0)
    return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * a : 0.0;
}

static double sinc(double x)
{
  if (x == 0.0)
    return 1.0;
  x = x * PI;
  return sin(x) / x;
}

static double lanczos(double x)
{
  return -3.0 <= x && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
}

struct filter {
  double (*value)(double x);
  double reach;
};

static const struct filter filters[] = {
  [TM_FILTER_NEAREST] = { NULL, 0 },        [TM_FILTER_BOX] = { box, 0.5 },
  [TM_FILTER_BILINEAR] = { bilinear, 1.0 }, [TM_FILTER_BICUBIC] = { bicubic, 2.0 },
  [TM_FILTER_LANCZOS] = { lanczos, 3.0 },
};

bool tm_weights_are_copy(const struct tm_resample_axis *a)
{
  return a->out == a->size && a->from == 0 && a->to == (float)a->size;
}

static double scale_of(const struct tm_resample_axis *a)
{
  return (double)(a->to - a->from) / a->out;
}

static double reach_of(const struct tm_resample_axis *a, enum tm_filter filter)
{
  return filters[filter].reach * fmax(scale_of(a), 1.0);
}

double tm_weights_reach(const struct tm_resample_axis *a, enum tm_filter filter)
{
  return tm_weights_are_copy(a) ? 1 : ceil(reach_of(a, filter)) * 2 + 1;
}

double tm_weights_bytes(const struct tm_resample_axis *a, enum tm_filter filter)
{
  double max = tm_weights_reach(a, filter);
  return a->count * (sizeof(struct tm_window) + 2.0 * sizeof(int16_t) * (max + TM_WEIGHT_STEP)) +
         max * sizeof(double);
}

static void put_weight(struct tm_weights *w, int32_t i, int32_t at, int32_t weight)
{
  int16_t *of = w->at + (size_t)i * 2 * (size_t)w->stride;
  int32_t low = weight & ((1 << TM_WEIGHT_LOW) - 1);
  of[w->stride + at] = (int16_t)low;
  of[at] = (int16_t)((weight - low) / (1 << TM_WEIGHT_LOW));
}

static void put_one(struct tm_weights *w, int32_t i, int32_t from)
{
  w->windows[i] = (struct tm_window) { from, 1 };
  put_weight(w, i, 0, 1 << TM_WEIGHT_BITS);
}

/* Sums up the step, as Pillow does, instead of multiplying it. */
static void fill_nearest(struct tm_weights *w, const struct tm_resample_axis *a)
{
  double at = a->from + scale_of(a) * 0.5;
  for (int32_t i = 0; i < a->first + a->count; i++, at += scale_of(a)) {
    int32_t from = at < a->size ? (int32_t)at : a->size - 1;
    if (i >= a->first)
      put_one(w, i - a->first, from);
  }
}

static void fill_window(struct tm_weights *w, int32_t i, const struct tm_resample_axis *a,
                        enum tm_filter filter, double *values)
{
  double reach = reach_of(a, filter), step = 1.0 / fmax(scale_of(a), 1.0), sum = 0;
  double centre = a->from + (a->first + i + 0.5) * scale_of(a);
  double low = centre - reach + 0.5, high = centre + reach + 0.5;
  int32_t from = low > 0 ? (int32_t)low : 0, to = high < a->size ? (int32_t)high : a->size;
  for (int32_t x = 0; x < to - from; x++) {
    values[x] = filters[filter].value((x + from - centre + 0.5) * step);
    sum += values[x];
  }
  w->windows[i] = (struct tm_window) { from, to - from };
  for (int32_t x = 0; x < to - from; x++) {
    double value = (sum != 0 ? values[x] / sum : values[x]) * (1 << TM_WEIGHT_BITS);
    put_weight(w, i, x, (int32_t)(value < 0 ? value - 0.5 : value + 0.5));
  }
}

void tm_weights_init(struct tm_weights *w, const struct tm_resample_axis *a, enum tm_filter filter)
{
  size_t max = (size_t)tm_weights_reach(a, filter);
  size_t stride = (max + TM_WEIGHT_STEP - 1) / TM_WEIGHT_STEP * TM_WEIGHT_STEP;
  *w = (struct tm_weights) {
    .count = a->count,
    .stride = (int32_t)stride,
    .are_one = tm_weights_are_copy(a) || filter == TM_FILTER_NEAREST,
    .windows = tm_xcalloc((size_t)a->count, sizeof *w->windows),
    .at = tm_xcalloc((size_t)a->count, 2 * stride * sizeof *w->at),
  };
  if (tm_weights_are_copy(a)) {
    for (int32_t i = 0; i < a->count; i++)
      put_one(w, i, a->first + i);
  } else if (filter == TM_FILTER_NEAREST) {
    fill_nearest(w, a);
  } else {
    double *values = tm_xcalloc(max, sizeof *values);
    for (int32_t i = 0; i < a->count; i++)
      fill_window(w, i, a, filter, values);
    free(values);
  }
}

void tm_weights_release(struct tm_weights *w)
{
  free(w->windows);
  free(w->at);
}
