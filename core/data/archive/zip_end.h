/* zip_end.h - finds the central directory of a zip file, from the end record at the end of the
 * file. */
#ifndef TM_DATA_ARCHIVE_ZIP_END_H
#define TM_DATA_ARCHIVE_ZIP_END_H

#include "data/archive/archive_source.h"

#define TM_ZIP_CENTRAL  46 /* bytes: of an entry of the directory without its names, */
#define TM_ZIP_LOCAL    30 /* and of a local header without them */
#define TM_ZIP_WRAPS_AT 65536

struct tm_zip_directory {
  int64_t start, end; /* in the file */
  /* bytes before the archive (a self-extracting program), which its offsets do not count */
  int64_t shift;
  int64_t entries;
  /* `entries` may lack a multiple of TM_ZIP_WRAPS_AT: the end record has 16 bits for it */
  bool is_wrapped;
};

/* 0; TM_EINPUT with a message: there is no end, its claims are impossible, or two ends disagree. */
int tm_zip_directory_find(const struct tm_archive_options *o, int fd, struct tm_zip_directory *out,
                          struct tm_err *err);
/* Whether the file is a zip: it begins like one; or it begins with something else, is not an
 * archive of another format, and has an end and a directory with entries in the right places.
 * `first`: its first n bytes, at least TM_PACKING_BYTES unless it is shorter. */
bool tm_zip_is(const struct tm_archive_options *o, int fd, const char *first, size_t n);

#endif
