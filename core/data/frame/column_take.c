/* column_take.c - makes columns from rows of others: selected rows in any order, or several columns
 * concatenated.
 */
#include <string.h>

#include "data/frame/column_ops_own.h"
#include "base/check.h"
#include "data/frame/frame.h"

static void set_null(struct tm_column *out, int64_t row)
{
  out->validity[row >> 3] &= (uint8_t) ~(1u << (row & 7));
}

static int64_t mark_nulls(const struct tm_column *c, const int32_t *rows, int64_t n,
                          struct tm_column *out)
{
  int64_t nulls = 0;
  for (int64_t i = 0; i < n; i++) {
    if (rows[i] >= 0 && !tm_column_is_null(c, rows[i]))
      continue;
    set_null(out, i);
    nulls++;
  }
  return nulls;
}

static void set_offset(struct tm_column *out, int64_t row, int64_t at)
{
  if (out->is_wide)
    out->off64[row] = at;
  else
    out->off32[row] = (int32_t)at;
}

static void take_strings(const struct tm_column *c, const int32_t *rows, int64_t n,
                         struct tm_column *out)
{
  int64_t at = 0;
  set_offset(out, 0, 0);
  for (int64_t i = 0; i < n; i++) {
    size_t len = 0;
    const char *s = rows[i] < 0 ? NULL : tm_column_string(c, rows[i], &len);
    if (len > 0)
      memcpy(out->bytes + at, s, len);
    at += (int64_t)len;
    set_offset(out, i + 1, at);
  }
}

int64_t tm_column_take_bytes(const struct tm_column *c, const int32_t *rows, int64_t n)
{
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    size_t len = 0;
    if (rows[i] >= 0)
      tm_column_string(c, rows[i], &len);
    sum += (int64_t)len;
  }
  return sum;
}

int64_t tm_column_take(const struct tm_column *c, const int32_t *rows, int64_t n,
                       struct tm_column *out)
{
  tm_require(out->type == c->type && out->len == n);
  switch (c->type) {
  case TM_COLUMN_STRING: take_strings(c, rows, n, out); break;
  case TM_COLUMN_BOOL:
    for (int64_t i = 0; i < n; i++)
      out->b8[i] = rows[i] < 0 ? 0 : c->b8[rows[i]];
    break;
  default:
    for (int64_t i = 0; i < n; i++)
      out->i64[i] = rows[i] < 0 ? 0 : c->i64[rows[i]];
    break;
  }
  return out->validity == NULL ? 0 : mark_nulls(c, rows, n, out);
}

static void append_strings(const struct tm_column *c, struct tm_column *out, int64_t at,
                           int64_t byte_at)
{
  int64_t first = c->is_wide ? c->off64[0] : c->off32[0];
  int64_t end = c->is_wide ? c->off64[c->len] : c->off32[c->len];
  if (end > first)
    memcpy(out->bytes + byte_at, c->bytes + first, (size_t)(end - first));
  for (int64_t i = 0; i <= c->len; i++)
    set_offset(out, at + i, (c->is_wide ? c->off64[i] : c->off32[i]) - first + byte_at);
}

int64_t tm_column_append(const struct tm_column *c, struct tm_column *out, int64_t at,
                         int64_t byte_at)
{
  tm_require(at >= 0 && byte_at >= 0 && at + c->len <= out->len);
  int64_t nulls = 0;
  if (c->type == TM_COLUMN_STRING)
    append_strings(c, out, at, byte_at);
  else if (c->type == TM_COLUMN_BOOL)
    memcpy(out->b8 + at, c->b8, (size_t)c->len);
  else if (c->type == TM_COLUMN_LONG && out->type == TM_COLUMN_DOUBLE)
    for (int64_t i = 0; i < c->len; i++)
      out->f64[at + i] = (double)c->i64[i];
  else if (c->len > 0)
    memcpy(out->i64 + at, c->i64, (size_t)c->len * 8);
  for (int64_t i = 0; c->validity != NULL && i < c->len; i++) {
    if (!tm_column_is_null(c, i))
      continue;
    set_null(out, at + i);
    nulls++;
  }
  return nulls;
}

void tm_column_copy_bits(const uint8_t *from, int64_t first, int64_t n, uint8_t *to)
{
  tm_require(first >= 0 && n >= 0);
  unsigned shift = (unsigned)(first & 7);
  int64_t at = first >> 3, last = (first + n - 1) >> 3;
  for (int64_t i = 0; i < (n + 7) / 8; i++) {
    unsigned low = from[at + i], high = shift > 0 && at + i < last ? from[at + i + 1] : 0xffu;
    to[i] = (uint8_t)(low >> shift | high << (8 - shift));
  }
}
