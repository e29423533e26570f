/* workers.h - the workers of a step, and the worker slots: the positions that successive workers of
 * a node share. Pure.
 *
 * Feed all events first, then tries: a try belongs to the worker of its name. Names of workers are
 * unique in a step, over all sessions. A worker that has no event "ended" was cut off: its process
 * or the whole job was killed, or it still runs.
 */
#ifndef TM_INSIGHT_WORKERS_H
#define TM_INSIGHT_WORKERS_H

#include <stdbool.h>

#include "base/map.h"
#include "base/mem.h"
#include "report/life_rows.h"
#include "report/try_rows.h"

#define TM_WORKERS_NAMED 20000 /* later ones are only counted */

struct tm_worker_life {
  char *name, *node, *address, *end; /* `end`: how it ended, one line; NULL: it has not */
  size_t slot;
  int64_t pid;
  int64_t started_ns, ready_ns, ended_ns; /* wall clock; 0: not yet */
  int64_t init_ns;                        /* how long init() took; 0: not known */
  bool init_failed, was_killed;           /* `was_killed`: by a signal, or for a limit */
  int64_t last_ns;                        /* the end of its last try or event */
  int64_t max_rss_bytes;                  /* 0: not known */
  int64_t tries, failed_tries, items, items_failed;
  int64_t run_ok_ns, run_failed_ns; /* in run() of tries that succeeded and failed */
  int64_t around_ns; /* of its tries, outside of run(): loading the items, handing over the rows */
};

struct tm_worker_slot {
  char *node;
  size_t workers;       /* how many have had it */
  size_t worker;        /* the last of them */
  int64_t free_from_ns; /* that one has ended; INT64_MAX: it has not */
};

struct tm_workers {
  struct TM_ARRAY(struct tm_worker_life) list; /* in the order in which they were started */
  struct TM_ARRAY(struct tm_worker_slot) slots;
  struct tm_map known; /* name -> index + 1 */
  int64_t unnamed, deaths, inits_failed;
};

void tm_workers_release(struct tm_workers *w);
void tm_workers_add_event(struct tm_workers *w, const struct tm_life_row *e);
/* The worker of the try, with the try counted; NULL: it has no event, and was added as if it had
 * started when this try began. */
struct tm_worker_life *tm_workers_add_try(struct tm_workers *w, const struct tm_try_row *t);
/* How long a worker has lived: until it ended; else until `now_ns`, or, if it was cut off (0), until
 * its last event or try. At least 0. */
int64_t tm_worker_lived_ns(const struct tm_worker_life *w, int64_t now_ns);

/* Where the time of workers went; the parts add up to `lived_ns`. */
struct tm_worker_time {
  int64_t lived_ns, run_ok_ns, run_failed_ns, around_ns, init_ns, start_ns, wait_ns;
};
void tm_worker_time_add(struct tm_worker_time *sum, const struct tm_worker_life *w, int64_t now_ns);

#endif
