/* column_group.c - groups of equal rows, and their aggregates.
 *
 * The hash table uses open addressing: a slot holds a group's number plus 1; 0 is empty. It is
 * never more than half full, so a search ends. The first row of a group represents it.
 */
#include <math.h>
#include <string.h>

#include "data/frame/column_ops_own.h"
#include "base/check.h"
#include "data/frame/column_order.h"
#include "data/frame/frame.h"

int64_t tm_column_group(const struct tm_column *const *keys, int32_t n_keys, int64_t n,
                        int32_t *ids, int32_t *firsts, int32_t *slots, int64_t n_slots)
{
  tm_require(n_slots >= 2 * n && n_slots > 0 && (n_slots & (n_slots - 1)) == 0);
  uint64_t mask = (uint64_t)n_slots - 1;
  int32_t groups = 0;
  memset(slots, 0, (size_t)n_slots * sizeof *slots);
  for (int64_t i = 0; i < n; i++) {
    uint64_t at = tm_row_hash(keys, i, n_keys) & mask;
    while (slots[at] != 0 && !tm_rows_are_equal(keys, firsts[slots[at] - 1], keys, i, n_keys))
      at = (at + 1) & mask;
    if (slots[at] == 0) {
      firsts[groups] = (int32_t)i;
      slots[at] = ++groups;
    }
    ids[i] = slots[at] - 1;
  }
  return groups;
}

void tm_column_group_count(const struct tm_column *c, const int32_t *ids, int64_t *counts)
{
  for (int64_t i = 0; i < c->len; i++)
    counts[ids[i]] += !tm_column_is_null(c, i);
}

static bool is_better(const struct tm_column *c, int64_t row, int32_t than, int32_t what)
{
  if (what == TM_FIRST || what == TM_LAST)
    return what == TM_LAST || than < 0;
  if (c->type == TM_COLUMN_DOUBLE && isnan(c->f64[row]))
    return false;
  if (than < 0)
    return true;
  int order = tm_column_order(c, row, c, than);
  return what == TM_MIN ? order < 0 : order > 0;
}

void tm_column_group_pick(const struct tm_column *c, const int32_t *ids, int64_t groups,
                          int32_t what, int32_t *rows)
{
  tm_require(groups >= 0 && what >= TM_MIN && what <= TM_LAST);
  for (int64_t g = 0; g < groups; g++)
    rows[g] = -1;
  for (int64_t i = 0; i < c->len; i++)
    if (!tm_column_is_null(c, i) && is_better(c, i, rows[ids[i]], what))
      rows[ids[i]] = (int32_t)i;
}

int32_t tm_column_group_sum(const struct tm_column *c, const int32_t *ids, int64_t groups,
                            double *sums, int64_t *exact)
{
  tm_require(groups >= 0 && c->type != TM_COLUMN_STRING);
  int32_t is_exact = 1;
  memset(sums, 0, (size_t)groups * sizeof *sums);
  if (exact != NULL)
    memset(exact, 0, (size_t)groups * sizeof *exact);
  for (int64_t i = 0; i < c->len; i++) {
    if (tm_column_is_null(c, i))
      continue;
    sums[ids[i]] += tm_column_number(c, i);
    if (exact == NULL)
      continue;
    int64_t v = c->type == TM_COLUMN_BOOL ? c->b8[i] : c->i64[i];
    if (__builtin_add_overflow(exact[ids[i]], v, &exact[ids[i]]))
      is_exact = 0;
  }
  return is_exact;
}

void tm_column_group_spread(const struct tm_column *c, const int32_t *ids, int64_t groups,
                            const double *sums, const int64_t *counts, double *out)
{
  tm_require(groups >= 0 && c->type != TM_COLUMN_STRING);
  memset(out, 0, (size_t)groups * sizeof *out);
  for (int64_t i = 0; i < c->len; i++) {
    int32_t g = ids[i];
    double d = tm_column_is_null(c, i) ? 0 : tm_column_number(c, i) - sums[g] / (double)counts[g];
    out[g] += d * d;
  }
}
