/* backlog.h - assignments that came back and wait for a worker. Failed ones avoid the node and the
 * worker where they failed. Pure; a part of the queue.
 *
 *  (1) Assignments are taken in their order (assignment.h), except those that avoid the taker.
 *  (2) Adding and taking cost logarithmic time, however many assignments avoid one node. Each node
 *      has a heap of the assignments that avoid it. The heaps are in turn a heap, by their first
 *      elements. A taker skips the heap of its own node: the next heap is below that.
 *  (3) If no other node has a worker that could take them, assignments may go to another worker of
 *      the node that they avoid. Only then a search skips those that avoid the taker itself. If
 *      there are more than AVOID_UP_TO, it takes the first one: otherwise, when every try fails and
 *      one worker is stuck, searches could cost more than tries.
 */
#ifndef TM_SCHED_BACKLOG_H
#define TM_SCHED_BACKLOG_H

#include <stddef.h>

#include "base/heap.h"
#include "base/mem.h"
#include "sched/assignment.h"

struct tm_backlog_heap {
  struct tm_heap of; /* struct tm_assignment */
  size_t at;         /* in `order`; SIZE_MAX: it is empty */
};

struct tm_backlog {
  struct TM_ARRAY(struct tm_backlog_heap *) by_node; /* by avoided node; NULL: never had any */
  struct tm_backlog_heap *any, *parts;               /* those that avoid no node; or NULL */
  struct TM_ARRAY(struct tm_backlog_heap *) order;   /* the nonempty heaps, as a heap */
  size_t len;
};

/* The worker that takes an assignment. */
struct tm_queue_taker {
  uint32_t worker, node;
  bool holds_some;  /* nothing that must be alone is for it */
  bool others;      /* other living workers could take what this one must avoid */
  bool other_nodes; /* of these, some are on another node */
  bool is_shunned;  /* nothing that has failed is for it, and no part */
};

void tm_backlog_init(struct tm_backlog *r);
void tm_backlog_release(struct tm_backlog *r);
void tm_backlog_add(struct tm_backlog *r, const struct tm_assignment *a);
/* Whether a mini-batch waits that has not failed. */
bool tm_backlog_has_unfailed(const struct tm_backlog *r);
/* The first assignment that does not avoid the taker; false: there is none. */
bool tm_backlog_take(struct tm_backlog *r, const struct tm_queue_taker *taker,
                     struct tm_assignment *out);

#endif
