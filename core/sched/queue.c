/* queue.c - see queue.h. */
#include "sched/queue.h"

#include <string.h>

#include "base/check.h"

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
  tm_backlog_init(&q->back);
  tm_backlog_init(&q->alone);
  tm_heap_init(&q->suspects, sizeof(struct tm_assignment), tm_assignment_is_before);
  tm_heap_init(&q->later, sizeof(struct tm_assignment), is_due_before);
}

void tm_queue_release(struct tm_queue *q)
{
  tm_backlog_release(&q->back);
  tm_backlog_release(&q->alone);
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

static void add_back(struct tm_queue *q, const struct tm_assignment *a)
{
  if (tm_assignment_is_suspect(a))
    tm_heap_add(&q->suspects, a);
  else
    tm_backlog_add(tm_assignment_is_alone(a) ? &q->alone : &q->back, a);
}

static bool has_fresh(struct tm_queue *q)
{
  while (q->next < q->created && q->is_over(q->data, q->next))
    q->next++;
  return q->next < q->created;
}

bool tm_queue_take_suspect(struct tm_queue *q, struct tm_assignment *out)
{
  if (q->is_closed || q->suspects.len == 0)
    return false;
  tm_heap_remove(&q->suspects, 0, out);
  out->picked++;
  return true;
}

bool tm_queue_take(struct tm_queue *q, const struct tm_queue_taker *w, struct tm_assignment *out)
{
  if (q->is_closed)
    return false;
  if ((!w->holds_some && tm_backlog_take(&q->alone, w, out)) || tm_backlog_take(&q->back, w, out)) {
    out->picked++;
    return true;
  }
  if (!has_fresh(q))
    return false;
  *out = (struct tm_assignment) {
    .index = q->next++, .try = 1, .picked = 1, .avoid = TM_NO_WORKER, .avoid_node = TM_NO_NODE
  };
  return true;
}

void tm_queue_put_back(struct tm_queue *q, const struct tm_assignment *a)
{
  tm_require(a->index < q->next && a->try >= 1 && a->lost_nodes < TM_LOST_NODES_MAX);
  add_back(q, a);
}

bool tm_queue_fail(struct tm_queue *q, const struct tm_assignment *a, uint32_t worker,
                   uint32_t node)
{
  struct tm_assignment again = *a;

  tm_require(a->index < q->next && a->try >= 1);
  if (a->part != 0 || a->try >= q->run_max_try)
    return false;
  again.try++;
  again.avoid = worker;
  again.avoid_node = node;
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
  struct tm_assignment a = { .index = index,
                             .part = part,
                             .try = try,
                             .search = search,
                             .avoid = TM_NO_WORKER,
                             .avoid_node = TM_NO_NODE };

  tm_require(index < q->next && part != 0);
  add_back(q, &a);
}

bool tm_queue_has_waiting(struct tm_queue *q)
{
  return q->back.len > 0 || q->alone.len > 0 || has_fresh(q);
}

bool tm_queue_has_unfailed(struct tm_queue *q)
{
  return tm_backlog_has_unfailed(&q->back) || tm_backlog_has_unfailed(&q->alone) || has_fresh(q);
}
