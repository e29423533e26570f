/* sorter.h - sorts any number of records by the bytes of a key, in a fixed amount of memory. What
 * does not fit goes to a file that is unlinked at once, so that nothing is left behind, whatever is
 * killed.
 *
 * Records of equal keys come back in the order in which they were added. Blocking; used by one
 * thread.
 *
 * Steps: new, add ..., next until 0, free. Nothing may be added after the first next.
 */
#ifndef TM_DATA_STREAM_SORTER_H
#define TM_DATA_STREAM_SORTER_H

#include <stddef.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_sorter;

/* Keeps about `memory` bytes. The file is made in `dir` when it is needed, and holds as much as was
 * added. */
struct tm_sorter *tm_sorter_new(const struct tm_fs *fs, const char *dir, size_t memory);
int tm_sorter_add(struct tm_sorter *s, const void *key, size_t key_len, const void *p, size_t len,
                  struct tm_err *err);

struct tm_sorted {
  const char *key, *at; /* valid until the next call */
  size_t key_len, len;
};
/* 1, 0 at the end, or a negative code. */
int tm_sorter_next(struct tm_sorter *s, struct tm_sorted *out, struct tm_err *err);
void tm_sorter_free(struct tm_sorter *s); /* NULL: a no-op */

#endif
