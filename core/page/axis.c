/* axis.c - see axis.h. */
#include "page/axis.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "base/time.h"

/* ---- the axis of time ---- */

static int by_begin(const void *a, const void *b)
{
  const struct tm_axis_span *x = a, *y = b;
  return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Spans that overlap become one; what is outside of the axis is left out. */
static void add_spans(struct tm_axis *a, const struct tm_axis_span *spans, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    struct tm_axis_span s = spans[i];
    s.from_ns = s.from_ns < a->from_ns ? a->from_ns : s.from_ns;
    s.to_ns = s.to_ns > a->to_ns ? a->to_ns : s.to_ns;
    if (s.to_ns > s.from_ns)
      *TM_ARRAY_ADD(&a->spans) = s;
  }
  if (a->spans.len > 1)
    qsort(a->spans.at, a->spans.len, sizeof(*a->spans.at), by_begin);
  size_t kept = 0;
  for (size_t i = 0; i < a->spans.len; i++) {
    struct tm_axis_span s = a->spans.at[i];
    if (kept == 0 || s.from_ns > a->spans.at[kept - 1].to_ns)
      a->spans.at[kept++] = s;
    else if (s.to_ns > a->spans.at[kept - 1].to_ns)
      a->spans.at[kept - 1].to_ns = s.to_ns;
  }
  a->spans.len = kept;
}

struct gap {
  int64_t ns;
  size_t after; /* the span before it */
};

static int longest_first(const void *a, const void *b)
{
  const struct gap *x = a, *y = b;
  if (x->ns != y->ns)
    return x->ns < y->ns ? 1 : -1;
  return (x->after > y->after) - (x->after < y->after);
}

/* Marks in `is_folded` the gaps that are folded; returns their number, and *left: what is not
 * folded of the axis. */
static size_t fold_gaps(const struct tm_axis *a, bool *is_folded, double *left)
{
  size_t n = a->spans.len - 1, folds = 0;
  struct gap *gaps = tm_xcalloc(n, sizeof(*gaps));
  *left = (double)(a->to_ns - a->from_ns);
  for (size_t i = 0; i < n; i++)
    gaps[i] = (struct gap) { a->spans.at[i + 1].from_ns - a->spans.at[i].to_ns, i };
  if (n > 1)
    qsort(gaps, n, sizeof(*gaps), longest_first);
  while (folds < n && (double)gaps[folds].ns > *left * TM_AXIS_FOLD) {
    *left -= (double)gaps[folds].ns;
    is_folded[gaps[folds++].after] = true;
  }
  free(gaps);
  return folds;
}

static void add_piece(struct tm_axis *a, int64_t to_ns, double width, bool is_folded)
{
  const struct tm_axis_piece *last = a->pieces.len > 0 ? &a->pieces.at[a->pieces.len - 1] : NULL;
  int64_t from_ns = last ? last->to_ns : a->from_ns;
  double from = last ? last->to : 0;
  *TM_ARRAY_ADD(&a->pieces) =
      (struct tm_axis_piece) { from_ns, to_ns, from, from + width, is_folded };
}

static void add_pieces(struct tm_axis *a)
{
  size_t n = a->spans.len;
  bool *is_folded = tm_xcalloc(n, sizeof(*is_folded));
  double left = (double)(a->to_ns - a->from_ns);
  size_t folds = n > 1 ? fold_gaps(a, is_folded, &left) : 0;
  double narrow = folds > 0 ? fmin(TM_AXIS_NARROW, TM_AXIS_FOLDS / (double)folds) : 0;
  double scale = (1 - narrow * (double)folds) / left;
  int64_t at = a->from_ns;
  for (size_t i = 0; i + 1 < n; i++) {
    if (!is_folded[i])
      continue;
    add_piece(a, a->spans.at[i].to_ns, (double)(a->spans.at[i].to_ns - at) * scale, false);
    add_piece(a, a->spans.at[i + 1].from_ns, narrow, true);
    at = a->spans.at[i + 1].from_ns;
  }
  add_piece(a, a->to_ns, (double)(a->to_ns - at) * scale, false);
  a->pieces.at[a->pieces.len - 1].to = 1;
  free(is_folded);
}

void tm_axis_init(struct tm_axis *a, int64_t from_ns, int64_t to_ns,
                  const struct tm_axis_span *spans, size_t n)
{
  *a = (struct tm_axis) { .origin_ns = from_ns,
                          .from_ns = from_ns,
                          .to_ns = to_ns > from_ns ? to_ns : from_ns + 1 };
  add_spans(a, spans, n);
  add_pieces(a);
}

