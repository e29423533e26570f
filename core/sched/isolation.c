/* isolation.c - see isolation.h. */
#include "sched/isolation.h"

#include <string.h>

#include "base/check.h"
#include "record/part.h"

/* Keeps (3). */
static void try_or_leave(struct tm_isolation *x, uint64_t part, struct tm_isolation_next *out)
{
  if (x->tries >= x->max_try) {
    out->untested = part;
    return;
  }
  x->tries++;
  x->open++;
  out->tries[out->tries_len++] = part;
}

static void split(struct tm_isolation *x, uint64_t part, struct tm_isolation_next *out)
{
  uint32_t first = tm_part_first(part), count = tm_part_count(part), half = count / 2;

  memset(out, 0, sizeof(*out));
  if (count == 1) {
    out->bad = part;
  } else if (x->tries >= x->max_try) {
    out->untested = part;
  } else {
    try_or_leave(x, tm_part(first, count - half), out);
    try_or_leave(x, tm_part(first + count - half, half), out);
  }
}

void tm_isolation_begin(struct tm_isolation *x, uint32_t items, int64_t max_try,
                        struct tm_isolation_next *out)
{
  tm_require(items >= 1 && max_try >= 1);
  *x = (struct tm_isolation) { .max_try = max_try };
  split(x, tm_part(0, items), out);
}

void tm_isolation_settle(struct tm_isolation *x)
{
  tm_require(x->open > 0);
  x->open--;
}

void tm_isolation_fail(struct tm_isolation *x, uint64_t part, struct tm_isolation_next *out)
{
  tm_require(tm_part_count(part) >= 1);
  tm_isolation_settle(x);
  split(x, part, out);
}
