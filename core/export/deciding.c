/* deciding.c - see deciding.h.
 *
 * A table with open addressing: a mini-batch leaves it when it is decided, so that it stays small
 * in a job of millions of mini-batches that each fail once.
 */
#include "export/deciding.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "insight/sums.h"

#define CAP_MIN 16 /* a power of two, as all capacities are */

struct tm_undecided {
  int64_t mini_batch;     /* -1: a free slot */
  int64_t items, settled; /* of the mini-batch; in this round of tries */
  int64_t bytes;
  bool has_good; /* parts */
};

static size_t home(const struct tm_deciding *d, int64_t mini_batch)
{
  return (size_t)tm_hash64(&mini_batch, sizeof(mini_batch)) & (d->cap - 1);
}

/* Its slot, or the free one for it. */
static struct tm_undecided *find(const struct tm_deciding *d, int64_t mini_batch)
{
  size_t at = home(d, mini_batch);
  while (d->slots[at].mini_batch != mini_batch && d->slots[at].mini_batch >= 0)
    at = (at + 1) & (d->cap - 1);
  return &d->slots[at];
}

static void resize(struct tm_deciding *d, size_t cap)
{
  struct tm_deciding to = { .slots = tm_xcalloc(cap, sizeof(*d->slots)),
                            .len = d->len,
                            .cap = cap };
  for (size_t i = 0; i < cap; i++)
    to.slots[i].mini_batch = -1;
  for (size_t i = 0; i < d->cap; i++)
    if (d->slots[i].mini_batch >= 0)
      *find(&to, d->slots[i].mini_batch) = d->slots[i];
  free(d->slots);
  *d = to;
}

static struct tm_undecided *add(struct tm_deciding *d, int64_t mini_batch)
{
  if (4 * (d->len + 1) > 3 * d->cap)
    resize(d, d->cap > 0 ? 2 * d->cap : CAP_MIN);
  struct tm_undecided *u = find(d, mini_batch);
  if (u->mini_batch < 0) {
    *u = (struct tm_undecided) { .mini_batch = mini_batch };
    d->len++;
  }
  return u;
}

/* Those behind it that are not at home move up. */
static void drop(struct tm_deciding *d, int64_t mini_batch)
{
  struct tm_undecided *u = d->cap > 0 ? find(d, mini_batch) : NULL;
  if (!u || u->mini_batch < 0)
    return;
  size_t hole = (size_t)(u - d->slots);
  for (size_t at = (hole + 1) & (d->cap - 1); d->slots[at].mini_batch >= 0;
       at = (at + 1) & (d->cap - 1)) {
    size_t from = home(d, d->slots[at].mini_batch);
    if (((at - from) & (d->cap - 1)) < ((at - hole) & (d->cap - 1)))
      continue;
    d->slots[hole] = d->slots[at];
    hole = at;
  }
  d->slots[hole].mini_batch = -1;
  d->len--;
}

bool tm_deciding_add(struct tm_deciding *d, const struct tm_deciding_try *t,
                     struct tm_decision *out)
{
  if (t->mini_batch < 0)
    return false;
  *out = (struct tm_decision) { .has_succeeded = t->is_done, .bytes = t->bytes };
  if (t->is_done && !t->is_part) {
    drop(d, t->mini_batch);
    return true;
  }
  struct tm_undecided *u = add(d, t->mini_batch);
  if (!t->is_part) /* a new round, after a resume perhaps */
    *u = (struct tm_undecided) { .mini_batch = t->mini_batch, .items = t->items };
  tm_sum_add(&u->settled, t->is_done ? t->items : t->failed);
  tm_sum_add(&u->bytes, t->bytes);
  u->has_good = u->has_good || t->is_done;
  if (u->settled <= 0 || u->settled < u->items)
    return false;
  *out = (struct tm_decision) { .has_succeeded = u->has_good, .bytes = u->bytes };
  drop(d, t->mini_batch);
  return true;
}

void tm_deciding_release(struct tm_deciding *d)
{
  free(d->slots);
  *d = (struct tm_deciding) { .slots = NULL };
}
