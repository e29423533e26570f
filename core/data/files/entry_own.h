/* entry_own.h - what entry.c and zip_entry.c share. */
#ifndef TM_DATA_FILES_ENTRY_OWN_H
#define TM_DATA_FILES_ENTRY_OWN_H

#include "data/files/entry.h"
#include "data/files/walk.h"

/* An entry of a zip while it is read. */
struct tm_zip_entry;
/* `file` is the archive's bytes, and outlives it; `spare` may hold what the last one left for the next. NULL with words. */
struct tm_zip_entry *tm_zip_entry_open(struct tm_stream *file, const char *path,
                                       const struct tm_entry_place *place,
                                       struct tm_zip_entry **spare, struct tm_err *err);
int64_t tm_zip_entry_read(struct tm_zip_entry *z, void *p, size_t n, struct tm_err *err);
/* Into `spare`, where that is empty; NULL: freed. */
void tm_zip_entry_close(struct tm_zip_entry *z, struct tm_zip_entry **spare);

#endif
