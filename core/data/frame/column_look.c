/* column_look.c - one pass over a column: its summary, or the rows that match a comparison. */
#include <math.h>
#include <string.h>

#include "data/frame/column_ops_own.h"
#include "base/check.h"
#include "data/frame/column_order.h"
#include "data/frame/frame.h"

static bool is_nan(const struct tm_column *c, int64_t row)
{
  return c->type == TM_COLUMN_DOUBLE && isnan(c->f64[row]);
}

static void look_at(const struct tm_column *c, int64_t i, struct tm_column_summary *s)
{
  s->count++;
  if (is_nan(c, i))
    return;
  if (s->min_row < 0 || tm_column_order(c, i, c, s->min_row) < 0)
    s->min_row = i;
  if (s->max_row < 0 || tm_column_order(c, i, c, s->max_row) > 0)
    s->max_row = i;
}

/* Like look_at(), for the type that is summed most, without a call per row. */
static void look_at_doubles(const struct tm_column *c, struct tm_column_summary *s)
{
  double least = INFINITY, most = -INFINITY, sum = 0;
  for (int64_t i = 0; i < c->len; i++) {
    double v = c->f64[i];
    if (tm_column_is_null(c, i))
      continue;
    s->count++;
    sum += v;
    if (v < least || (s->min_row < 0 && !isnan(v))) {
      least = v;
      s->min_row = i;
    }
    if (v > most || (s->max_row < 0 && !isnan(v))) {
      most = v;
      s->max_row = i;
    }
  }
  s->sum = sum;
}

static void add_integers(const struct tm_column *c, struct tm_column_summary *s)
{
  long double sum = 0;
  for (int64_t i = 0; i < c->len; i++) {
    if (tm_column_is_null(c, i))
      continue;
    int64_t v = c->type == TM_COLUMN_BOOL ? c->b8[i] : c->i64[i];
    sum += (long double)v;
    if (s->is_exact && __builtin_add_overflow(s->sum_i64, v, &s->sum_i64))
      s->is_exact = 0;
  }
  s->sum = (double)sum;
}

static void find_spread(const struct tm_column *c, struct tm_column_summary *s)
{
  double mean = s->sum / (double)s->count;
  for (int64_t i = 0; i < c->len; i++) {
    double d = tm_column_is_null(c, i) ? 0 : tm_column_number(c, i) - mean;
    s->spread += d * d;
  }
}

void tm_column_summarize(const struct tm_column *c, struct tm_column_summary *out)
{
  *out = (struct tm_column_summary) { .min_row = -1, .max_row = -1 };
  if (c->type == TM_COLUMN_DOUBLE) {
    look_at_doubles(c, out);
  } else {
    for (int64_t i = 0; i < c->len; i++)
      if (!tm_column_is_null(c, i))
        look_at(c, i, out);
    out->is_exact = c->type != TM_COLUMN_STRING;
    if (out->is_exact)
      add_integers(c, out);
  }
  if (c->type != TM_COLUMN_STRING && out->count > 0)
    find_spread(c, out);
}

/* ---- comparing with a value ---- */

#define TM_UNORDERED 2 /* NaN and a number: unequal, and no other comparison is true */

static int order_numbers(const struct tm_column *c, int64_t row, const struct tm_value *v)
{
  if (c->type != TM_COLUMN_DOUBLE && v->is_integer) {
    int64_t x = c->type == TM_COLUMN_BOOL ? c->b8[row] : c->i64[row];
    return (x > v->i64) - (x < v->i64);
  }
  /* wide enough for every 64-bit integer */
  long double x = c->type == TM_COLUMN_DOUBLE ? (long double)c->f64[row]
                  : c->type == TM_COLUMN_BOOL ? (long double)c->b8[row]
                                              : (long double)c->i64[row];
  long double y = v->is_integer ? (long double)v->i64 : (long double)v->f64;
  if (isnan(x) || isnan(y))
    return TM_UNORDERED;
  return (x > y) - (x < y);
}

static int order_string(const struct tm_column *c, int64_t row, const struct tm_value *v)
{
  size_t len;
  const char *s = tm_column_string(c, row, &len);
  size_t least = len < v->string_len ? len : v->string_len;
  int order = least > 0 ? memcmp(s, v->string, least) : 0;
  return order != 0 ? (order > 0) - (order < 0) : (len > v->string_len) - (len < v->string_len);
}

static bool holds(int order, int32_t comparison)
{
  switch (comparison) {
  case TM_IS_EQUAL: return order == 0;
  case TM_IS_NOT_EQUAL: return order != 0;
  case TM_IS_LESS: return order == -1;
  case TM_IS_AT_MOST: return order == -1 || order == 0;
  case TM_IS_MORE: return order == 1;
  default: return order == 1 || order == 0;
  }
}

int64_t tm_column_compare(const struct tm_column *c, int32_t comparison, const struct tm_value *v,
                          int32_t *rows)
{
  tm_require(comparison >= TM_IS_EQUAL && comparison <= TM_IS_AT_LEAST);
  int64_t n = 0;
  for (int64_t i = 0; i < c->len; i++) {
    if (tm_column_is_null(c, i))
      continue;
    int order = c->type == TM_COLUMN_STRING ? order_string(c, i, v) : order_numbers(c, i, v);
    rows[n] = (int32_t)i; /* overwritten unless the row matches */
    n += holds(order, comparison);
  }
  return n;
}

int64_t tm_column_where_null(const struct tm_column *c, int32_t wanted, int32_t *rows)
{
  int64_t n = 0;
  for (int64_t i = 0; i < c->len; i++) {
    rows[n] = (int32_t)i;
    n += tm_column_is_null(c, i) == (wanted != 0);
  }
  return n;
}
