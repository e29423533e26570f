/* output.h - a file of bytes that grows at its end, the output or the failures log of a step, and
 * its valid part.
 *
 * The first `end` bytes are valid: journal records cover them, or will. The rest of the file is a
 * torn tail, a refused result, or a copy that is not complete; later bytes overwrite it, and it is
 * cut before the file is handed over.
 */
#ifndef TM_COMMIT_OUTPUT_H
#define TM_COMMIT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/fs.h"

struct tm_ahead;

struct tm_output {
  const struct tm_fs *fs;
  char *path;
  int fd;          /* -1: not open, or missing */
  int64_t end;     /* valid bytes; written + pending.len */
  int64_t written; /* those of them in the file */
  int64_t size;    /* upper limit of the file's length */
  struct tm_buf pending;
  struct tm_ahead *ahead; /* a copy that has begun, or NULL */
  struct {
    int64_t from, to;
    uint64_t hash;
  } hashed; /* a range whose hash is known */
};

/* Opens the file; `end` is its length. A missing file is empty, and is written after
 * tm_output_make(). Zero the struct before; close it also after a failure. */
int tm_output_open(struct tm_output *o, const struct tm_fs *fs, const char *path,
                   struct tm_err *err);
/* Makes the file if it is missing; call it before the first write. */
int tm_output_make(struct tm_output *o, int mode, struct tm_err *err);
/* Opens the same file under its new name. */
int tm_output_reopen(struct tm_output *o, const char *path, struct tm_err *err);
/* Opens the file read-only; it must exist. */
int tm_output_open_read(struct tm_output *o, const struct tm_fs *fs, const char *path,
                        struct tm_err *err);
void tm_output_close(struct tm_output *o); /* never opened: a no-op */
void tm_output_add(struct tm_output *o, const void *p, size_t n);
/* -EIO if the file has become shorter than what was written. */
int tm_output_flush(struct tm_output *o, struct tm_err *err);
/* Flushes, then appends `length` bytes of the file `from` in pieces. If they do not have `hash`, or
 * are fewer, or `from` cannot be read: TM_EDAMAGE, and nothing was added. Other errors concern the
 * output itself. */
int tm_output_copy(struct tm_output *o, const char *from, int64_t length, uint64_t hash,
                   struct tm_err *err);
/* The same in pieces, before it: copies the bytes beyond the end, where tm_output_copy() with these
 * arguments will want them if `before`, and nothing else, is added until then. That call then only
 * moves the end, or returns the error that was met here; after anything else the copy is made
 * again. False: it cannot begin. */
bool tm_output_copy_ahead(struct tm_output *o, const char *from, int64_t length, uint64_t hash,
                          const void *before, size_t before_len);
/* Copies at most `most` bytes more. False: it is complete. */
bool tm_output_copy_more(struct tm_output *o, int64_t most);
/* Whether the path still names the open file, with all that was written: 0, or -EIO with a
 * message. */
int tm_output_check_name(struct tm_output *o, struct tm_err *err);
/* Drops what was added after `end`; nothing may be pending; the file is unchanged. */
void tm_output_take_back(struct tm_output *o, int64_t end);
/* The hash of the bytes from .. to, which must be written. */
int tm_output_hash(const struct tm_output *o, int64_t from, int64_t to, uint64_t *hash,
                   struct tm_err *err);
/* Cuts the file at `end`; nothing may be pending. */
int tm_output_cut(struct tm_output *o, int64_t end, struct tm_err *err);
/* Whether the bytes from .. to exist and have `hash`. A negative code if they cannot be read. */
int tm_output_has(const struct tm_output *o, int64_t from, int64_t to, uint64_t hash,
                  struct tm_err *err);

#endif
