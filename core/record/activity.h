/* activity.h - what the workers of a step are doing, and which of it is slow enough to be named.
 *
 * Pure: doing.c fills the list; the progress line, the log files, `tidemill status` and the end of
 * a step that lost patience take their decisions and words from here. All durations count time
 * awake (active_clock.h).
 *
 *  (1) A worker is listed once it has been at one thing for TM_ACTIVITY_SHOWN_NS: at one try of a
 *      mini-batch, at init(), at recover(), at shutdown(). An idle worker is not listed.
 *  (2) An activity is slow after TM_ACTIVITY_SLOW_NS. A mini-batch must also have taken several
 *      times as long as others do.
 *  (3) The longest of the slow activities is named, the others are counted. If no worker has come
 *      out of init(), that is reported instead.
 *
 * Caller: zero the list; add what workers do, then sort; release.
 */
#ifndef TM_RECORD_ACTIVITY_H
#define TM_RECORD_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "node/node_msg.h"

#define TM_ACTIVITY_SHOWN_NS INT64_C(1000000000)
#define TM_ACTIVITY_SLOW_NS  (5 * INT64_C(1000000000))

struct tm_activity {
  char worker[24]; /* process003 */
  int64_t pid;
  enum tm_phase phase; /* IDLE: a mini-batch whose phase the keeper has not reported yet */
  bool is_stopped;     /* the worker, by SIGSTOP */
  bool is_waiting;     /* for another worker, as for weights that all share */
  int64_t ns;          /* of this try, or of this call */
  /* when the worker began the try, by the wall clock; 0: the keeper has not reported it yet */
  int64_t begun_wall_ns;
  uint64_t seq;   /* of the try at this worker, from 1; 0: no mini-batch, and the rest is 0 */
  uint64_t index; /* the mini-batch */
  uint32_t try;
  uint32_t part_first, part_last;     /* a part of its items, from 1; 0: all of it */
  char *first_item;                   /* its path, or NULL; released with the list */
  const char *node_id, *node_address; /* of the worker's node; may be NULL */
};

struct tm_activities {
  struct TM_ARRAY(struct tm_activity) list; /* sorted: the longest first */
  int64_t workers;                          /* living ones */
  int64_t in_init;                          /* of these: in init(), or being started */
  int64_t typical_ns;                       /* of a mini-batch; 0: none has ended yet */
  int64_t init_timeout_ns;                  /* 0: not set */
  const char *script;                       /* the user's path; may be NULL */
};

/* Puts the longest first. */
void tm_activities_sort(struct tm_activities *a);
/* Empties the list; the other members stay. */
void tm_activities_clear(struct tm_activities *a);
void tm_activities_release(struct tm_activities *a);

/* Keeps (2) and (3). */
struct tm_slow {
  const struct tm_activity *first; /* the longest; NULL: no activity is slow */
  size_t others;                   /* how many more are slow */
  bool is_init;                    /* no worker has come out of init() */
};
struct tm_slow tm_activities_slow(const struct tm_activities *a);

/* "process003: mini-batch 7, try 2, for 41 s in run(), first item 'x.csv'". Not sanitized: the item
 * is a file's name. */
void tm_activity_add(struct tm_buf *out, const struct tm_activity *a);
/* "mini-batch 7, try 2: begun 2026-01-31 23:59:58,123, in run(), first item 'x.csv'", "in init()
 * since ..."; as a log line that is sanitized when it is written. `wall_ns`: now. */
void tm_activity_add_begun(struct tm_buf *out, const struct tm_activity *a, int64_t wall_ns);
/* What is slow, for a bar: "process003: mini-batch 7 for 41 s (2 more)", "no worker has come out of
 * init() for 25 s". Adds nothing if nothing is slow. */
void tm_slow_add_short(struct tm_buf *out, const struct tm_slow *slow);
/* The same for a whole line, sanitized, with try, phase, item, timeout. */
void tm_slow_add(struct tm_buf *out, const struct tm_slow *slow, const struct tm_activities *a);
/* For a step that is given up: the few longest activities, slow or not, sanitized. Adds nothing if
 * no worker does anything. */
void tm_activities_add_stuck(struct tm_buf *out, const struct tm_activities *a);

/* {"worker", "pid", "phase", "seconds", "stopped", "waiting", "mini_batch", "try", "begun_ms",
 * "items", "first_item"}: one activity, as in the file of a running job and in `status --json`.
 * Only a mini-batch has the last five, and only a part has "items"; without "begun_ms" (since the
 * epoch), it is not known yet when the try began. */
struct tm_json *tm_activity_to_json(const struct tm_activity *a);
/* Reads a file that may hold anything. False: this is not an activity. */
bool tm_activity_from_json(struct tm_activity *out, const struct tm_json *v);

#endif
