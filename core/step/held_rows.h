/* held_rows.h - rows that are held back: the rows of the good parts of a mini-batch, until its bad
 * items have been found.
 *
 * Few rows stay in memory; above TM_HELD_ROWS_MEMORY all of them go to a file. They come in any
 * order, and are joined in the order that the caller wants. Nothing here is fsynced or outlives the
 * session: lost rows are computed again.
 *
 * What may take long can be done in pieces: call _ahead() before, then _more() until it is false.
 * The call itself then only returns what was made, if nothing was added in between; otherwise it
 * makes it again, at once.
 */
#ifndef TM_STEP_HELD_ROWS_H
#define TM_STEP_HELD_ROWS_H

#include <stdint.h>

#include "commit/output.h"

#define TM_HELD_ROWS_MEMORY (256 << 10) /* bytes */
#define TM_HELD_ROWS_PIECE  (4 << 20)   /* bytes; as much is copied at once */

struct tm_join;

struct tm_held_rows {
  const struct tm_fs *fs;
  char *path; /* of the file, which is made when needed; `joined` is the file of the joined rows */
  char *joined;
  struct tm_output rows; /* not open while all are in memory */
  struct tm_join *join;  /* made ahead, or NULL */
};

struct tm_held_range {
  int64_t at, len;
};

void tm_held_rows_init(struct tm_held_rows *s, const struct tm_fs *fs, const char *path);
/* Negative: the file cannot be written, a system error. */
int tm_held_rows_add(struct tm_held_rows *s, const void *rows, size_t len,
                     struct tm_held_range *out, struct tm_err *err);
/* The same for rows in the file `from`, which is removed: `length` bytes with `hash`. TM_EDAMAGE:
 * the bytes differ; nothing was added. */
int tm_held_rows_add_file(struct tm_held_rows *s, const char *from, int64_t length, uint64_t hash,
                          struct tm_held_range *out, struct tm_err *err);
/* Before tm_held_rows_add_file(). False: the file is small, or the copy cannot begin. */
bool tm_held_rows_copy_ahead(struct tm_held_rows *s, const char *from, int64_t length,
                             uint64_t hash);
/* Copies up to TM_HELD_ROWS_PIECE bytes more. False: there is nothing more to copy. */
bool tm_held_rows_copy_more(struct tm_held_rows *s);

/* All joined rows: `rows` in memory (the caller releases it) if `path` is NULL, otherwise `len`
 * bytes of that file. */
struct tm_joined {
  struct tm_buf rows;
  const char *path;
  int64_t len;
  uint64_t hash;
};
int tm_held_rows_join(struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n,
                      struct tm_joined *out, struct tm_err *err);
/* Before tm_held_rows_join() with the same ranges. False: these are few rows, or the file cannot be
 * made. */
bool tm_held_rows_join_ahead(struct tm_held_rows *s, const struct tm_held_range *ranges, size_t n);
/* Joins up to TM_HELD_ROWS_PIECE bytes more. False: all are joined, or there was an error. */
bool tm_held_rows_join_more(struct tm_held_rows *s);
/* What was joined so, for tm_held_rows_join() to return. False: it is not complete. */
bool tm_held_rows_joined(const struct tm_held_rows *s, struct tm_joined *out);
/* Removes its files. */
void tm_held_rows_release(struct tm_held_rows *s);

#endif
