/* identity.h - which files a dataset names, and whether they are still what they were: names, sizes, and times of modification or,
 * where that is asked for, contents.
 *
 * Files are counted and hashed as they are listed; up to TM_IDENTITY_MAX of them are kept one by one, so that a change can be
 * named. Of a list (a manifest, failed items) the file that holds the list is looked at, not what it names.
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

#define TM_IDENTITY_MAX 10000 /* files that are kept one by one */

struct tm_identity_file {
  char *path;             /* absolute; any byte but NUL */
  int64_t size, mtime_ns; /* with has_contents a hash is in the place of the time */
};

struct tm_identity {
  int64_t files, bytes;
  uint64_t hash;     /* of names, sizes and times, in the order of the listing */
  bool is_listed;    /* `list` has all of them; else none */
  bool has_contents; /* they have been read */
  int64_t max;       /* files that are kept one by one; 0: TM_IDENTITY_MAX */
  struct TM_ARRAY(struct tm_identity_file) list;
};

/* Lists the files. Nothing that matches is no error: there are no files. TM_EUSAGE: standard input, which cannot be looked at
 * again. Release it in every case. */
int tm_identity_read(struct tm_identity *out, const struct tm_fs *fs, const struct tm_dataset *d,
                     struct tm_err *err);
/* The same, added to what `out` has, whose has_contents and max say how. A set `stop` ends it with -ECANCELED; may be NULL. */
int tm_identity_read_on(struct tm_identity *out, const struct tm_fs *fs, const struct tm_dataset *d,
                        const atomic_bool *stop, struct tm_err *err);
/* One file that was listed by others; one that they have not looked at (size -1) is looked at, one that is not there has size -1.
 * `strip`: bytes of the path that do not count, at its beginning. */
int tm_identity_count(struct tm_identity *id, const struct tm_fs *fs, const struct tm_item *item,
                      size_t strip, struct tm_err *err);
/* The same for a file of `d`: of what other steps write the names below the job's directory count, which is another each time. */
int tm_identity_count_of(struct tm_identity *id, const struct tm_fs *fs, const struct tm_dataset *d,
                         const struct tm_item *item, struct tm_err *err);
void tm_identity_add(struct tm_identity *id, const char *path, size_t path_len, int64_t size,
                     int64_t mtime_ns); /* to the list alone: of one that was stored */
void tm_identity_release(struct tm_identity *id);

bool tm_identity_is_equal(const struct tm_identity *a, const struct tm_identity *b);
/* What has changed from `then` to `now`, one line: "input 'a.csv': size 10 -> 12, input 'b.csv' is gone, and 3 more". Names
 * within `base_dir` are said without it. Nothing is added where they are equal. */
void tm_identity_compare(struct tm_buf *out, const struct tm_identity *then,
                         const struct tm_identity *now, const char *base_dir);
/* The same with another word than "input". */
void tm_identity_compare_as(struct tm_buf *out, const char *word, const struct tm_identity *then,
                            const struct tm_identity *now, const char *base_dir);

#endif
