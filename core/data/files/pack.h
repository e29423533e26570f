/* pack.h - a folder of files in one file, and back: a tar packed with zstd, through libarchive; and as an archive for others.
 *
 * What is kept of it: names, contents, links, and whether a file may be executed. Nothing of owners and times: the same folder
 * gives the same bytes. Names are bytes, of any encoding.
 */
#ifndef TM_DATA_FILES_PACK_H
#define TM_DATA_FILES_PACK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

/* Writes the files below `dir` to `to`, which is there afterwards if and only if it is complete; it is on the disk then. Two who write
 * the same do not disturb each other. Devices, sockets and pipes are an error. */
int tm_pack_write(const struct tm_fs *fs, const char *dir, const char *to, struct tm_err *err);
/* The same as an archive for others; `to` is not there before, and not where it fails. */
struct tm_pack_options {
  const char *format;      /* "zip", "tar", "tar.gz", "tar.zst" */
  int mode;                /* of the file that is made */
  bool is_for_others;      /* times and permissions are kept; no entries for folders */
  const atomic_bool *stop; /* set by another thread: it ends with -ECANCELED; or NULL */
};
int tm_pack_write_as(const struct tm_fs *fs, const char *dir, const char *to,
                     const struct tm_pack_options *o, struct tm_err *err);
/* Puts them into the folder `to`, which is there and empty. TM_EDAMAGE: it cannot be read, or holds what no folder had: nothing is
 * ever written outside of `to`, nor through a link. */
int tm_pack_read(const struct tm_fs *fs, const char *from, const char *to, struct tm_err *err);

#endif
