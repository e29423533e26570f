/* picture.h - from the bytes of a file to the elements that a model wants: decoded, turned upright,
 * laid over a colour, resized, cut, padded, scaled, in one go from row to row.
 *
 *   tm_picture_open(&p, &source, &options, &err)   the header; p.placing has the size of the output
 *   tm_picture_read(&p, &table, data, &err)        everything, to out_width * out_height * channels
 *   tm_picture_close(&p)                           elements
 *
 * Any thread. Errors name the source.
 */
#ifndef TM_DATA_IMAGES_PICTURE_H
#define TM_DATA_IMAGES_PICTURE_H

#include "data/images/image_rows.h"
#include "data/images/pixel_table.h"
#include "data/images/placing.h"
#include "data/images/resample.h"

enum tm_channels { TM_CHANNELS_RGB, TM_CHANNELS_BGR, TM_CHANNELS_GRAY, TM_CHANNELS_RGBA };

struct tm_picture_options {
  struct tm_sizing sizing;
  enum tm_filter filter;
  enum tm_channels channels;
  bool has_background; /* what is transparent is laid over it; else alpha is dropped */
  uint8_t background[3];
  uint8_t fill[4]; /* padding, in the order of the tensor's channels, before it is scaled */
  bool is_planar;  /* NCHW, not NHWC */
  struct tm_pixel_scaling scaling;
  bool heeds_orientation, is_fast, fills_missing;
  int64_t max_pixels, max_memory;
};

struct tm_picture {
  const struct tm_picture_options *options;
  const char *name;
  struct tm_image_rows rows;
  struct tm_placing placing; /* of the picture as it is to be seen */
  struct tm_mapping mapping;
  int32_t orientation; /* EXIF's, if it is heeded; else 1 */
};

int32_t tm_channels_count(enum tm_channels channels);

/* `options`, and what `source` points to, outlive the picture. On failure nothing is left to close.
 */
int tm_picture_open(struct tm_picture *p, const struct tm_image_source *source,
                    const struct tm_picture_options *options, const atomic_bool *stop,
                    struct tm_err *err);
/* After an error, `data` holds anything. -ECANCELED: `stop` was set. */
int tm_picture_read(struct tm_picture *p, const struct tm_pixel_table *table, void *data,
                    struct tm_err *err);
void tm_picture_close(struct tm_picture *p);

#endif
