/* pixel_table.h - what each value of a channel becomes as an element of a tensor:
 * ((value * scale) - mean) / std, worked out once for all 256 values.
 *
 * Each operation is rounded to float32, as numpy's is on arrays of this type. For float64 it is
 * done in float64, and for integer types rounded to even and saturated.
 */
#ifndef TM_DATA_IMAGES_PIXEL_TABLE_H
#define TM_DATA_IMAGES_PIXEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/tensor/tensor.h"

struct tm_pixel_scaling {
  enum tm_tensor_type type;      /* not string or bool */
  double scale, mean[4], std[4]; /* for each channel of the tensor */
};

struct tm_pixel_table {
  size_t element;                     /* bytes */
  bool is_identity;                   /* each value stays the byte that it is */
  _Alignas(8) uint8_t at[4][256 * 8]; /* 256 elements for each channel */
};

void tm_pixel_table_fill(struct tm_pixel_table *t, const struct tm_pixel_scaling *scaling);

/* Where the pixels of a picture go in memory, in elements: pixel (x, y) of channel c is at
 * c * channel + y * row + x * column. `from` has the place of each channel in a pixel that comes
 * in, which has `channels` bytes. */
struct tm_pixel_target {
  void *data;
  size_t channel, row, column;
  int32_t channels;
  int32_t from[4];
};

/* Writes n pixels from (x, y) on, side by side, or with `is_column` one below the other. */
void tm_pixel_table_write(const struct tm_pixel_table *t, const struct tm_pixel_target *target,
                          int32_t x, int32_t y, bool is_column, const uint8_t *pixels, int32_t n);

#endif