void tm_axis_release(struct tm_axis *a)
{
  TM_ARRAY_RELEASE(&a->spans);
  TM_ARRAY_RELEASE(&a->pieces);
}

double tm_axis_x(const struct tm_axis *a, int64_t ns)
{
  if (ns <= a->from_ns)
    return 0;
  size_t low = 0, high = a->pieces.len;
  while (low < high) { /* the first piece that ends later */
    size_t middle = low + (high - low) / 2;
    if (a->pieces.at[middle].to_ns > ns)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == a->pieces.len)
    return 1;
  const struct tm_axis_piece *p = &a->pieces.at[low];
  return p->from +
         (p->to - p->from) * ((double)(ns - p->from_ns) / (double)(p->to_ns - p->from_ns));
}

int64_t tm_axis_at(const struct tm_axis *a, double x)
{
  size_t i = 0;
  while (i + 1 < a->pieces.len && a->pieces.at[i].to < x)
    i++;
  const struct tm_axis_piece *p = &a->pieces.at[i];
  double share = p->to > p->from ? (x - p->from) / (p->to - p->from) : 0;
  share = fmax(0, fmin(1, share));
  return p->from_ns + (int64_t)(share * (double)(p->to_ns - p->from_ns));
}

bool tm_axis_has(const struct tm_axis *a, int64_t from_ns, int64_t to_ns)
{
  for (size_t i = 0; i < a->spans.len; i++)
    if (from_ns < a->spans.at[i].to_ns && to_ns > a->spans.at[i].from_ns)
      return true;
  return a->spans.len == 0;
}

/* ---- ticks of time ---- */

#define MIN_NS (60 * TM_S)
#define H_NS   (60 * MIN_NS)
#define DAY_NS (24 * H_NS)

static const int64_t steps[] = { TM_MS,       2 * TM_MS,   5 * TM_MS,   10 * TM_MS,  20 * TM_MS,
                                 50 * TM_MS,  100 * TM_MS, 200 * TM_MS, 500 * TM_MS, TM_S,
                                 2 * TM_S,    5 * TM_S,    10 * TM_S,   15 * TM_S,   30 * TM_S,
                                 MIN_NS,      2 * MIN_NS,  5 * MIN_NS,  10 * MIN_NS, 15 * MIN_NS,
                                 30 * MIN_NS, H_NS,        2 * H_NS,    3 * H_NS,    6 * H_NS,
                                 12 * H_NS,   DAY_NS,      2 * DAY_NS,  5 * DAY_NS,  10 * DAY_NS,
                                 20 * DAY_NS, 50 * DAY_NS, 100 * DAY_NS };

static int64_t step_of(int64_t ns, size_t want)
{
  size_t i = 0;
  while (i + 1 < TM_COUNT_OF(steps) && ns / steps[i] > (int64_t)want)
    i++;
  int64_t step = steps[i];
  while (ns / step > (int64_t)want)
    step *= 2;
  return step;
}

static const char *unit_of(int64_t step, int64_t total_ns)
{
  if (step >= DAY_NS)
    return "days since the start";
  if (total_ns >= H_NS)
    return step >= MIN_NS ? "h:min since the start" : "h:min:s since the start";
  if (total_ns >= MIN_NS)
    return "min:s since the start";
  return step >= TM_S ? "s since the start" : "ms since the start";
}

static void set_tick_text(struct tm_tick *t, int64_t ns, int64_t step, int64_t total_ns)
{
  int64_t s = ns / TM_S;
  if (step >= DAY_NS)
    snprintf(t->text, sizeof(t->text), "%" PRId64, ns / DAY_NS);
  else if (total_ns >= H_NS && step >= MIN_NS)
    snprintf(t->text, sizeof(t->text), "%" PRId64 ":%02d", s / 3600, (int)(s / 60 % 60));
  else if (total_ns >= H_NS)
    snprintf(t->text, sizeof(t->text), "%" PRId64 ":%02d:%02d", s / 3600, (int)(s / 60 % 60),
             (int)(s % 60));
  else if (total_ns >= MIN_NS)
    snprintf(t->text, sizeof(t->text), "%d:%02d", (int)(s / 60), (int)(s % 60));
  else
    snprintf(t->text, sizeof(t->text), "%" PRId64, step >= TM_S ? s : ns / TM_MS);
}

