/* resample.h - a picture of another size, row by row, byte for byte as Pillow's Image.resize.
 *
 *   tm_resample_open(&r, &options, &err)
 *   for each row of the picture:
 *     tm_resample_put(r, row)
 *     while (tm_resample_take(r, out)) ...        out rows come in their order
 *   tm_resample_close(&r)
 *
 * Each output pixel is a weighted mean of the pixels below it. The reach of the filter grows with
 * the reduction, so that nothing of the picture is skipped. Weights have 22 bits after the point.
 * The first pass goes along the rows of the picture as it is to be seen, the second along its
 * columns; between them, and after them, values are rounded to 8 bits. `nearest` takes the pixel
 * below the centre of the output pixel.
 *
 * Colours of a picture with alpha are multiplied by it before, and divided after, as Pillow does.
 *
 * Memory: as many rows as the filter reaches, never the whole picture. It is counted before it is
 * taken, with that of the decoder, against `max_memory`. Pure: bytes in, bytes out.
 */
#ifndef TM_DATA_IMAGES_RESAMPLE_H
#define TM_DATA_IMAGES_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum tm_filter {
  TM_FILTER_NEAREST,
  TM_FILTER_BOX,
  TM_FILTER_BILINEAR,
  TM_FILTER_BICUBIC,
  TM_FILTER_LANCZOS
};

/* The instruction set. BEST is the fastest one that this machine has. */
enum tm_resample_kind { TM_RESAMPLE_BEST, TM_RESAMPLE_PLAIN, TM_RESAMPLE_AVX2 };

/* One axis of the picture: `size` pixels, of which [from, to) become `out` pixels. Of these,
 * `count` are made, from number `first` on; that equals cutting them out afterwards. */
struct tm_resample_axis {
  int32_t size;
  float from, to; /* within 0 .. size, not empty */
  int32_t out;
  int32_t first, count; /* within 0 .. out, not empty */
  bool is_reversed; /* the pixels are put in last first. All numbers here count from the first */
};

struct tm_resample_options {
  struct tm_resample_axis columns, rows; /* of the rows that are put in */
  int32_t channels;                      /* 1, 3 or 4 */
  enum tm_filter filter;
  bool rows_first; /* the rows that are put in are columns of the picture as it is to be seen */
  int64_t max_memory;
  int64_t decoding; /* bytes that the decoder takes: they count, too */
  enum tm_resample_kind kind;
};

struct tm_resample;

/* Bytes behind a row that is put in, which may be read and do not matter. */
#define TM_RESAMPLE_PADDING 64

/* TM_ELIMIT: it needs more than max_memory. TM_EUSAGE, without a message: this machine does not
 * have the instruction set. */
int tm_resample_open(struct tm_resample **r, const struct tm_resample_options *options,
                     struct tm_err *err);
/* The next row, columns.size * channels bytes and the padding. Its bytes may be changed. */
void tm_resample_put(struct tm_resample *r, uint8_t *row);
/* The next row of the result, columns.count * channels bytes, if the rows put in so far suffice.
 * If rows.is_reversed, the last row comes first. `out` has room for the padding, too. */
bool tm_resample_take(struct tm_resample *r, uint8_t *out);
void tm_resample_close(struct tm_resample *r); /* NULL is a no-op */

#endif
