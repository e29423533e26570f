/* output.h - a file of bytes that grows at its end, the output or the failures log of a step, and what of it counts.
 *
 * What counts are the first `end` bytes: those that journal records cover, or will. What lies behind in the file is a torn
 * tail or a result that was refused; it is overwritten by what comes next, and cut before the file is handed over.
 */
#ifndef TM_RUN_OUTPUT_H
#define TM_RUN_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/fs.h"

struct tm_output {
  const struct tm_fs *fs;
  char *path;
  int fd;          /* -1: not open */
  int64_t end;     /* bytes that count; written + pending.len */
  int64_t written; /* those of them that are in the file */
  int64_t size;    /* the file is at most so long */
  struct tm_buf pending;
};

/* Opens or makes the file; `end` is its length. Zero the struct before; close it also after a failure. */
int tm_output_open(struct tm_output *o, const struct tm_fs *fs, const char *path, int mode,
                   struct tm_err *err);
/* The same for reading alone: nothing is made. */
int tm_output_open_read(struct tm_output *o, const struct tm_fs *fs, const char *path,
                        struct tm_err *err);
void tm_output_close(struct tm_output *o); /* never opened: a no-op */
void tm_output_add(struct tm_output *o, const void *p, size_t n);
/* -EIO when the file has become shorter than what was written. */
int tm_output_flush(struct tm_output *o, struct tm_err *err);
/* Flushes, then adds `length` bytes of the file `from` in pieces. When they do not have `hash`, or are fewer, or `from`
 * cannot be read: TM_EDAMAGE, and nothing has been added. Other errors are of the output itself. */
int tm_output_copy(struct tm_output *o, const char *from, int64_t length, uint64_t hash,
                   struct tm_err *err);
/* Whether the path still names the file that is open, as long as it was written: 0, or -EIO and words. */
int tm_output_check_name(struct tm_output *o, struct tm_err *err);
/* What was added behind `end` does not count any more; nothing is pending, the file stays as it is. */
void tm_output_take_back(struct tm_output *o, int64_t end);
/* The hash of the bytes from .. to, which have been written. */
int tm_output_hash(const struct tm_output *o, int64_t from, int64_t to, uint64_t *hash,
                   struct tm_err *err);
/* Takes away what lies behind `end`; nothing is pending. */
int tm_output_cut(struct tm_output *o, int64_t end, struct tm_err *err);
/* Whether the bytes from .. to are there and have `hash`. A negative code when they cannot be read. */
int tm_output_has(const struct tm_output *o, int64_t from, int64_t to, uint64_t hash,
                  struct tm_err *err);

#endif
