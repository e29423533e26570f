/* pack.h - packs a folder of files into one file, and back: a tar with zstd, through libarchive;
 * and archives for users.
 *
 * It stores names, contents, links, and whether a file is executable; no owners and times. So the
 * same folder gives the same bytes. Names are bytes, of any encoding.
 */
#ifndef TM_DATA_ARCHIVE_PACK_H
#define TM_DATA_ARCHIVE_PACK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

/* Writes the files below `dir` to `to`, which then exists if and only if it is complete and on the
 * disk. Two writers of the same file do not disturb each other. Devices, sockets and pipes are an
 * error. */
int tm_pack_write(const struct tm_fs *fs, const char *dir, const char *to, struct tm_err *err);
/* The same as an archive for users. `to` must not exist; on failure it is not made. */
struct tm_pack_options {
  const char *format;      /* "zip", "tar", "tar.gz", "tar.zst" */
  int mode;                /* of the new file */
  bool is_for_others;      /* stores times and permissions; no entries for folders */
  const atomic_bool *stop; /* set by another thread: ends with -ECANCELED; or NULL */
};
int tm_pack_write_as(const struct tm_fs *fs, const char *dir, const char *to,
                     const struct tm_pack_options *o, struct tm_err *err);
/* Extracts the files to the folder `to`, which exists and is empty. TM_EDAMAGE: it cannot be read,
 * or holds entries that no folder can have. Nothing is ever written outside of `to`, nor through a
 * link. */
int tm_pack_read(const struct tm_fs *fs, const char *from, const char *to, struct tm_err *err);

#endif
