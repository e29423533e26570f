/* pool.h - the life cycle of workers, and how many a step should have.
 *
 * Pure: it starts nothing. The supervisor reports what happened to a worker, and asks whether to
 * start another. The life cycle is a table [state][event] -> state:
 *
 *   STARTING --started--> LOADING --loaded--> INIT --ready--> READY --stop--> STOPPING --> GONE
 *        `------- an end or a failure before READY counts as a failure of init() --------^
 *
 *  (1) No second worker starts before the first one has loaded the script: the first one refuses a
 *      script without run().
 *  (2) After 3 * process_count failures of init() in a row, no further worker starts. The same
 *      holds when as many workers in a row ended after init() without beginning anything: otherwise
 *      no mini-batch would ever use up its tries.
 */
#ifndef TM_SCHED_POOL_H
#define TM_SCHED_POOL_H

#include <stdbool.h>
#include <stdint.h>

enum tm_worker_state {
  TM_WORKER_GONE, /* or not started yet */
  TM_WORKER_STARTING,
  TM_WORKER_LOADING,
  TM_WORKER_INIT,
  TM_WORKER_READY,
  TM_WORKER_STOPPING, /* told to stop, or killed by us: its end is not a failure */
  TM_WORKER_STATES
};
enum tm_worker_event {
  TM_WORKER_ON_START,   /* the keeper was asked to start it */
  TM_WORKER_ON_STARTED, /* it runs and its channel exists */
  TM_WORKER_ON_LOADED,  /* the script defines run() */
  TM_WORKER_ON_READY,   /* init() is done */
  TM_WORKER_ON_STOP,    /* told to stop, or killed by us */
  TM_WORKER_ON_ENDED,
  TM_WORKER_EVENTS
};

struct tm_pool {
  int64_t process_count;
  int64_t living; /* every state but GONE */
  int64_t ready;
  int64_t init_failures; /* in a row */
  int64_t idle_ends;     /* READY workers in a row that ended by themselves and had begun nothing */
  bool has_loaded;       /* (1) */
  bool is_closed;        /* the step is over: no further worker starts */
};

void tm_pool_init(struct tm_pool *p, int64_t process_count);
/* Whether the table allows the event. */
bool tm_pool_allows(enum tm_worker_state s, enum tm_worker_event e);
/* Returns the next state and updates the pool's numbers. An event that the table does not allow is
 * our own bug (check.h). */
enum tm_worker_state tm_pool_step(struct tm_pool *p, enum tm_worker_state s,
                                  enum tm_worker_event e);
/* A READY worker has ended by itself. `has_begun`: it ever began a mini-batch. */
void tm_pool_note_end(struct tm_pool *p, bool has_begun);
/* After so many of these in a row no further worker starts: (2). */
int64_t tm_pool_failures_max(const struct tm_pool *p);
/* Whether to start another worker. `open`: mini-batches that wait or run. Keeps (1) and (2). */
bool tm_pool_wants_worker(const struct tm_pool *p, int64_t open);
/* (2) holds and no worker lives: the step has failed. */
bool tm_pool_has_given_up(const struct tm_pool *p);
void tm_pool_close(struct tm_pool *p);

#endif
