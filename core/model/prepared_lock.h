/* prepared_lock.h - the lock of a prepared copy, "<copy>.lock" (prepared.h), and the note in it.
 *
 * Whoever makes the copy, or removes it, holds the lock. The note says that a process has begun to
 * make it, and has not come to an end: it died, or was interrupted. It counts only for others of
 * the same session of a job: if the whole session ended, it may have died of that.
 */
#ifndef TM_MODEL_PREPARED_LOCK_H
#define TM_MODEL_PREPARED_LOCK_H

#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_prepared_lock { /* take it first */
  const struct tm_fs *fs;
  char *path;
  int fd; /* -1: not held */
};

/* 1: it is held. 0: another process holds it. Negative: an error; -ENOENT: it has no file, and
 * `makes` is false. Drop `out` in every case. */
int tm_prepared_lock_take(struct tm_prepared_lock *out, const struct tm_fs *fs, const char *copy,
                          bool makes, struct tm_err *err);
void tm_prepared_lock_drop(struct tm_prepared_lock *l);

struct tm_prepared_note { /* zeroed: every process that began has come to an end */
  int64_t deaths;         /* so many have not */
  bool is_late;           /* the last one had a limited time, or was interrupted */
};

/* Of the lock, which is held; a note of another session counts as none. */
struct tm_prepared_note tm_prepared_lock_read(const struct tm_prepared_lock *l,
                                              const char *session);
int tm_prepared_lock_write(const struct tm_prepared_lock *l, const struct tm_prepared_note *note,
                           const char *session, struct tm_err *err);

#endif
