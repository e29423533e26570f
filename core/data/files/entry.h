/* entry.h - the contents of items: of entries of archives, read where they stand, without a disk; and of plain files.
 *
 * An entry of a zip is found by its place, one of a tar by its place in what the archive holds (a gzip file is entered at its check
 * points), others in order, from the archive's beginning again where an earlier one is asked for. What is packed in zstd, xz,
 * bzip2 or lz4 is read in order too.
 *
 * Nothing is given beyond the size that the listing found; contents that are shorter or longer, or whose check sum is wrong, are
 * TM_EDAMAGE, with words that name the entry. A few archives stay open between calls. One thread.
 */
#ifndef TM_DATA_FILES_ENTRY_H
#define TM_DATA_FILES_ENTRY_H

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

struct tm_entries;
struct tm_entry;

/* index_dir: where check points are; NULL: there are none. */
struct tm_entries *tm_entries_new(const struct tm_fs *fs, const char *index_dir);
/* After all that were opened have been closed. NULL: a no-op. */
void tm_entries_free(struct tm_entries *all);

/* The item is copied. TM_ECHANGED when the archive is not what it was when it was listed; the item's fault, where it has
 * one. NULL with words. */
struct tm_entry *tm_entry_open(struct tm_entries *all, const struct tm_item *item,
                               struct tm_err *err);
/* Of its contents; of a plain file as it was when it was opened. */
int64_t tm_entry_size(const struct tm_entry *e);
/* Up to n bytes, in order; fewer only at the end, 0 there. Negative: TM_EDAMAGE, ... */
int64_t tm_entry_read(struct tm_entry *e, void *p, size_t n, struct tm_err *err);
void tm_entry_close(struct tm_entry *e); /* NULL: a no-op */

/* The words of an item that has a fault: TM_EINPUT; or TM_ECHANGED, ... as above, and they are those of an archive that was. */
int tm_entry_refuse(const struct tm_entries *all, const struct tm_item *item, struct tm_err *err);

#endif
