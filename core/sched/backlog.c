/* backlog.c - see backlog.h. */
#include "sched/backlog.h"

#include "base/check.h"
#include "record/part.h"

#define AVOID_UP_TO 4096 /* assignments */

bool tm_assignment_is_before(const void *left, const void *right)
{
  const struct tm_assignment *a = left, *b = right;
  uint32_t a_len, b_len;

  if (a->index != b->index)
    return a->index < b->index;
  a_len = tm_part_count(a->part);
  b_len = tm_part_count(b->part);
  return a_len != b_len ? a_len > b_len : a->part < b->part;
}

void tm_backlog_init(struct tm_backlog *r)
{
  *r = (struct tm_backlog) { .len = 0 };
}

static void free_heap(struct tm_backlog_heap *h)
{
  if (h)
    tm_heap_release(&h->of);
  free(h);
}

void tm_backlog_release(struct tm_backlog *r)
{
  for (size_t i = 0; i < r->by_node.len; i++)
    free_heap(r->by_node.at[i]);
  free_heap(r->any);
  free_heap(r->parts);
  TM_ARRAY_RELEASE(&r->by_node);
  TM_ARRAY_RELEASE(&r->order);
  tm_backlog_init(r);
}

/* ---- the order of the heaps ---- */

static const struct tm_assignment *at(const struct tm_backlog_heap *h, size_t i)
{
  return tm_heap_at(&h->of, i);
}

static bool is_before(const struct tm_backlog_heap *a, const struct tm_backlog_heap *b)
{
  return tm_assignment_is_before(at(a, 0), at(b, 0));
}

static void put(struct tm_backlog *r, size_t i, struct tm_backlog_heap *h)
{
  r->order.at[i] = h;
  h->at = i;
}

/* The heap's first element has changed: it moves up or down. */
static void settle(struct tm_backlog *r, struct tm_backlog_heap *h)
{
  size_t i = h->at, child;

  for (; i > 0 && is_before(h, r->order.at[(i - 1) / 2]); i = (i - 1) / 2)
    put(r, i, r->order.at[(i - 1) / 2]);
  for (; (child = 2 * i + 1) < r->order.len; i = child) {
    if (child + 1 < r->order.len && is_before(r->order.at[child + 1], r->order.at[child]))
      child++;
    if (!is_before(r->order.at[child], h))
      break;
    put(r, i, r->order.at[child]);
  }
  put(r, i, h);
}

static void remove_heap(struct tm_backlog *r, struct tm_backlog_heap *h)
{
  struct tm_backlog_heap *last = r->order.at[--r->order.len];

  if (last != h) {
    put(r, h->at, last);
    settle(r, last);
  }
  h->at = SIZE_MAX;
}

/* ---- adding ---- */

static struct tm_backlog_heap **slot_of(struct tm_backlog *r, const struct tm_assignment *a)
{
  uint32_t node = a->avoid_node;

  if (node == TM_NO_NODE)
    return a->part == 0 ? &r->any : &r->parts;
  while (r->by_node.len <= node)
    *TM_ARRAY_ADD(&r->by_node) = NULL;
  return &r->by_node.at[node];
}

void tm_backlog_add(struct tm_backlog *r, const struct tm_assignment *a)
{
  struct tm_backlog_heap **slot = slot_of(r, a), *h = *slot;

  if (!h) {
    h = *slot = TM_NEW(struct tm_backlog_heap);
    tm_heap_init(&h->of, sizeof(struct tm_assignment), tm_assignment_is_before);
    h->at = SIZE_MAX;
  }
  tm_heap_add(&h->of, a);
  if (h->at == SIZE_MAX) {
    *TM_ARRAY_ADD(&r->order) = h;
    h->at = r->order.len - 1;
  }
  settle(r, h);
  r->len++;
}

/* ---- taking ---- */

/* The place of the first that need not avoid `worker`, at `i` or below it, unless `best` comes
 * before it; SIZE_MAX: there is none. */
static size_t first_for(const struct tm_backlog_heap *h, uint32_t worker, size_t i, size_t best)
{
  if (i >= h->of.len)
    return best;
  if (best != SIZE_MAX && !tm_assignment_is_before(at(h, i), at(h, best)))
    return best;
  if (at(h, i)->avoid != worker)
    return i;
  best = first_for(h, worker, 2 * i + 1, best);
  return first_for(h, worker, 2 * i + 2, best);
}

/* The first heap but `own`; NULL: there is none. */
static struct tm_backlog_heap *first_but(const struct tm_backlog *r,
                                         const struct tm_backlog_heap *own)
{
  struct tm_backlog_heap *const *order = r->order.at;
  size_t len = r->order.len;

  if (len == 0 || order[0] != own)
    return len > 0 ? order[0] : NULL;
  if (len < 3)
    return len == 2 ? order[1] : NULL;
  return is_before(order[1], order[2]) ? order[1] : order[2];
}

/* Of the heap of the taker's own node: keeps (3). SIZE_MAX: none. */
static size_t own_for(const struct tm_backlog_heap *own, const struct tm_queue_taker *taker)
{
  if (!own || own->of.len == 0 || taker->other_nodes)
    return SIZE_MAX;
  if (!taker->others || own->of.len > AVOID_UP_TO)
    return 0;
  return first_for(own, taker->worker, 0, SIZE_MAX);
}

bool tm_backlog_has_unfailed(const struct tm_backlog *r)
{
  return r->any && r->any->of.len > 0;
}

bool tm_backlog_take(struct tm_backlog *r, const struct tm_queue_taker *taker,
                     struct tm_assignment *out)
{
  struct tm_backlog_heap *own = taker->node < r->by_node.len ? r->by_node.at[taker->node] : NULL;
  struct tm_backlog_heap *h = first_but(r, own);
  size_t i = own_for(own, taker);

  if (taker->is_shunned)
    h = tm_backlog_has_unfailed(r) ? r->any : NULL;
  else if (i != SIZE_MAX && (!h || tm_assignment_is_before(at(own, i), at(h, 0))))
    h = own;
  if (h != own)
    i = 0;
  if (!h)
    return false;
  tm_heap_remove(&h->of, i, out);
  r->len--;
  if (h->of.len == 0)
    remove_heap(r, h);
  else
    settle(r, h);
  return true;
}
