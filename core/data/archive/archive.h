/* archive.h - the entries of an archive, one by one, in their order in the archive.
 *
 *   zip             by its central directory
 *   tar             plain or packed (gzip, zstd, xz, bzip2, lz4); listing a gzip file also makes
 *                   its check points (rows/open.h)
 *   7z              by its header
 *   cpio            one after the other, plain or packed like tar
 *
 * The bytes tell the format, not the name. Other formats are refused; one of them (mtree) refers to
 * files of the machine.
 *
 * The archive may be hostile. An entry that cannot be read is returned with its fault, so that it
 * fails alone: a name that is absolute, leads out by '..', or appeared before; a link that does not
 * lead to an earlier entry; a device; a sparse file; an encrypted entry; one beyond a limit.
 * Folders are left out. A fault of the whole archive ends the listing with TM_EINPUT: it is not an
 * archive, it is cut off, it has too many entries, its entries overlap, it holds more than the
 * ratio allows. Entries returned before stay valid.
 *
 * The listing is stored in index_dir (archive_index.h): the next run reads it from there, if size
 * and mtime of the archive and the limits are the same. Memory: at most 32 bytes per entry
 * (entry_set.h); for a 7z, its header.
 */
#ifndef TM_DATA_ARCHIVE_ARCHIVE_H
#define TM_DATA_ARCHIVE_ARCHIVE_H

#include "data/archive/archive_source.h"

struct tm_archive;

/* NULL with a message: TM_EINPUT if it is not an archive, or cannot be read. */
struct tm_archive *tm_archive_open(const struct tm_archive_options *options, struct tm_err *err);
/* 1; 0: the end; negative: the listing ends. */
int tm_archive_next(struct tm_archive *a, struct tm_archive_entry *out, struct tm_err *err);
void tm_archive_close(struct tm_archive *a); /* NULL: a no-op */

#endif
