/* backlog.h - assignments that came back and wait for a worker. Some of them failed, and avoid the
 * node and the worker where that happened. Pure; a part of the queue.
 *
 *  (1) They are taken in their order (assignment.h), but for those that the taker must avoid.
 *  (2) Adding and taking cost time logarithmic in their number, however many avoid one node. The
 *      ones that avoid the same node are in a heap of their own, and the heaps are ordered by their
 *      first elements: if the taker's own node has the first heap, the next one is below it.
 *  (3) Only while no other node has a worker that could take them, a search passes by those that
 *      avoid the taker itself. If there are more than AVOID_UP_TO, the first one is taken: else the
 *      search could cost more than the tries (every try fails, one worker is stuck).
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
  struct TM_ARRAY(struct tm_backlog_heap *) by_node; /* that they avoid; NULL: never had any */
  struct tm_backlog_heap *any, *parts;               /* those that avoid no node; or NULL */
  struct TM_ARRAY(struct tm_backlog_heap *) order;   /* those that are not empty, as a heap */
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
/* Whether a mini-batch is there that has not failed. */
bool tm_backlog_has_unfailed(const struct tm_backlog *r);
/* The first that the taker need not avoid; false: there is none. */
bool tm_backlog_take(struct tm_backlog *r, const struct tm_queue_taker *taker,
                     struct tm_assignment *out);

#endif
