/* stash.h - rows that are held back: the rows of the good parts of a mini-batch, until its bad
 * items have been found.
 *
 * Few rows stay in memory; above TM_STASH_MEMORY all of them go to a file. They come in any order,
 * and are joined in the order that the caller wants. Nothing here is fsynced or outlives the
 * session: lost rows are computed again.
 */
#ifndef TM_STEP_STASH_H
#define TM_STEP_STASH_H

#include <stdint.h>

#include "commit/output.h"

#define TM_STASH_MEMORY (256 << 10) /* bytes */

struct tm_stash {
  const struct tm_fs *fs;
  char *path; /* of the file, which is made when needed; `joined` is the file of the joined rows */
  char *joined;
  struct tm_output rows; /* not open while all are in memory */
};

struct tm_stash_range {
  int64_t at, len;
};

void tm_stash_init(struct tm_stash *s, const struct tm_fs *fs, const char *path);
/* Negative: the file cannot be written, a system error. */
int tm_stash_add(struct tm_stash *s, const void *rows, size_t len, struct tm_stash_range *out,
                 struct tm_err *err);
/* The same for rows in the file `from`, which is removed: `length` bytes with `hash`. TM_EDAMAGE:
 * the bytes differ; nothing was added. */
int tm_stash_add_file(struct tm_stash *s, const char *from, int64_t length, uint64_t hash,
                      struct tm_stash_range *out, struct tm_err *err);

/* All joined rows: `rows` in memory (the caller releases it) if `path` is NULL, otherwise `len`
 * bytes of that file. */
struct tm_joined {
  struct tm_buf rows;
  const char *path;
  int64_t len;
  uint64_t hash;
};
int tm_stash_join(struct tm_stash *s, const struct tm_stash_range *ranges, size_t n,
                  struct tm_joined *out, struct tm_err *err);
/* Removes its files. */
void tm_stash_release(struct tm_stash *s);

#endif
