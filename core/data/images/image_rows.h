/* image_rows.h - a picture that is decoded row by row, whatever its format.
 *
 *   tm_image_open(&rows, &source, &options, &err)
 *   rows.info, rows.width, rows.height, rows.channels
 *   tm_image_next(rows, row, &err)      `height` times
 *   tm_image_close(rows)
 *
 * Data are hostile. The header is read first, and every limit is checked before memory is taken. A
 * picture is never held whole, unless its format leaves no choice (a progressive JPEG, an
 * interlaced PNG, WebP); that memory counts against `max_memory`. The pixels are Pillow's, but of
 * 16 bits the high byte is kept.
 */
#ifndef TM_DATA_IMAGES_IMAGE_ROWS_H
#define TM_DATA_IMAGES_IMAGE_ROWS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/images/image_kind.h"

/* The bytes of a whole file. The content decides the format. */
struct tm_image_source {
  const char *name; /* for messages: "photos/0003.jpg" */
  const uint8_t *data;
  size_t len;
};

struct tm_image_info {
  enum tm_image_format format;
  int32_t width, height; /* as stored, before any orientation */
  int32_t channels;      /* of the file: 1 grey, 2 grey and alpha, 3 colours, 4 with alpha, CMYK */
  int32_t bits;          /* for each channel: 1 to 16 */
  int32_t orientation;   /* EXIF's, 1 to 8; 1: none, or upright */
};

struct tm_image_options {
  int64_t max_pixels; /* width * height as stored */
  int64_t max_memory; /* bytes held for this picture */
  int32_t channels;   /* wanted: 1 grey with Pillow's weights, 3 RGB, 4 RGBA; 0: as the file has it
                       * (1, 3 or 4) */
  int32_t scale;      /* of a JPEG: 1, 2, 4 or 8 decodes at 1/scale; other formats ignore it */
  bool fills_missing; /* rows behind the end of a cut file are what Pillow makes of them, not an
                       * error: grey of a JPEG, else black; a WebP is an error as well */
  const atomic_bool *stop; /* set by another thread or a signal handler: -ECANCELED; or NULL */
};

struct tm_image_rows {
  struct tm_image_info info;
  int32_t width, height, channels; /* of the rows: after `scale` and the conversion, 1, 3 or 4 */
  int64_t memory;                  /* bytes that decoding takes at most */
  const struct tm_image_format_ops *ops; /* one struct for each format */
  void *state;
};

/* Reads the header alone. Errors name the source and say why: another format by its name (GIF,
 * TIFF, BMP, HEIC, AVIF, PDF, SVG), empty, not an image, cut. */
int tm_image_info(const struct tm_image_source *source, struct tm_image_info *info,
                  struct tm_err *err);

/* Opens it for decoding. `source` must outlive the rows. On failure nothing is left to close. */
int tm_image_open(struct tm_image_rows *rows, const struct tm_image_source *source,
                  const struct tm_image_options *options, struct tm_err *err);
/* Writes the next row, width * channels bytes. -ECANCELED: it was stopped. */
int tm_image_next(struct tm_image_rows *rows, uint8_t *row, struct tm_err *err);
void tm_image_close(struct tm_image_rows *rows); /* also after an error */

#endif
