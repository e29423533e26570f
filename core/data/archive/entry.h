/* entry.h - reads the contents of items without a temporary file: entries of archives, and plain
 * files.
 *
 * An entry of a zip is found by its offset, one of a tar by its offset in the decompressed archive
 * (a gzip file is entered at its check points). Others are read in order, and again from the
 * archive's beginning if an earlier one is opened; so are archives packed with zstd, xz, bzip2 or
 * lz4.
 *
 * An entry never returns more bytes than the listing found. Contents that are shorter or longer, or
 * whose check sum is wrong, are TM_EDAMAGE, with a message that names the entry. A few archives
 * stay open between calls. One thread.
 */
#ifndef TM_DATA_ARCHIVE_ENTRY_H
#define TM_DATA_ARCHIVE_ENTRY_H

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

struct tm_entries;
struct tm_entry;

/* index_dir: folder of the check points; NULL: there are none. */
struct tm_entries *tm_entries_new(const struct tm_fs *fs, const char *index_dir);
/* Times of archives are not compared: tm_item_check(). */
void tm_entries_compare_sizes(struct tm_entries *all);
/* Close all entries first. NULL: a no-op. */
void tm_entries_free(struct tm_entries *all);

/* Copies the item. NULL with a message: TM_ECHANGED if the archive has changed since it was listed,
 * or the item's fault. */
struct tm_entry *tm_entry_open(struct tm_entries *all, const struct tm_item *item,
                               struct tm_err *err);
/* The size of the contents; for a plain file, when it was opened. */
int64_t tm_entry_size(const struct tm_entry *e);
/* Up to n bytes, in order; fewer only at the end, then 0. Negative: TM_EDAMAGE, ... */
int64_t tm_entry_read(struct tm_entry *e, void *p, size_t n, struct tm_err *err);
void tm_entry_close(struct tm_entry *e); /* NULL: a no-op */

/* Fills `err` for an item with a fault: TM_EINPUT; or TM_ECHANGED, ... as above if its archive has
 * changed. */
int tm_entry_refuse(const struct tm_entries *all, const struct tm_item *item, struct tm_err *err);

#endif
