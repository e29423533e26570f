/* queue.c - see queue.h.
 *
 * Assignments that must avoid a worker stay in the heap, and a search passes them by: it visits as
 * many as come before the first that need not. If their number grows (every try fails, one worker
 * is stuck), the queue gives up (3) before the search costs more than the tries.
 */
#include "sched/queue.h"

#include <string.h>

#include "base/check.h"
#include "record/part.h"

#define AVOID_UP_TO 4096 /* assignments */

/* Keeps (2). */
static bool is_before(const void *left, const void *right)
{
  const struct tm_assignment *a = left, *b = right;
  uint32_t a_len, b_len;

  if (a->index != b->index)
    return a->index < b->index;
  a_len = tm_part_count(a->part);
  b_len = tm_part_count(b->part);
  return a_len != b_len ? a_len > b_len : a->part < b->part;
}

static bool is_due_before(const void *left, const void *right)
{
  const struct tm_assignment *a = left, *b = right;

  return a->due_ns < b->due_ns;
}

void tm_queue_init(struct tm_queue *q, int64_t run_max_try, bool (*is_over)(void *, uint64_t),
                   void *data)
{
  memset(q, 0, sizeof(*q));
  tm_require(run_max_try >= 1);
  q->run_max_try = run_max_try;
  q->is_over = is_over;
  q->data = data;
  tm_heap_init(&q->back, sizeof(struct tm_assignment), is_before);
  tm_heap_init(&q->alone, sizeof(struct tm_assignment), is_before);
  tm_heap_init(&q->suspects, sizeof(struct tm_assignment), is_before);
  tm_heap_init(&q->later, sizeof(struct tm_assignment), is_due_before);
}

void tm_queue_release(struct tm_queue *q)
{
  tm_heap_release(&q->back);
  tm_heap_release(&q->alone);
  tm_heap_release(&q->suspects);
  tm_heap_release(&q->later);
}

void tm_queue_set_created(struct tm_queue *q, uint64_t created)
{
  tm_require(created >= q->created);
  q->created = created;
}

void tm_queue_close(struct tm_queue *q)
{
  q->is_closed = true;
}

/* The place of the first that need not avoid `worker`, at `i` or below it, unless `best` comes
 * before it; SIZE_MAX: there is none. */
static size_t first_for(const struct tm_heap *h, uint32_t worker, size_t i, size_t best)
{
  const struct tm_assignment *a;

  if (i >= h->len)
    return best;
  a = tm_heap_at(h, i);
  if (best != SIZE_MAX && !is_before(a, tm_heap_at(h, best)))
    return best;
  if (a->avoid != worker)
    return i;
  best = first_for(h, worker, 2 * i + 1, best);
  return first_for(h, worker, 2 * i + 2, best);
}

static bool take_back(struct tm_heap *h, const struct tm_queue_taker *w, struct tm_assignment *out)
{
  bool may_avoid = w->others && h->len <= AVOID_UP_TO;
  size_t i = may_avoid ? first_for(h, w->worker, 0, SIZE_MAX) : 0;

  if (i >= h->len)
    return false;
  tm_heap_remove(h, i, out);
  out->picked++;
  return true;
}

static void add_back(struct tm_queue *q, const struct tm_assignment *a)
{
  if (tm_assignment_is_suspect(a))
    tm_heap_add(&q->suspects, a);
  else
    tm_heap_add(tm_assignment_is_alone(a) ? &q->alone : &q->back, a);
}

static bool has_fresh(struct tm_queue *q)
{
  while (q->next < q->created && q->is_over(q->data, q->next))
    q->next++;
  return q->next < q->created;
}

bool tm_queue_take_suspect(struct tm_queue *q, struct tm_assignment *out)
{
  return !q->is_closed &&
         take_back(&q->suspects, &(struct tm_queue_taker) { .others = false }, out);
}

bool tm_queue_take(struct tm_queue *q, const struct tm_queue_taker *w, struct tm_assignment *out)
{
  if (q->is_closed)
    return false;
  if (!w->holds_some && take_back(&q->alone, w, out))
    return true;
  if (take_back(&q->back, w, out))
    return true;
  if (!has_fresh(q))
    return false;
  *out =
      (struct tm_assignment) { .index = q->next++, .try = 1, .picked = 1, .avoid = TM_NO_WORKER };
  return true;
}

void tm_queue_put_back(struct tm_queue *q, const struct tm_assignment *a)
{
  tm_require(a->index < q->next && a->try >= 1 && a->lost_nodes < TM_LOST_NODES_MAX);
  add_back(q, a);
}

bool tm_queue_fail(struct tm_queue *q, const struct tm_assignment *a, uint32_t worker)
{
  struct tm_assignment again = *a;

  tm_require(a->index < q->next && a->try >= 1);
  if (a->part != 0 || a->try >= q->run_max_try)
    return false;
  again.try++;
  again.avoid = worker;
  if (again.due_ns > q->now_ns)
    tm_heap_add(&q->later, &again);
  else
    add_back(q, &again);
  return true;
}

void tm_queue_set_now(struct tm_queue *q, int64_t now_ns)
{
  struct tm_assignment a;

  q->now_ns = now_ns;
  while (tm_queue_due(q) <= now_ns) {
    tm_heap_remove(&q->later, 0, &a);
    add_back(q, &a);
  }
}

int64_t tm_queue_due(const struct tm_queue *q)
{
  return q->later.len > 0 ? ((struct tm_assignment *)tm_heap_at(&q->later, 0))->due_ns : INT64_MAX;
}

void tm_queue_add_part(struct tm_queue *q, uint64_t index, uint64_t part, uint32_t try,
                       uint32_t search)
{
  struct tm_assignment a = {
    .index = index, .part = part, .try = try, .search = search, .avoid = TM_NO_WORKER
  };

  tm_require(index < q->next && part != 0);
  add_back(q, &a);
}

bool tm_queue_has_waiting(struct tm_queue *q)
{
  return q->back.len > 0 || q->alone.len > 0 || has_fresh(q);
}
