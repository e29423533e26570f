/* image_file.h - the bytes of a picture's file. */
#ifndef TM_DATA_IMAGES_IMAGE_FILE_H
#define TM_DATA_IMAGES_IMAGE_FILE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Reads a file into `out`, which is emptied first. An error names it, also if it is not a regular
 * file (one that would never end, or block), or longer than max_bytes. */
int tm_image_file_read(const char *path, int64_t max_bytes, struct tm_buf *out, struct tm_err *err);
/* The same for the first bytes of the file, as many as there are up to `max`. */
int tm_image_file_read_front(const char *path, int64_t max, struct tm_buf *out, struct tm_err *err);

#endif
