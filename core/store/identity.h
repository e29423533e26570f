/* identity.h - which files a dataset names, and whether they have changed: names, sizes, and
 * modification times or, on request, contents.
 *
 * Files are counted and hashed as they are listed; up to TM_IDENTITY_MAX are also stored one by
 * one, so that a change can be named. For a list (a manifest, failed items), the file that holds
 * the list counts, not the files named in it.
 */
#ifndef TM_STORE_IDENTITY_H
#define TM_STORE_IDENTITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "data/item.h"
#include "sys/fs.h"

#define TM_IDENTITY_MAX 10000 /* files that are stored one by one */

struct tm_identity_file {
  char *path;             /* absolute; any byte except NUL */
  int64_t size, mtime_ns; /* if has_contents, mtime_ns is a hash */
};

struct tm_identity {
  int64_t files, bytes;
  uint64_t hash;     /* over names, sizes and times, in the order of the listing */
  bool is_listed;    /* `list` has all files; else it is empty */
  bool has_contents; /* contents were read */
  int64_t max;       /* files that are stored one by one; 0: TM_IDENTITY_MAX */
  struct TM_ARRAY(struct tm_identity_file) list;
};

/* Lists the files. A pattern without matches succeeds with no files. TM_EUSAGE: standard input,
 * which cannot be read again. Release it in every case. */
int tm_identity_read(struct tm_identity *out, const struct tm_fs *fs, const struct tm_dataset *d,
                     struct tm_err *err);
/* Like tm_identity_read(), but adds to `out`, whose has_contents and max apply. If `stop` gets set,
 * it ends with -ECANCELED; may be NULL. */
int tm_identity_read_on(struct tm_identity *out, const struct tm_fs *fs, const struct tm_dataset *d,
                        const atomic_bool *stop, struct tm_err *err);
/* Adds one listed file. Its size and time are read if unknown (size -1); for a file that does not
 * exist the size stays -1. `strip`: leading bytes of the path that do not count. */
int tm_identity_count(struct tm_identity *id, const struct tm_fs *fs, const struct tm_item *item,
                      size_t strip, struct tm_err *err);
/* Like tm_identity_count(), for a file of `d`: an output of another step counts with its path
 * relative to the job directory, which differs per job. */
int tm_identity_count_of(struct tm_identity *id, const struct tm_fs *fs, const struct tm_dataset *d,
                         const struct tm_item *item, struct tm_err *err);
void tm_identity_add(struct tm_identity *id, const char *path, size_t path_len, int64_t size,
                     int64_t mtime_ns); /* adds a stored file to the list only */
void tm_identity_release(struct tm_identity *id);

bool tm_identity_is_equal(const struct tm_identity *a, const struct tm_identity *b);
/* Adds one line with the changes from `then` to `now`: "input 'a.csv': size 10 -> 12, input 'b.csv'
 * is gone, and 3 more". Names within `base_dir` are shown relative to it. Adds nothing if both are
 * equal. */
void tm_identity_compare(struct tm_buf *out, const struct tm_identity *then,
                         const struct tm_identity *now, const char *base_dir);
/* The same with another word instead of "input". */
void tm_identity_compare_as(struct tm_buf *out, const char *word, const struct tm_identity *then,
                            const struct tm_identity *now, const char *base_dir);

#endif
