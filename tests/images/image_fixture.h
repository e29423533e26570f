/* image_fixture.h - small pictures as files, made by our encoders and by libwebp, and their rows.
 *
 * picture_make(TM_IMAGE_PNG, 7, 5, 3, false) makes a file of a gradient; free it with
 * tm_buf_release(). */
#ifndef TM_TESTS_IMAGE_FIXTURE_H
#define TM_TESTS_IMAGE_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include <webp/encode.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "data/images/image_rows.h"
#include "data/images/image_write.h"

/* A value that differs from those beside it. */
static inline uint8_t picture_value(int32_t x, int32_t y, int32_t channel)
{
  return (uint8_t)(x * 5 + y * 9 + channel * 70);
}

static inline uint8_t *picture_pixels(int32_t width, int32_t height, int32_t channels)
{
  uint8_t *at = tm_xmalloc((size_t)width * (size_t)height * (size_t)channels), *to = at;
  for (int32_t y = 0; y < height; y++) {
    for (int32_t x = 0; x < width; x++) {
      for (int32_t c = 0; c < channels; c++)
        *to++ = picture_value(x, y, c);
    }
  }
  return at;
}

static inline void picture_make_webp(const uint8_t *pixels, int32_t width, int32_t height,
                                     int32_t channels, bool is_lossless, struct tm_buf *out)
{
  uint8_t *bytes = NULL;
  size_t n = 0;
  int row = width * channels;
  tm_require(channels == 3 || channels == 4);
  if (is_lossless)
    n = channels == 3 ? WebPEncodeLosslessRGB(pixels, width, height, row, &bytes)
                      : WebPEncodeLosslessRGBA(pixels, width, height, row, &bytes);
  else
    n = channels == 3 ? WebPEncodeRGB(pixels, width, height, row, 80, &bytes)
                      : WebPEncodeRGBA(pixels, width, height, row, 80, &bytes);
  tm_buf_add(out, bytes, n);
  WebPFree(bytes);
}

/* `is_other`: a progressive JPEG, an interlaced PNG, a WebP without loss. */
static inline struct tm_buf picture_make(enum tm_image_format format, int32_t width, int32_t height,
                                         int32_t channels, bool is_other)
{
  struct tm_buf out = TM_BUF_NONE;
  uint8_t *pixels = picture_pixels(width, height, channels);
  struct tm_image_pixel_rows rows = { pixels, width, height, channels };
  struct tm_image_write_options options = { format, 90, is_other };
  if (format == TM_IMAGE_WEBP)
    picture_make_webp(pixels, width, height, channels, is_other, &out);
  else if (format == TM_IMAGE_PNM)
    tm_buf_printf(&out, "P%d %d %d 255\n", channels == 1 ? 5 : 6, (int)width, (int)height);
  else
    tm_require(tm_image_write(&rows, &options, &out, NULL) == 0);
  if (format == TM_IMAGE_PNM)
    tm_buf_add(&out, pixels, (size_t)width * (size_t)height * (size_t)channels);
  free(pixels);
  return out;
}

static inline struct tm_image_source picture_source(const struct tm_buf *file)
{
  return (struct tm_image_source) { "a/b.img", (const uint8_t *)file->data, file->len };
}

static inline struct tm_image_options picture_options(int32_t channels)
{
  return (struct tm_image_options) {
    .max_pixels = 100000000, .max_memory = 1 << 30, .channels = channels, .scale = 1
  };
}

/* All rows, to free(); NULL: `err` says why. */
static inline uint8_t *picture_read(const struct tm_image_source *source,
                                    const struct tm_image_options *options,
                                    struct tm_image_rows *rows, struct tm_err *err)
{
  if (tm_image_open(rows, source, options, err) != 0)
    return NULL;
  size_t row = (size_t)rows->width * (size_t)rows->channels;
  uint8_t *all = tm_xmalloc(row * (size_t)rows->height);
  int rc = 0;
  for (int32_t i = 0; i < rows->height && rc == 0; i++)
    rc = tm_image_next(rows, all + row * (size_t)i, err);
  tm_image_close(rows);
  if (rc == 0)
    return all;
  free(all);
  return NULL;
}

/* Appends a part of a PNG with its check sum. */
static inline void picture_add_part(struct tm_buf *out, const char *name, const void *p, size_t n)
{
  const uint8_t len[] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };
  tm_buf_add(out, len, 4);
  size_t at = out->len;
  tm_buf_add(out, name, 4);
  tm_buf_add(out, p, n);
  uint32_t sum = (uint32_t)crc32(0, (const Bytef *)out->data + at, (uInt)(n + 4));
  const uint8_t bytes[] = { (uint8_t)(sum >> 24), (uint8_t)(sum >> 16), (uint8_t)(sum >> 8),
                            (uint8_t)sum };
  tm_buf_add(out, bytes, 4);
}

/* EXIF with this orientation alone; big or little. */
static inline void picture_exif(uint8_t out[26], int orientation, bool is_big)
{
  static const uint8_t little[26] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0";
  static const uint8_t big[26] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01";
  memcpy(out, is_big ? big : little, 26);
  out[is_big ? 19 : 18] = (uint8_t)orientation;
}

#endif
