/* seven_zip.h - a 7z archive's header, read and unpacked within limits.
 *
 * libarchive allocates what a header claims before it verifies it: an archive of 2 KB can take
 * gigabytes. So the header is read here first, both by the lister, which needs only the header, and
 * by a worker before libarchive reads it.
 *
 * A header may be packed. libarchive unpacks it, as the only file of a synthetic archive: the
 * packed bytes of the real one, and a header of our own.
 */
#ifndef TM_DATA_ARCHIVE_SEVEN_ZIP_H
#define TM_DATA_ARCHIVE_SEVEN_ZIP_H

#include "data/archive/seven_zip_header.h"
#include "data/stream/stream.h"

struct tm_seven_zip {
  char *bytes; /* of the header */
  struct tm_seven_zip_header header;
};

#define TM_SEVEN_ZIP_FIRST 6 /* bytes that identify it */
bool tm_seven_zip_is(const char *first, size_t n);
/* The same for a stream; false if its size is unknown. */
bool tm_seven_zip_is_in(struct tm_stream *file);

/* `file`: all bytes of the archive, with known size. Negative: TM_EINPUT if the archive is at
 * fault, with a message that names it; then there is nothing to release. */
int tm_seven_zip_read(struct tm_seven_zip *z, struct tm_stream *file, const char *path,
                      struct tm_err *err);
void tm_seven_zip_release(struct tm_seven_zip *z);

#endif