/* How much time the axis shows, without what is folded. */
static int64_t shown_ns(const struct tm_axis *a)
{
  int64_t sum = 0;
  for (size_t i = 0; i < a->pieces.len; i++)
    if (!a->pieces.at[i].is_folded)
      sum += a->pieces.at[i].to_ns - a->pieces.at[i].from_ns;
  return sum;
}

size_t tm_axis_time_ticks(const struct tm_axis *a, size_t want, struct tm_tick *out,
                          const char **unit)
{
  int64_t step = step_of(shown_ns(a), want), total = a->to_ns - a->origin_ns;
  double apart = 0.6 / (double)want;
  size_t n = 0;
  *unit = unit_of(step, total);
  for (size_t i = 0; i < a->pieces.len && n < TM_TICKS_MAX; i++) {
    const struct tm_axis_piece *p = &a->pieces.at[i];
    if (p->is_folded)
      continue;
    int64_t since = p->from_ns - a->origin_ns;
    for (int64_t t = (since + step - 1) / step * step;
         t <= p->to_ns - a->origin_ns && n < TM_TICKS_MAX; t += step) {
      double x = tm_axis_x(a, a->origin_ns + t);
      if (n > 0 && x - out[n - 1].at < apart)
        continue;
      out[n].at = x;
      set_tick_text(&out[n++], t, step, total);
    }
  }
  return n;
}

/* Whole seconds, of at least `width` digits, and their fraction, of `digits`. */
static void add_seconds(struct tm_buf *text, int width, int64_t ns, int digits)
{
  int64_t unit = TM_S;
  for (int i = 0; i < digits; i++)
    unit /= 10;
  tm_buf_printf(text, "%0*d", width, (int)(ns / TM_S));
  if (digits > 0)
    tm_buf_printf(text, ".%0*d", digits, (int)(ns % TM_S / unit));
}

void tm_axis_add_moment(struct tm_buf *text, const struct tm_axis *a, int64_t ns)
{
  int64_t since = ns > a->origin_ns ? ns - a->origin_ns : 0, total = a->to_ns - a->origin_ns;
  int64_t apart = shown_ns(a) / TM_AXIS_PARTS, s = since / TM_S;
  int digits = 0;
  for (int64_t unit = TM_S; digits < 9 && 2 * unit > apart; unit /= 10)
    digits++;
  if (total >= H_NS)
    tm_buf_printf(text, "%" PRId64 ":%02d:", s / 3600, (int)(s / 60 % 60));
  else if (total >= MIN_NS)
    tm_buf_printf(text, "%" PRId64 ":", s / 60);
  if (total >= MIN_NS) {
    add_seconds(text, 2, since % MIN_NS, digits);
  } else if (total >= TM_S) {
    add_seconds(text, 1, since, digits);
    tm_buf_add_str(text, " s");
  } else {
    tm_buf_printf(text, "%.*f ms", digits > 3 ? digits - 3 : 0, (double)since / (double)TM_MS);
  }
}

/* ---- ticks of values ---- */

static void set_value_text(struct tm_tick *t, double v, double step)
{
  if (step >= 1) {
    struct tm_buf text = TM_BUF_NONE;
    bool are_millions = step >= 1e5;
    if (are_millions)
      tm_buf_printf(&text, "%.15g M", v / 1e6);
    else if (floor(step) < step) /* 2.5 */
      tm_buf_printf(&text, "%.1f", v);
    else
      tm_text_grouped(&text, (int64_t)v);
    snprintf(t->text, sizeof(t->text), "%s", tm_buf_str(&text));
    tm_buf_release(&text);
    return;
  }
  snprintf(t->text, sizeof(t->text), "%.3g", v);
}

size_t tm_axis_value_ticks(double top, size_t want, struct tm_tick *out)
{
  static const double factors[] = { 1, 2, 2.5, 5, 10 };
  double power = pow(10, floor(log10(top / (double)want))), step = power * 10;
  for (size_t i = 0; i < TM_COUNT_OF(factors); i++) {
    if (top / (power * factors[i]) < (double)want + 1) {
      step = power * factors[i];
      break;
    }
  }
  size_t n = 0;
  for (double v = step; v <= top * (1 + 1e-9) && n < want && n < TM_TICKS_MAX;
       v = step * (double)(n + 1)) {
    out[n].at = fmin(1, v / top);
    set_value_text(&out[n++], v, step);
  }
  return n;
}
