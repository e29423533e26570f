/* image_own.h - what the decoders of this folder share: the table of a format, the pixels that a
 * decoder has before they are converted, limits and messages.
 *
 * A format is one struct tm_image_format_ops. Its state begins with a struct tm_image_decoder,
 * which image_rows.c fills before it calls open(). open() sets `width`, `height` and `pixels`;
 * next() writes the next row as these pixels; image_rows.c converts it to what the caller wants.
 */
#ifndef TM_DATA_IMAGES_IMAGE_OWN_H
#define TM_DATA_IMAGES_IMAGE_OWN_H

#include "data/images/image_pixels.h"
#include "data/images/image_rows.h"

/* Files have at most this many scans (JPEG), and chunks of at most this size (PNG). */
enum { TM_IMAGE_MAX_SCANS = 100, TM_IMAGE_MAX_PART = 8 << 20 };

struct tm_image_decoder {
  struct tm_image_source source;
  struct tm_image_options options;
  struct tm_image_info info;
  int32_t width, height; /* of the rows */
  struct tm_image_pixels pixels;
  int64_t memory; /* bytes that decoding may take; tm_image_check_memory() notes them */
  uint8_t *raw;   /* a row before its conversion; NULL: rows need none */
  int32_t row;    /* rows given so far */
};

struct tm_image_format_ops {
  size_t state_size; /* of the struct that begins with a struct tm_image_decoder */
  int (*read_info)(const struct tm_image_source *source, struct tm_image_info *info,
                   struct tm_err *err);
  /* Without an effect after an error, but for what close() frees. */
  int (*open)(struct tm_image_decoder *d, struct tm_err *err);
  int (*next)(struct tm_image_decoder *d, uint8_t *row, struct tm_err *err);
  void (*close)(struct tm_image_decoder *d);
};

extern const struct tm_image_format_ops tm_image_jpeg, tm_image_png, tm_image_webp, tm_image_pnm;

/* "cannot read 'photos/3.jpg': " and the words. Returns `code`. */
int tm_image_refuse(const struct tm_image_source *source, struct tm_err *err, int code,
                    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The file ends after d->row rows. */
int tm_image_refuse_cut(const struct tm_image_decoder *d, struct tm_err *err);
int tm_image_refuse_cut_header(const struct tm_image_source *source, struct tm_err *err);
/* Before memory is taken: an error if `bytes` exceed the limit. `what` is "a progressive JPEG". */
int tm_image_check_memory(struct tm_image_decoder *d, int64_t bytes, const char *what,
                          struct tm_err *err);
static inline bool tm_image_is_stopped(const struct tm_image_decoder *d)
{
  return d->options.stop != NULL && atomic_load_explicit(d->options.stop, memory_order_relaxed);
}
int tm_image_refuse_stopped(const struct tm_image_source *source, struct tm_err *err);

#endif
