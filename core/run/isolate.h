/* isolate.h - mini-batches that have used up their tries and are run in parts, until their bad items stand alone (isolation.h
 * decides which parts). Results of good parts are held; the mini-batch is committed once, rows in item order, when its last part
 * has ended. Until then nothing of it is on record: a job that is killed meanwhile begins with this mini-batch anew.
 *
 * Part of the supervisor, on its thread. Parts go through its queue like mini-batches; answer.c says how each has ended.
 */
#ifndef TM_RUN_ISOLATE_H
#define TM_RUN_ISOLATE_H

#include "run/failed_lines.h"
#include "run/supervisor_own.h"

/* A try that has ended well; what it points to is the caller's. */
struct tm_good_try {
  struct tm_outcome outcome; /* of a part: its items */
  struct tm_buf lines;       /* of the failures log, for items that failed all the same */
  const char *rows;
  size_t rows_len;
  char *spilled; /* the rows are in this file, `length` bytes with `hash`; or NULL */
  uint64_t length, hash;
  char *staging; /* the folder of its output files, or NULL */
  const char *files;
  size_t files_len;  /* their names, bytes32 each */
  bool is_frame;     /* the rows are a data frame's, and as the output's columns are */
  struct tm_buf own; /* the rows, where they had to be put in another order */
};

/* Whether a failed try, of a mini-batch that has no further one or of a part, is the business of tm_isolate_failed(). */
bool tm_isolate_is_wanted(const struct tm_supervisor *s, const struct tm_held *held);
/* Such a try has failed. `no_halves`: for a reason that halves of it would meet again. Returns how many of its items have failed
 * for good with it. */
int64_t tm_isolate_failed(struct tm_supervisor *s, const struct tm_held *held,
                          const struct tm_failed_try *t, bool no_halves);
/* A part has ended well. TM_EDAMAGE: its rows or files are not what the worker said, and it has failed (with *no_halves, when
 * another part has one of its files' names); else an error of the disk, and the job ends. */
int tm_isolate_done(struct tm_supervisor *s, const struct tm_held *held,
                    const struct tm_good_try *g, bool *no_halves, struct tm_err *err);
/* Parts that wait or run: work for so many workers. */
int64_t tm_isolate_open(const struct tm_supervisor *s);
/* Forgets all of it. */
void tm_isolate_drop_all(struct tm_supervisor *s);

#endif
