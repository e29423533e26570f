/* archive_own.h - the kinds of archives, for archive.c. */
#ifndef TM_DATA_ARCHIVE_ARCHIVE_OWN_H
#define TM_DATA_ARCHIVE_ARCHIVE_OWN_H

#include "data/archive/archive_source.h"

/* In zip_source.c; takes over `fd`. NULL with a message. */
struct tm_source *tm_zip_source(const struct tm_archive_options *o, int fd, struct tm_err *err);
/* In seven_zip_source.c; the same. */
struct tm_source *tm_seven_zip_source(const struct tm_archive_options *o, int fd,
                                      struct tm_err *err);
/* In walk_source.c. */
struct tm_source *tm_walk_source(const struct tm_archive_options *o, struct tm_err *err);

#endif
