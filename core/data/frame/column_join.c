/* column_join.c - rows of two sides with equal keys.
 *
 * The right side is put into chains, one for each slot: slots[] and next[] hold row numbers plus 1.
 * Rows are added from the last to the first, so that a chain runs forwards.
 */
#include <string.h>

#include "data/frame/column_ops_own.h"
#include "base/check.h"
#include "data/frame/column_order.h"
#include "data/frame/frame.h"

static bool has_null(const struct tm_column *const *keys, int32_t n_keys, int64_t row)
{
  for (int32_t i = 0; i < n_keys; i++)
    if (tm_column_is_null(keys[i], row))
      return true;
  return false;
}

void tm_column_join_index(const struct tm_column *const *right, int32_t n_keys, int64_t n,
                          int32_t *next, int32_t *slots, int64_t n_slots)
{
  tm_require(n_slots > 0 && (n_slots & (n_slots - 1)) == 0);
  uint64_t mask = (uint64_t)n_slots - 1;
  memset(slots, 0, (size_t)n_slots * sizeof *slots);
  for (int64_t i = n - 1; i >= 0; i--) {
    next[i] = 0;
    if (has_null(right, n_keys, i))
      continue;
    uint64_t at = tm_row_hash(right, i, n_keys) & mask;
    next[i] = slots[at];
    slots[at] = (int32_t)i + 1;
  }
}

struct pairs {
  int32_t *left, *right; /* or NULL: only count */
  int64_t n;
};

static void add_pair(struct pairs *p, int64_t left, int64_t right)
{
  if (p->left != NULL) {
    p->left[p->n] = (int32_t)left;
    p->right[p->n] = (int32_t)right;
  }
  p->n++;
}

int64_t tm_column_join(const struct tm_column *const *left, const struct tm_column *const *right,
                       int32_t n_keys, int64_t n, const int32_t *next, const int32_t *slots,
                       int64_t n_slots, int32_t keep, int32_t *left_rows, int32_t *right_rows,
                       uint8_t *matched)
{
  tm_require(n_slots > 0 && (n_slots & (n_slots - 1)) == 0);
  struct pairs pairs = { left_rows, right_rows, 0 };
  for (int64_t i = 0; i < n; i++) {
    int64_t before = pairs.n;
    int32_t at = has_null(left, n_keys, i)
                     ? 0
                     : slots[tm_row_hash(left, i, n_keys) & ((uint64_t)n_slots - 1)];
    for (; at != 0; at = next[at - 1]) {
      if (!tm_rows_are_equal(left, i, right, at - 1, n_keys))
        continue;
      add_pair(&pairs, i, at - 1);
      if (matched != NULL)
        matched[at - 1] = 1;
    }
    if (keep && pairs.n == before)
      add_pair(&pairs, i, -1);
  }
  return pairs.n;
}
