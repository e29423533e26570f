/* queue.h - which mini-batch is handed out next, and what happens to one that failed.
 *
 * Pure: it reads no clock (the caller passes the time), and knows no file and no worker. A
 * mini-batch is in exactly one state: not created, waiting, at workers, or over (committed or
 * failed). The queue holds the waiting ones. Those that were never handed out are the numbers from
 * `next` on, and take no memory; those that came back are in heaps. A worker that takes an
 * assignment holds it until the assignment is put back, failed, or over.
 *
 *  (1) An assignment that is put back does not count as a try; one that failed does.
 *  (2) Assignments that came back are handed out before fresh ones, the lowest number first; of one
 *      mini-batch the largest part first.
 *  (3) A mini-batch that failed on a node goes to another node if a worker there can take it, else
 *      to another worker if there is one, unless it is a suspect. A part has one try. Neither goes
 *      to a doubtful node while a sound one has a worker that can take it (node_health.h).
 *  (4) A failed assignment waits until its time has come; meanwhile the ones behind it go first.
 *  (5) Some assignments must be alone at their worker: it holds nothing when it takes one, and gets
 *      nothing more until that has ended. Those are the ones whose answer was lost before (their
 *      worker then answers at once), or whose node was lost while a worker had them (the next loss
 *      says more).
 *  (6) A suspect has lost all nodes but one of the most that it may lose. It must be alone, too,
 *      and the caller sees to it that a node has one suspect at most. What takes nodes down has
 *      lost as many as anything beside it, so it is a suspect when something beside it is. So it
 *      fails alone, although others ran beside it each time.
 */
#ifndef TM_SCHED_QUEUE_H
#define TM_SCHED_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "sched/backlog.h"

struct tm_queue {
  uint64_t next;    /* the lowest number never handed out in this session */
  uint64_t created; /* numbers below it exist */
  int64_t run_max_try;
  bool is_closed;                              /* nothing more is handed out */
  bool (*is_over)(void *data, uint64_t index); /* committed or failed in an earlier session */
  void *data;
  struct tm_backlog back;  /* came back; in the order of (2) */
  struct tm_backlog alone; /* likewise: those of (5) */
  struct tm_heap suspects; /* likewise: those of (6) */
  struct tm_heap later;    /* failed, and wait for their time; by due_ns */
  int64_t now_ns;          /* as the caller set it */
};

void tm_queue_init(struct tm_queue *q, int64_t run_max_try, bool (*is_over)(void *, uint64_t),
                   void *data);
void tm_queue_release(struct tm_queue *q);
void tm_queue_set_created(struct tm_queue *q, uint64_t created);
void tm_queue_close(struct tm_queue *q);
/* The time, monotonic: assignments that were due until then can be taken. Keeps (4). */
void tm_queue_set_now(struct tm_queue *q, int64_t now_ns);
/* When the first one that waits for its time is due; INT64_MAX: none does. */
int64_t tm_queue_due(const struct tm_queue *q);

/* The next assignment for the worker, but for suspects; false if there is none for it. */
bool tm_queue_take(struct tm_queue *q, const struct tm_queue_taker *w, struct tm_assignment *out);
/* The next suspect, for a worker that holds nothing. */
bool tm_queue_take_suspect(struct tm_queue *q, struct tm_assignment *out);
void tm_queue_put_back(struct tm_queue *q, const struct tm_assignment *a); /* keeps (1) */
/* A try at `worker`, on `node`, has failed. True: it will be tried again, not before a->due_ns.
 * False: that was the last try. */
bool tm_queue_fail(struct tm_queue *q, const struct tm_assignment *a, uint32_t worker,
                   uint32_t node);
/* A part of a mini-batch that has used up its tries. It is tried once. */
void tm_queue_add_part(struct tm_queue *q, uint64_t index, uint64_t part, uint32_t try,
                       uint32_t search);
/* Whether any assignment but a suspect can be taken now. Skips mini-batches that are over, so that
 * `next` is exact. */
bool tm_queue_has_waiting(struct tm_queue *q);
/* The same, but for parts, and for mini-batches that have failed. */
bool tm_queue_has_unfailed(struct tm_queue *q);

#endif
