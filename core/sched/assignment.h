/* assignment.h - a mini-batch, or a part of one, with the number of its try, on the way to a
 * worker. */
#ifndef TM_SCHED_ASSIGNMENT_H
#define TM_SCHED_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#define TM_NO_WORKER      UINT32_MAX
#define TM_NO_NODE        UINT32_MAX
#define TM_LOST_NODES_MAX 3 /* after so many lost nodes, a mini-batch or a part has failed */

/* Each worker holds some, and there may be 100,000 workers: without padding. */
struct tm_assignment {
  uint64_t index;
  uint64_t part; /* of the mini-batch (record/part.h), while bad items are isolated; 0: the whole */
  uint32_t try;  /* the number of this try, from 1 */
  uint32_t picked;       /* how often it was handed out, including this time */
  uint16_t lost_answers; /* how often a worker finished it, but its answer was not read */
  uint16_t lost_nodes;   /* how often its node was lost while it was at a worker there */
  uint32_t lost_at[TM_LOST_NODES_MAX]; /* those nodes */
  uint32_t rows;                       /* of a table, as a worker counted them; 0: not known */
  uint32_t search;     /* of a part: the search for bad items that it belongs to (searches.h) */
  uint32_t avoid;      /* the worker at which it last failed, or TM_NO_WORKER */
  uint32_t avoid_node; /* the node of that worker, or TM_NO_NODE */
  int64_t due_ns;      /* not handed out before; monotonic */
};

static inline bool tm_assignment_is_suspect(const struct tm_assignment *a)
{
  return a->lost_nodes + 1 >= TM_LOST_NODES_MAX;
}
static inline bool tm_assignment_is_alone(const struct tm_assignment *a)
{
  return a->lost_answers > 0 || a->lost_nodes > 0;
}
/* The order in which assignments that came back are handed out: queue.h (2). Of two `struct
 * tm_assignment`, for a heap. */
bool tm_assignment_is_before(const void *left, const void *right);

#endif
