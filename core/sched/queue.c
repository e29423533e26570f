/* queue.c - see queue.h.
 *
 * The list of entries that came back is short: no longer than what the workers held. It is sorted,
 * highest number first, so that the lowest is popped from its end. If it still grows (every try
 * fails, one worker is stuck), the queue gives up (3) before the search costs more than the tries.
 */
#include "sched/queue.h"

#include <string.h>

#include "base/check.h"
#include "record/part.h"

#define AVOID_UP_TO 4096 /* entries */

void tm_queue_init(struct tm_queue *q, int64_t run_max_try, bool (*is_over)(void *, uint64_t),
                   void *data)
{
  memset(q, 0, sizeof(*q));
  tm_require(run_max_try >= 1);
  q->run_max_try = run_max_try;
  q->later_due_ns = INT64_MAX;
  q->is_over = is_over;
  q->data = data;
}

void tm_queue_release(struct tm_queue *q)
{
  TM_ARRAY_RELEASE(&q->back);
  TM_ARRAY_RELEASE(&q->later);
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

static void back_remove(struct tm_queue *q, size_t at)
{
  q->back.len--;
  memmove(q->back.at + at, q->back.at + at + 1, (q->back.len - at) * sizeof(*q->back.at));
}

static bool take_back(struct tm_queue *q, uint32_t worker, bool others, struct tm_entry *out)
{
  bool may_avoid = others && q->back.len <= AVOID_UP_TO;

  for (size_t i = q->back.len; i-- > 0;) {
    if (may_avoid && q->back.at[i].avoid == worker)
      continue;
    *out = q->back.at[i];
    out->picked++;
    back_remove(q, i);
    return true;
  }
  return false;
}

static bool has_fresh(struct tm_queue *q)
{
  while (q->next < q->created && q->is_over(q->data, q->next))
    q->next++;
  return q->next < q->created;
}

bool tm_queue_take(struct tm_queue *q, uint32_t worker, bool others, struct tm_entry *out)
{
  if (q->is_closed)
    return false;
  if (q->back.len > 0 && take_back(q, worker, others, out))
    return true;
  if (!has_fresh(q))
    return false;
  *out = (struct tm_entry) { .index = q->next++, .try = 1, .picked = 1, .avoid = TM_NO_WORKER };
  return true;
}

/* Keeps (2): whether `a` is handed out after `b`. */
static bool is_later(const struct tm_entry *a, const struct tm_entry *b)
{
  uint32_t a_len = tm_part_count(a->part), b_len = tm_part_count(b->part);

  if (a->index != b->index)
    return a->index > b->index;
  return a_len != b_len ? a_len < b_len : a->part > b->part;
}

static void back_add(struct tm_queue *q, const struct tm_entry *e)
{
  size_t at;

  (void)TM_ARRAY_ADD(&q->back);
  for (at = q->back.len - 1; at > 0 && is_later(e, &q->back.at[at - 1]); at--)
    q->back.at[at] = q->back.at[at - 1];
  q->back.at[at] = *e;
}

void tm_queue_put_back(struct tm_queue *q, const struct tm_entry *e)
{
  tm_require(e->index < q->next && e->try >= 1);
  back_add(q, e);
}

static void later_add(struct tm_queue *q, const struct tm_entry *e)
{
  *TM_ARRAY_ADD(&q->later) = *e;
  if (e->due_ns < q->later_due_ns)
    q->later_due_ns = e->due_ns;
}

bool tm_queue_fail(struct tm_queue *q, const struct tm_entry *e, uint32_t worker)
{
  struct tm_entry again = *e;

  tm_require(e->index < q->next && e->try >= 1);
  if (e->part != 0 || e->try >= q->run_max_try)
    return false;
  again.try++;
  again.avoid = worker;
  if (again.due_ns > q->now_ns)
    later_add(q, &again);
  else
    back_add(q, &again);
  return true;
}

void tm_queue_set_now(struct tm_queue *q, int64_t now_ns)
{
  q->now_ns = now_ns;
  if (q->later_due_ns > now_ns)
    return;
  q->later_due_ns = INT64_MAX;
  for (size_t i = q->later.len; i-- > 0;) {
    struct tm_entry e = q->later.at[i];
    if (e.due_ns > now_ns) {
      q->later_due_ns = e.due_ns < q->later_due_ns ? e.due_ns : q->later_due_ns;
      continue;
    }
    q->later.at[i] = q->later.at[--q->later.len];
    back_add(q, &e);
  }
}

int64_t tm_queue_due(const struct tm_queue *q)
{
  return q->later_due_ns;
}

void tm_queue_add_part(struct tm_queue *q, uint64_t index, uint64_t part, uint32_t try)
{
  tm_require(index < q->next && part != 0);
  back_add(q,
           &(struct tm_entry) { .index = index, .part = part, .try = try, .avoid = TM_NO_WORKER });
}

bool tm_queue_has_waiting(struct tm_queue *q)
{
  return q->back.len > 0 || has_fresh(q);
}
