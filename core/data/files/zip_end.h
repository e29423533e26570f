/* zip_end.h - where the central directory of a zip file is: from the end record, which is the last thing in the file. */
#ifndef TM_DATA_FILES_ZIP_END_H
#define TM_DATA_FILES_ZIP_END_H

#include "data/files/archive.h"

#define TM_ZIP_CENTRAL  46 /* bytes: of an entry of the directory without its names, */
#define TM_ZIP_LOCAL    30 /* of a local header without them */
#define TM_ZIP_WRAPS_AT 65536

struct tm_zip_directory {
  int64_t start, end; /* in the file */
  int64_t
      shift; /* bytes before the archive (a program that unpacks it): its places do not count them */
  int64_t entries;
  bool
      is_wrapped; /* `entries` may lack a multiple of TM_ZIP_WRAPS_AT: the end record has 16 bits for it */
};

/* 0; TM_EINPUT with words: there is no end, it states what cannot be, or two ends disagree. */
int tm_zip_directory_find(const struct tm_archive_options *o, int fd, struct tm_zip_directory *out,
                          struct tm_err *err);
/* Whether the file is a zip: it begins as one; or it begins with something else, is not an archive of another kind, and a
 * directory with entries and an end are where those of a zip are. `first`: its first n bytes, at least TM_PACKING_BYTES
 * where it has them. */
bool tm_zip_is(const struct tm_archive_options *o, int fd, const char *first, size_t n);

#endif
