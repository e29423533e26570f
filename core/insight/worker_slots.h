/* worker_slots.h - the workers of a step, and the worker slots: the positions that successive
 * workers of a node share. Pure.
 *
 * A try belongs to the worker of its name, whose events come before it. Names of workers are unique
 * in a step, over all sessions. A worker that has no event "ended" was cut off: its process or the
 * whole job was killed, or it still runs.
 *
 *  (1) Events in the order of their file, and tries in that of theirs, end in the same contents,
 *      whether tries come between events or behind them all.
 *  (2) Durations come from the monotonic clock of the supervisor where a row has one.
 */
#ifndef TM_INSIGHT_WORKER_SLOTS_H
#define TM_INSIGHT_WORKER_SLOTS_H

#include <stdbool.h>

#include "base/map.h"
#include "base/mem.h"
#include "report/life_rows.h"
#include "report/try_rows.h"

#define TM_WORKERS_NAMED  20000 /* later ones are only counted */
#define TM_WORKERS_RECENT 128

/* The last seconds of a running step are known only where a worker is known to be at a try. A try
 * is in a table when it has ended; in the file of a running job (running.h) once it has lasted a
 * second, at most two seconds later. */
#define TM_UNSEEN_NS INT64_C(4000000000)

struct tm_open_try { /* one that did not end by itself */
  int64_t mini_batch, try_number, begin_ns;
  int64_t elapsed_ns; /* 0: there is none */
  bool runs;          /* now; else it was cut off with its worker */
};

struct tm_worker_life {
  char *name, *node, *address, *end; /* `end`: how it ended, one line; NULL: it has not */
  size_t slot, session;              /* `session`: the one in which it was started, from 0 */
  size_t node_at;                    /* its node in step_model.h, once `is_placed` */
  bool is_placed;                    /* it has a node and a lane */
  int64_t pid;
  int64_t started_ns, ready_ns, ended_ns; /* wall clock; 0: not yet */
  int64_t lived_ns;                       /* until it ended; 0: it has not, or it is not known */
  /* Until it was ready, or init() had failed: before init() and in it. A row that does not divide
   * the time has it in `start_ns`; one of an init() that failed, in `init_ns`. */
  int64_t start_ns, init_ns;
  bool init_failed;
  bool was_killed;       /* by a signal or for a limit */
  bool has_died;         /* it ended, and nobody had asked it to */
  int64_t last_ns;       /* the end of its last try or event */
  int64_t max_rss_bytes; /* 0: not known */
  int64_t limited_bytes; /* what counts for worker_memory_limit; else the same */
  int64_t tries, failed_tries, items, items_failed;
  int64_t run_ok_ns, run_failed_ns; /* in run() of tries that succeeded and failed */
  int64_t run_open_ns;              /* of those that were cut off */
  struct tm_open_try open; /* the last one; or the one that runs: tm_workers_set_running() */
  int64_t begun_ns, begun; /* when its last try began that has ended, and its mini-batch */
  int64_t around_ns; /* of its tries, outside of run(): loading the items, handing over the rows */
};

struct tm_worker_slot {
  char *node;
  size_t workers; /* how many have had it */
  size_t worker;  /* the last of them */
  size_t next;    /* index + 1 of the next one of the node; 0: there is none */
};

struct tm_workers {
  struct TM_ARRAY(struct tm_worker_life) list; /* in the order in which they were started */
  struct TM_ARRAY(struct tm_worker_slot) slots;
  struct tm_map known;              /* name -> index + 1 */
  size_t recent[TM_WORKERS_RECENT]; /* by the end of the name: index + 1 of the one found last */
  struct tm_map of_node;            /* node -> index + 1 of its first slot */
  int64_t unnamed, deaths, inits_failed, clock_jumps;
  struct tm_worker_life others; /* sums over those without a name */
};

void tm_workers_release(struct tm_workers *w);
/* `session`: the one of the event's time. The worker; NULL: it is one of the others. */
struct tm_worker_life *tm_workers_add_event(struct tm_workers *w, const struct tm_life_row *e,
                                            size_t session);
struct tm_try_sums { /* of a try, as numbers */
  int64_t items, items_failed, run_ns, around_ns;
  bool is_ok, is_failed; /* neither: it was canceled */
};
/* The worker of the try, with the try counted. One without an event is added as if it had started
 * when this try began. NULL: it is one of the others. */
struct tm_worker_life *tm_workers_add_try(struct tm_workers *w, const struct tm_try_row *t,
                                          const struct tm_try_sums *sums, size_t session);
/* Whether an event or a try has named the worker; or there are too many to know. */
bool tm_workers_knows(struct tm_workers *w, const char *name);
struct tm_running_try { /* what a worker is at, as far as anybody knows */
  const char *worker;
  int64_t mini_batch, try_number, begun_ns;
};
/* Sets which workers have a try that runs at `now_ns`; of others, it is forgotten. One that has
 * ended by what the tables say, or whose worker has, is left out. */
void tm_workers_set_running(struct tm_workers *w, const struct tm_running_try *list, size_t len,
                            int64_t now_ns);
/* How long a worker has lived: until it ended; else until `now_ns`, as far as that is known
 * (TM_UNSEEN_NS), or, if it was cut off (0), until its last event or try. At least 0. */
int64_t tm_worker_lived_ns(const struct tm_worker_life *w, int64_t now_ns);
/* Where its life ends in the timeline, likewise. */
int64_t tm_worker_until_ns(const struct tm_worker_life *w, int64_t now_ns);

/* Where the time of workers went; the parts add up to `lived_ns`. */
struct tm_worker_time {
  int64_t lived_ns, run_ok_ns, run_failed_ns, around_ns, init_ns;
  int64_t run_open_ns; /* of tries that run, or were cut off */
  int64_t start_ns;    /* starting and loading the script; all of a worker that was never ready */
  int64_t wait_ns;
  int64_t unmeasured_ns; /* it may have been anything: not all tries are known */
};
void tm_worker_time_add(struct tm_worker_time *sum, const struct tm_worker_life *w, int64_t now_ns);

#endif
