/* archive_files.h - the entries of the archives that a dataset names, as items: one archive after the other.
 *
 * Caller: new; begin with each file of the listing; next until 0; free. Which entries are wanted the dataset says (archives.h); an
 * entry that cannot be read is an item with a fault. So is an archive that cannot be listed, or no further: it comes last, behind
 * those of its entries that were found, with a warning. One that may not be opened ends the listing, or, with on_unreadable = "skip", is left
 * out with a warning: as a folder.
 */
#ifndef TM_DATA_ARCHIVE_FILES_H
#define TM_DATA_ARCHIVE_FILES_H

#include "data/cut.h"
#include "data/item.h"

struct tm_archive_files;

/* `d`: of archives. Of the options those that are of no kind of input count: index_dir, on_warning, data. Both are the caller's. */
struct tm_archive_files *tm_archive_files_new(const struct tm_fs *fs, const struct tm_dataset *d,
                                              const struct tm_cut_options *o);
/* The one before has ended. Not opened before the next _next(). */
void tm_archive_files_begin(struct tm_archive_files *a, const struct tm_item *file);
/* 1: memory of `a`, until the next call. 0: the archive has ended, or none was begun. Negative: of the system. */
int tm_archive_files_next(struct tm_archive_files *a, struct tm_item *out, struct tm_err *err);
/* The words when there were archives and none of their entries was wanted, to free(); NULL: it was not so. */
char *tm_archive_files_empty(const struct tm_archive_files *a);
void tm_archive_files_free(struct tm_archive_files *a); /* NULL: a no-op */

#endif
