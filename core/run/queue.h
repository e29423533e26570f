/* queue.h - which mini-batch is handed out next, and what becomes of one that failed.
 *
 * Pure: it sees no clock (the time is told), no file and no worker. A mini-batch is in exactly one of: not created, waiting, at workers,
 * over (committed or failed). The queue knows the waiting ones: those never handed out are the numbers from `next` on
 * (they cost no memory); those that come back stand in a short list. Who takes an entry holds it until it is put back,
 * failed, or over.
 *
 *  (1) An entry that is put back does not count as a try; one that failed does.
 *  (2) What came back is handed out before what is fresh, the lowest number first; of one mini-batch the largest part.
 *  (3) What failed at a worker goes to another one where there is one. A part has one try.
 *  (4) What failed waits until its time has come; meanwhile what waits behind it goes first.
 */
#ifndef TM_RUN_QUEUE_H
#define TM_RUN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define TM_NO_WORKER UINT32_MAX

struct tm_entry {
  uint64_t index;
  uint64_t part;   /* of it (run/part.h), while bad items are isolated; 0: the whole */
  uint32_t try;    /* the number of this try, from 1 */
  uint32_t picked; /* how often it has been handed out, with this time */
  uint32_t
      lost_answers; /* how often it was done, but its worker ended before the answer was read */
  uint32_t rows;    /* of a table, as a worker has counted them; 0: not known */
  uint32_t avoid;   /* the worker at which it failed last, or TM_NO_WORKER */
  int64_t due_ns;   /* not to be handed out before; monotonic */
};

struct tm_queue {
  uint64_t next;    /* the lowest number never handed out in this session */
  uint64_t created; /* numbers below it exist */
  int64_t run_max_try;
  bool is_closed;                              /* nothing more is handed out */
  bool (*is_over)(void *data, uint64_t index); /* committed or failed in an earlier session */
  void *data;
  struct TM_ARRAY(struct tm_entry) back;  /* by index, highest first */
  struct TM_ARRAY(struct tm_entry) later; /* what failed and waits for its time, in no order */
  int64_t later_due_ns;                   /* the first of them is due; INT64_MAX: there is none */
  int64_t now_ns;                         /* as told */
};

void tm_queue_init(struct tm_queue *q, int64_t run_max_try, bool (*is_over)(void *, uint64_t),
                   void *data);
void tm_queue_release(struct tm_queue *q);
void tm_queue_set_created(struct tm_queue *q, uint64_t created);
void tm_queue_close(struct tm_queue *q);
/* The time, monotonic: what was due until then is there to be taken. Keeps (4). */
void tm_queue_set_now(struct tm_queue *q, int64_t now_ns);
/* When the first of those that wait for their time is due; INT64_MAX: there is none. */
int64_t tm_queue_due(const struct tm_queue *q);

/* The next for `worker`; false when there is none for it. `others`: other workers live that could take what it must avoid. */
bool tm_queue_take(struct tm_queue *q, uint32_t worker, bool others, struct tm_entry *out);
void tm_queue_put_back(struct tm_queue *q, const struct tm_entry *e); /* keeps (1) */
/* A try at `worker` has failed: true when it will be tried again, not before e->due_ns; false when it was the last. */
bool tm_queue_fail(struct tm_queue *q, const struct tm_entry *e, uint32_t worker);
/* A part of a mini-batch that has used up its tries, to be tried once. */
void tm_queue_add_part(struct tm_queue *q, uint64_t index, uint64_t part, uint32_t try);
/* Whether anything could be taken now. Skips what is over, so that `next` is exact. */
bool tm_queue_has_waiting(struct tm_queue *q);

#endif
