/* isolate.h - runs mini-batches that have used up their tries in parts, until their bad items are
 * isolated (the scheduler decides which parts). Results of good parts are held; the mini-batch is
 * committed once, rows in item order, when its last part has ended. Until then nothing is recorded:
 * a job that is killed meanwhile starts over with this mini-batch. When the supervisor closes, it
 * drops the rest by s->drop_isolates.
 *
 * Part of the supervisor, on its thread. Parts go through its queue like mini-batches;
 * worker_results.c reports how each has ended.
 */
#ifndef TM_STEP_ISOLATE_H
#define TM_STEP_ISOLATE_H

#include "commit/failed_lines.h"
#include "step/supervisor_own.h"

/* A successful try; everything it points to belongs to the caller. */
struct tm_good_try {
  struct tm_outcome outcome; /* for a part: its items */
  struct tm_buf lines; /* for the failures log, about items that failed although run() returned */
  const char *rows;
  size_t rows_len;
  char *spilled; /* a file with the rows, `length` bytes with `hash`; or NULL */
  uint64_t length, hash;
  char *staging; /* the folder of its output files, or NULL */
  const char *files;
  size_t files_len;  /* their names, bytes32 each */
  bool is_frame;     /* the rows are a data frame's, in the order of the output's columns */
  struct tm_buf own; /* the rows, if they had to be reordered */
};

/* A try has failed, of a mini-batch without further tries or of a part, and the scheduler has begun
 * or continued its search: `a`. Returns how many of the items have finally failed. */
int64_t tm_isolate_failed(struct tm_supervisor *s, const struct tm_in_flight *held,
                          const struct tm_failed_try *t, const struct tm_sched_action *a);
/* A part has succeeded. TM_EDAMAGE: its rows or files are not as announced, and it has failed (with
 * *no_halves, if another part has one of its files' names); other errors are of the disk, and end
 * the job. */
int tm_isolate_done(struct tm_supervisor *s, const struct tm_in_flight *held,
                    const struct tm_good_try *g, bool *no_halves, struct tm_err *err);
/* Begins to copy the rows of a part that has succeeded, before tm_isolate_done(). False: they are
 * few. */
bool tm_isolate_copy_ahead(struct tm_supervisor *s, uint32_t search, const struct tm_good_try *g);
/* Copies a piece more. False: there is nothing more to copy. */
bool tm_isolate_copy_more(struct tm_supervisor *s, uint32_t search);
/* Likewise for all rows of the mini-batch, before tm_isolate_finish(): joins them, then copies them
 * to the output. */
bool tm_isolate_join_ahead(struct tm_supervisor *s, uint32_t search);
bool tm_isolate_join_more(struct tm_supervisor *s, uint32_t search);
/* The last part of the search has ended: commits the mini-batch, unless parts must run again. Many
 * rows are joined in pieces first, and it is called again (copying.h). */
void tm_isolate_finish(struct tm_supervisor *s, uint32_t search);

#endif
