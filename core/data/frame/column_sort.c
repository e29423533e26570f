/* column_sort.c - sorts rows, by one key or several.
 *
 * Each row gets 64 bits that order as its first key does (a string: its first bytes). A merge sort
 * of {bits, row} then moves small pairs, and looks at columns only if bits are equal and do not
 * hold the whole key. A merge sort is stable. Nulls of the first key are set aside before; they
 * keep their order and are sorted by the other keys.
 */
#include <math.h>
#include <string.h>

#include "data/frame/column_ops_own.h"
#include "base/check.h"
#include "data/frame/column_order.h"
#include "data/frame/frame.h"

struct sorting {
  const struct tm_sort_key *keys;
  int32_t n_keys;
  /* the key to compare when bits are equal: 0, or 1 if the bits hold the whole first key */
  int32_t first;
};

static uint64_t double_bits(double v)
{
  uint64_t bits;
  if (isnan(v))
    return UINT64_MAX;
  v += 0.0; /* -0 becomes 0 */
  memcpy(&bits, &v, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t string_bits(const struct tm_column *c, int64_t row)
{
  size_t len;
  const unsigned char *s = (const unsigned char *)tm_column_string(c, row, &len);
  uint64_t bits = 0;
  for (size_t i = 0; i < 8; i++)
    bits = bits << 8 | (i < len ? s[i] : 0);
  return bits;
}

static uint64_t bits_of(const struct tm_sort_key *key, int64_t row)
{
  const struct tm_column *c = key->column;
  uint64_t bits;
  switch (c->type) {
  case TM_COLUMN_BOOL: bits = c->b8[row]; break;
  case TM_COLUMN_DOUBLE: bits = double_bits(c->f64[row]); break;
  case TM_COLUMN_STRING: bits = string_bits(c, row); break;
  default: bits = (uint64_t)c->i64[row] ^ UINT64_C(1) << 63; break;
  }
  return key->descends ? ~bits : bits;
}

/* Compares two rows whose bits are equal. */
static int order_rest(const struct sorting *s, int32_t a, int32_t b)
{
  for (int32_t i = s->first; i < s->n_keys; i++) {
    const struct tm_column *c = s->keys[i].column;
    bool a_null = tm_column_is_null(c, a), b_null = tm_column_is_null(c, b);
    int order = a_null || b_null ? a_null - b_null : tm_column_order(c, a, c, b);
    if (order != 0)
      return s->keys[i].descends && !a_null && !b_null ? -order : order;
  }
  return 0;
}

static bool is_behind(const struct sorting *s, const struct tm_sort_pair *a,
                      const struct tm_sort_pair *b)
{
  return a->key != b->key ? a->key > b->key : order_rest(s, a->row, b->row) > 0;
}

static void insert(const struct sorting *s, struct tm_sort_pair *at, int64_t n)
{
  for (int64_t i = 1; i < n; i++) {
    struct tm_sort_pair p = at[i];
    int64_t j = i;
    for (; j > 0 && is_behind(s, &at[j - 1], &p); j--)
      at[j] = at[j - 1];
    at[j] = p;
  }
}

/* Sorts at[0..n); `room` has n. */
static void merge_sort(const struct sorting *s, struct tm_sort_pair *at, int64_t n,
                       struct tm_sort_pair *room)
{
  int64_t half = n / 2, i = 0, j = half, to = 0;
  if (n <= 16) {
    insert(s, at, n);
    return;
  }
  merge_sort(s, at, half, room);
  merge_sort(s, at + half, n - half, room);
  if (!is_behind(s, &at[half - 1], &at[half]))
    return; /* sorted already */
  memcpy(room, at, (size_t)half * sizeof *at);
  while (i < half && j < n)
    at[to++] = is_behind(s, &room[i], &at[j]) ? at[j++] : room[i++];
  memcpy(at + to, room + i, (size_t)(half - i) * sizeof *at);
}

void tm_column_sort(const struct tm_sort_key *keys, int32_t n_keys, int32_t *rows, int64_t n,
                    struct tm_sort_pair *room)
{
  tm_require(n_keys > 0 && n >= 0);
  struct sorting s = { keys, n_keys, keys[0].column->type != TM_COLUMN_STRING };
  struct sorting rest = { keys, n_keys, 1 };
  int64_t values = 0, nulls = 0;
  for (int64_t i = 0; i < n; i++) {
    if (tm_column_is_null(keys[0].column, rows[i]))
      room[n + nulls++] = (struct tm_sort_pair) { 0, rows[i] };
    else
      room[values++] = (struct tm_sort_pair) { bits_of(&keys[0], rows[i]), rows[i] };
  }
  memmove(room + values, room + n, (size_t)nulls * sizeof *room);
  merge_sort(&s, room, values, room + n);
  merge_sort(&rest, room + values, nulls, room + n);
  for (int64_t i = 0; i < n; i++)
    rows[i] = room[i].row;
}
