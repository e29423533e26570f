/* pool.h - the life cycle of workers, and how many a step should have.
 *
 * Pure: it starts nothing. The supervisor tells it what happened to a worker, and asks whether another one should be
 * started. The life cycle is a table [state][event] -> state:
 *
 *   STARTING --started--> LOADING --loaded--> INIT --ready--> READY --stop--> STOPPING --ended--> GONE
 *        `------------------ ended or failed before READY counts as a failure of init() -------------^
 *
 *  (1) Until one worker has loaded the script no second one is started: a script without run() is refused by the first.
 *  (2) After 3 * process_count failures of init() in a row no further worker is started; nor when as many in a row have ended
 *      after init() without beginning anything: no mini-batch would ever use up its tries.
 */
#ifndef TM_RUN_POOL_H
#define TM_RUN_POOL_H

#include <stdbool.h>
#include <stdint.h>

enum tm_worker_state {
  TM_WORKER_GONE, /* also: not there yet */
  TM_WORKER_STARTING,
  TM_WORKER_LOADING,
  TM_WORKER_INIT,
  TM_WORKER_READY,
  TM_WORKER_STOPPING, /* told to stop, or killed by us: its end is no failure */
  TM_WORKER_STATES
};
enum tm_worker_event {
  TM_WORKER_ON_START,   /* the keeper was asked */
  TM_WORKER_ON_STARTED, /* it runs, its channel is there */
  TM_WORKER_ON_LOADED,  /* the script defines run() */
  TM_WORKER_ON_READY,   /* init() is done */
  TM_WORKER_ON_STOP,    /* told to stop, or killed by us */
  TM_WORKER_ON_ENDED,
  TM_WORKER_EVENTS
};
const char *tm_worker_state_name(enum tm_worker_state s);

struct tm_pool {
  int64_t process_count;
  int64_t living; /* every state but GONE */
  int64_t ready;
  int64_t init_failures; /* in a row */
  int64_t idle_ends;     /* READY ones that ended by themselves and had begun nothing, in a row */
  bool has_loaded;       /* (1) */
  bool is_closed;        /* the step is over: no further worker */
};

void tm_pool_init(struct tm_pool *p, int64_t process_count);
/* The next state, with the pool's numbers kept. An event that the table does not know is a fault of ours (check.h). */
enum tm_worker_state tm_pool_step(struct tm_pool *p, enum tm_worker_state s,
                                  enum tm_worker_event e);
/* A worker that was READY has ended by itself. `has_begun`: a mini-batch, at any time. */
void tm_pool_note_end(struct tm_pool *p, bool has_begun);
/* Another worker should be started; `open`: mini-batches that wait or run. Keeps (1) and (2). */
bool tm_pool_wants_worker(const struct tm_pool *p, int64_t open);
/* (2) holds and nobody lives: the step has failed. */
bool tm_pool_has_given_up(const struct tm_pool *p);
void tm_pool_close(struct tm_pool *p);

#endif
