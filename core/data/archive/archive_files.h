/* archive_files.h - the entries of a dataset's archives as items, one archive after the other.
 *
 * Caller: new; begin with each file of the listing; next until 0; free. The dataset selects the
 * entries (archives.h). An entry that cannot be read is an item with a fault. An archive that
 * cannot be listed completely is also an item with a fault, after its entries found so far, with a
 * warning. An archive that may not be opened ends the listing or, with on_unreadable = "skip", is
 * left out with a warning, like a folder.
 */
#ifndef TM_DATA_ARCHIVE_ARCHIVE_FILES_H
#define TM_DATA_ARCHIVE_ARCHIVE_FILES_H

#include "data/dataset.h"
#include "data/item.h"
#include "sys/fs.h"

struct tm_archive_files;

struct tm_archive_files_options {
  const char *index_dir; /* for listings (archive_index.h); or NULL */
  void (*on_warning)(void *data, const char *text);
  void *data;
};

/* `d`: a dataset of archives. It belongs to the caller, as does what the options point to. */
struct tm_archive_files *tm_archive_files_new(const struct tm_fs *fs, const struct tm_dataset *d,
                                              const struct tm_archive_files_options *o);
/* Call it when the archive before has ended. The next _next() opens this one. */
void tm_archive_files_begin(struct tm_archive_files *a, const struct tm_item *file);
/* 1: an item in memory of `a`, valid until the next call. 0: the archive has ended, or none was
 * begun. Negative: a system error. */
int tm_archive_files_next(struct tm_archive_files *a, struct tm_item *out, struct tm_err *err);
/* The message if there were archives but no wanted entries, to free(); else NULL. */
char *tm_archive_files_empty(const struct tm_archive_files *a);
void tm_archive_files_free(struct tm_archive_files *a); /* NULL: a no-op */

#endif
