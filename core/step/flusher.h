/* flusher.h - when the rows and records of a step are written, and when they are synced.
 *
 * They are written once per turn of the loop when enough has gathered, else a moment later, and
 * synced by a thread at an interval. The life of the step says which of this may be done.
 *
 * Caller, on the loop's thread: start; close, also after start has failed. The struct must live
 * until on_closed.
 */
#ifndef TM_STEP_FLUSHER_H
#define TM_STEP_FLUSHER_H

#include "commit/commit.h"
#include "commit/syncer.h"
#include "step/step_life.h"
#include "sys/loop.h"

struct tm_flusher_options {
  struct tm_loop *loop;
  struct tm_commit *commit;
  const struct tm_step_life *life;
  int64_t sync_interval_ns;
  void (*on_flushed)(void *data);
  void (*on_failed)(void *data, const struct tm_err *err); /* cannot be written, or synced */
  void (*on_synced)(void *data); /* in either case: no sync is under way */
  void (*on_closed)(void *data); /* its memory may be freed */
  void *data;
};

struct tm_flusher {
  struct tm_flusher_options o;
  struct tm_turn turn;
  struct tm_timer flush_timer, sync_timer;
  struct tm_syncer syncer;
  struct tm_sync sync;
  int64_t flushed_ns; /* monotonic */
  int open;           /* handles */
};

/* Negative: no thread can be started. */
int tm_flusher_start(struct tm_flusher *f, const struct tm_flusher_options *o, struct tm_err *err);
bool tm_flusher_is_busy(const struct tm_flusher *f); /* a sync is under way */
/* Waits for a sync. Neither flushes nor syncs any more. Not started: a no-op. */
void tm_flusher_close(struct tm_flusher *f);

#endif
