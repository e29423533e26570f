/* image_write.h - rows of 8-bit pixels as the bytes of a PNG or JPEG. */
#ifndef TM_DATA_IMAGES_IMAGE_WRITE_H
#define TM_DATA_IMAGES_IMAGE_WRITE_H

#include "base/buf.h"
#include "base/err.h"
#include "data/images/image_rows.h"

struct tm_image_pixel_rows {
  const uint8_t *at; /* rows without gaps */
  int32_t width, height;
  int32_t channels; /* 1 grey, 3 RGB, 4 RGBA */
};

struct tm_image_write_options {
  enum tm_image_format format; /* TM_IMAGE_PNG or TM_IMAGE_JPEG */
  int32_t quality;             /* of a JPEG: 1 to 100; 0: 75, as in Pillow */
  bool is_progressive;         /* a progressive JPEG, an interlaced PNG */
};

/* Appends the file to `out`. TM_EUSAGE: another format, a size or channels that the format cannot
 * have; then `out` is unchanged. */
int tm_image_write(const struct tm_image_pixel_rows *rows,
                   const struct tm_image_write_options *options, struct tm_buf *out,
                   struct tm_err *err);

#endif
