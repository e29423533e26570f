/* trace_state.h - the state of a trace that is being written, and the way of its text. For
 * trace.h. */
#ifndef TM_EXPORT_TRACE_STATE_H
#define TM_EXPORT_TRACE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "export/trace_event.h"
#include "export/trace_retries.h"
#include "insight/bins.h"
#include "insight/worker_slots.h"

#define TM_TRACE_SLICES_MAX 2000000
#define TM_TRACE_STEPS_PID  1 /* of the process "steps"; those of nodes follow */

struct tm_trace_options {
  const char *job, *version, *state; /* for the metadata */
  int64_t origin_ns;                 /* when the job began, since the epoch */
  int64_t tries;                     /* how many will be added; a few more are allowed */
  int64_t slices_max;                /* 0: TM_TRACE_SLICES_MAX */
  /* Gets the text in pieces. A number other than 0: nothing more is passed on. */
  int (*on_text)(void *data, const char *text, size_t len);
  void *data;
};

struct tm_trace_session {
  int64_t begin_ns, mini_batches;
};

struct tm_trace_step {
  const char *name, *state, *cause; /* `cause`: "" or NULL: none */
  const struct tm_trace_session *sessions;
  size_t sessions_len;
  int64_t end_ns; /* of the last session; 0: at the last moment of its rows */
};

struct tm_trace_slice { /* a try, or several that were joined */
  int64_t from_us, to_us;
  int64_t tries, run_us, items, items_failed; /* sums; `items` -1: not known */
  int64_t mini_batch, last_mini_batch, try_number;
  const char *category, *status, *error, *item; /* of the first */
};

struct tm_trace_life {        /* of a worker */
  int64_t begin_us, until_us; /* its slices are between these */
  int64_t free_us;            /* where its last one ends */
  int64_t init_us;            /* how long init() took; 0: not known */
  bool has_init_row;          /* of an init() that failed */
  bool is_joined;             /* `joined` is not written yet; its texts are its own */
  struct tm_trace_slice joined;
};

struct tm_trace_slot {
  struct tm_trace_thread thread;
  size_t life; /* the last one, plus 1 */
};

struct tm_trace {
  struct tm_trace_options o;
  struct tm_buf text;
  bool has_event;
  int rc; /* of on_text() */

  struct tm_map nodes; /* id -> pid */
  int64_t nodes_len, threads, arrows;
  int64_t tries, slices, joined_tries, never_begun, unplaced, moved;
  int64_t join_us, slices_checked; /* tries that are together at most as long are joined */
  struct tm_trace_retries retries;

  /* of the step */
  const struct tm_trace_step *step;
  struct tm_trace_thread step_thread;
  struct tm_workers workers;
  struct TM_ARRAY(struct tm_trace_life) lives; /* as workers.list, but maybe not all of them yet */
  struct TM_ARRAY(struct tm_trace_slot) slots; /* as workers.slots */
  struct TM_ARRAY(int64_t) session_ends;       /* us; 0: nothing is known of it */
  size_t lives_written;
  struct tm_bins items;
};

/* Microseconds since the origin, at least 0. */
int64_t tm_trace_us(const struct tm_trace *t, int64_t wall_ns);
/* The buffer for one event, which the caller adds whole. */
struct tm_buf *tm_trace_next(struct tm_trace *t);
void tm_trace_pass_on(struct tm_trace *t); /* what has collected */
/* Something happened then: the session of that time was still running. Returns it, from 0. */
size_t tm_trace_note(struct tm_trace *t, int64_t wall_ns);

#endif
