/* entry_own.h - what entry.c and zip_entry.c share. */
#ifndef TM_DATA_ARCHIVE_ENTRY_OWN_H
#define TM_DATA_ARCHIVE_ENTRY_OWN_H

#include "data/archive/entry.h"
#include "data/archive/walk.h"

/* An open entry of a zip. */
struct tm_zip_entry;
/* `file`: the archive's bytes; must outlive the entry. `spare`: a closed entry to reuse, or NULL in
 * it. NULL with a message. */
struct tm_zip_entry *tm_zip_entry_open(struct tm_stream *file, const char *path,
                                       const struct tm_entry_place *place,
                                       struct tm_zip_entry **spare, struct tm_err *err);
int64_t tm_zip_entry_read(struct tm_zip_entry *z, void *p, size_t n, struct tm_err *err);
/* Stores it in `spare` if that is empty, else frees it. `spare` NULL: frees it. */
void tm_zip_entry_close(struct tm_zip_entry *z, struct tm_zip_entry **spare);

#endif
