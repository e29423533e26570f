/* archive.h - the entries of an archive, one by one, in the order in which they stand in it.
 *
 *   zip             by its central directory
 *   tar             plain or packed (gzip, zstd, xz, bzip2, lz4); a gzip file gets its check points in passing (rows/open.h)
 *   7z              by its header
 *   cpio            one after the other, plain or packed as tar is
 *
 * What an archive is is seen from its bytes, not from its name. Other formats are refused; one of them (mtree) names files of
 * the machine.
 *
 * The archive may be anybody's. An entry that cannot be read is given with its fault, in words, so that it fails alone: a name that
 * is absolute or leads out by '..', a name that is there twice (the later one), a link that leads to no earlier entry, a device,
 * a sparse file, one that is encrypted, one beyond a limit. Folders are left out. What concerns the archive as a whole ends
 * the listing with TM_EINPUT: it is no archive, it is cut off, it has too many entries, its entries overlap, it holds more than the
 * ratio allows. What was given before stands.
 *
 * What was listed is kept in index_dir (archive_index.h): the next run reads it from there, as long as the archive has the same
 * size and mtime and the limits are the same. Memory: at most 32 bytes an entry (entry_set.h); of a 7z, its header.
 */
#ifndef TM_DATA_FILES_ARCHIVE_H
#define TM_DATA_FILES_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

/* Contents below this size are no bomb, whatever they are packed in. */
#define TM_ARCHIVE_SMALL (INT64_C(16) << 20)

struct tm_archive_limits {
  int64_t entries; /* folders included */
  int64_t size;    /* bytes of one entry's contents */
  int64_t ratio;   /* bytes of contents for one byte that is packed */
};

struct tm_archive_options {
  const struct tm_fs *fs;
  const char *path; /* absolute; the caller's, until close */
  int64_t size, mtime_ns;
  const char *index_dir; /* or NULL: nothing is kept */
  struct tm_archive_limits limits;
  void (*on_warning)(void *data, const char *text); /* or NULL */
  void *data;
};

/* An entry; memory of the archive, until the next call. */
struct tm_archive_entry {
  const char *name; /* NUL-ended; clean (entry_name.h), or, with a fault, for people */
  size_t name_len;
  struct tm_entry_place place;
  const char *fault; /* words, or NULL */
};

struct tm_archive;

/* NULL, with words: TM_EINPUT where it is no archive, or one that cannot be read. */
struct tm_archive *tm_archive_open(const struct tm_archive_options *options, struct tm_err *err);
/* 1; 0: the end; negative, and nothing comes after it. */
int tm_archive_next(struct tm_archive *a, struct tm_archive_entry *out, struct tm_err *err);
void tm_archive_close(struct tm_archive *a); /* NULL: a no-op */

#endif
