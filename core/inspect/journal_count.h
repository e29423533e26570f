/* journal_count.h - what the journal of a step counts, read piece by piece.
 *
 * A mini-batch that failed in one session and is committed in a later one counts once. The first
 * bad record ends the count, as it would end a recovery; a running job may be writing it, and the
 * next reading looks at it again.
 *
 *   struct tm_journal_count c = TM_JOURNAL_COUNT_NONE;
 *   tm_journal_count_read(&c, path, &err);   again when the file may have grown
 *   tm_journal_count_release(&c);
 */
#ifndef TM_INSPECT_JOURNAL_COUNT_H
#define TM_INSPECT_JOURNAL_COUNT_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "commit/journal.h"
#include "commit/mini_batch_states.h"

struct tm_journal_session {
  int64_t number; /* from 1 */
  int64_t begin_wall_ns;
  int64_t ended; /* mini-batches that have ended in it */
};

struct tm_journal_count {
  int64_t sessions;                      /* 0: it has none */
  int64_t begin_wall_ns;                 /* of the first session */
  int64_t session_wall_ns;               /* of the last one */
  int64_t session_ended;                 /* mini-batches that have ended in it */
  int64_t succeeded, failed;             /* mini-batches */
  int64_t uncounted;                     /* of `failed`: those whose rows nobody could count */
  int64_t items_succeeded, items_failed; /* of mini-batches that have ended */
  int64_t damage_at;                     /* place of the first bad record; -1: none */
  int64_t mtime_ns;                      /* of the file; 0: there is none */
  struct TM_ARRAY(struct tm_journal_session) each; /* session, the first one first */
  /* private: what was read */
  int64_t at; /* up to here; all records before are good */
  uint64_t ino;
  char last[TM_RECORD_SIZE]; /* the record before `at` */
  struct tm_mini_batch_states states;
};
#define TM_JOURNAL_COUNT_NONE                                                                      \
  {                                                                                                \
    .damage_at = -1                                                                                \
  }

/* Reads what is new, or everything if the next session has cut the file, or another file is in its
 * place. A missing file has nothing. System errors, TM_EVERSION. */
int tm_journal_count_read(struct tm_journal_count *c, const char *path, struct tm_err *err);
/* Reads only the first record, which says when the step began. */
int tm_journal_count_read_begin(struct tm_journal_count *c, const char *path, struct tm_err *err);
void tm_journal_count_release(struct tm_journal_count *c); /* afterwards it has read nothing */

#endif
