/* failed_archives.h - the failed items of a dataset of archives, as inputs that list these archives
 * again. For failed_source.c.
 *
 * An entry in a list of failed items has its place in the archive as it was. This is enough while
 * the archive stays as it is. A mended archive has other places, and an archive that could not be
 * listed has none. So if there is such an archive, all failed items of the input are found again
 * by their names.
 *
 * An archive that could not be listed is read as a whole, with the entries that it gave before its
 * damaged part. The list does not name these.
 *
 * Caller: zero the struct; add each failed item; if must_list, definitions; release.
 */
#ifndef TM_COMMIT_FAILED_ARCHIVES_H
#define TM_COMMIT_FAILED_ARCHIVES_H

#include <stdbool.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/item.h"
#include "sys/fs.h"

struct tm_failed_entry {
  char *path; /* absolute: the archive's, and '/' and the entry's name unless it is the archive */
  size_t archive_len;
};

struct tm_failed_archives {
  struct TM_ARRAY(struct tm_failed_entry) entries;
  bool must_list;    /* an archive has changed, or could not be listed */
  bool has_changed;  /* the archive of the last entry */
  bool is_extracted; /* as in item.h */
};

/* `item` is an entry. Looks whether its archive has changed. */
void tm_failed_archives_add(struct tm_failed_archives *a, const struct tm_fs *fs,
                            const struct tm_item *item);
/* The definitions of datasets that give the same entries, made from the one that gave them;
 * to free. The datasets have its name and options. Sorts the entries. */
struct tm_json *tm_failed_archives_definitions(struct tm_failed_archives *a,
                                               const struct tm_json *original);
void tm_failed_archives_release(struct tm_failed_archives *a);

#endif
