/* column_order.c - the order of values, and what follows from it: equality and hashes.
 */
#include "data/frame/column_order.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "data/frame/frame.h"

static int order_doubles(double a, double b)
{
  if (isnan(a) || isnan(b))
    return !!isnan(a) - !!isnan(b);
  return (a > b) - (a < b);
}

static int order_strings(const struct tm_column *a, int64_t a_row, const struct tm_column *b,
                         int64_t b_row)
{
  size_t a_len, b_len;
  const char *x = tm_column_string(a, a_row, &a_len), *y = tm_column_string(b, b_row, &b_len);
  size_t least = a_len < b_len ? a_len : b_len;
  int order = least > 0 ? memcmp(x, y, least) : 0;
  return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

int tm_column_order(const struct tm_column *a, int64_t a_row, const struct tm_column *b,
                    int64_t b_row)
{
  switch (a->type) {
  case TM_COLUMN_BOOL: return (a->b8[a_row] > b->b8[b_row]) - (a->b8[a_row] < b->b8[b_row]);
  case TM_COLUMN_DOUBLE: return order_doubles(a->f64[a_row], b->f64[b_row]);
  case TM_COLUMN_STRING: return order_strings(a, a_row, b, b_row);
  default: return (a->i64[a_row] > b->i64[b_row]) - (a->i64[a_row] < b->i64[b_row]);
  }
}

bool tm_rows_are_equal(const struct tm_column *const *a, int64_t a_row,
                       const struct tm_column *const *b, int64_t b_row, int32_t n_keys)
{
  for (int32_t i = 0; i < n_keys; i++) {
    bool is_null = tm_column_is_null(a[i], a_row);
    if (is_null != tm_column_is_null(b[i], b_row))
      return false;
    if (!is_null && tm_column_order(a[i], a_row, b[i], b_row) != 0)
      return false;
  }
  return true;
}

static uint64_t mixed(uint64_t v)
{
  v ^= v >> 32;
  v *= UINT64_C(0xd6e8feb86659fd93);
  v ^= v >> 32;
  v *= UINT64_C(0xd6e8feb86659fd93);
  return v ^ v >> 32;
}

static uint64_t hash_double(double v)
{
  uint64_t bits;
  if (isnan(v))
    return 1;
  v += 0.0; /* -0 becomes 0 */
  memcpy(&bits, &v, sizeof bits);
  return mixed(bits);
}

static uint64_t value_hash(const struct tm_column *c, int64_t row)
{
  size_t len;
  const char *s;
  switch (c->type) {
  case TM_COLUMN_BOOL: return mixed(c->b8[row]);
  case TM_COLUMN_DOUBLE: return hash_double(c->f64[row]);
  case TM_COLUMN_STRING:
    s = tm_column_string(c, row, &len);
    return tm_hash64(len > 0 ? s : "", len);
  default: return mixed((uint64_t)c->i64[row]);
  }
}

uint64_t tm_row_hash(const struct tm_column *const *keys, int64_t row, int32_t n_keys)
{
  uint64_t h = 0;
  for (int32_t i = 0; i < n_keys; i++)
    h = mixed(h * 31 + (tm_column_is_null(keys[i], row) ? 7 : value_hash(keys[i], row)));
  return h;
}

double tm_column_number(const struct tm_column *c, int64_t row)
{
  switch (c->type) {
  case TM_COLUMN_BOOL: return c->b8[row];
  case TM_COLUMN_DOUBLE: return c->f64[row];
  default: return (double)c->i64[row];
  }
}
