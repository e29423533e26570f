/* fuzz_image.h - what must hold for the bytes of a picture, whatever its format.
 *
 * They are decoded as the length of the input says: wanted channels, scale. What the header says is
 * what the rows are; decoding again gives the same rows; a picture that is read without filling is
 * the same with it; one that is filled has all its rows. */
#ifndef TM_TESTS_FUZZ_IMAGE_H
#define TM_TESTS_FUZZ_IMAGE_H

#include "fuzz.h"

#include "base/mem.h"
#include "data/images/image_rows.h"

/* All rows, to free(), or NULL. */
static uint8_t *fuzz_image_read(const struct tm_image_source *source,
                                const struct tm_image_options *options, struct tm_image_rows *rows)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_image_info info;
  int known = tm_image_info(source, &info, &err);
  fuzz_require(known == 0 || (known < 0 && err.code == known && err.text[0] != '\0'));
  err = (struct tm_err)TM_ERR_NONE;
  int rc = tm_image_open(rows, source, options, &err);
  fuzz_require(rc == 0 ? known == 0 : err.code == rc && err.text[0] != '\0');
  if (rc != 0)
    return NULL;
  fuzz_require(memcmp(&info, &rows->info, sizeof(info)) == 0);
  fuzz_require((int64_t)info.width * info.height <= options->max_pixels);
  size_t row = (size_t)rows->width * (size_t)rows->channels;
  uint8_t *all = tm_xmalloc(row * (size_t)rows->height); /* exact, for the sanitizer */
  for (int32_t i = 0; i < rows->height && rc == 0; i++)
    rc = tm_image_next(rows, all + row * (size_t)i, &err);
  fuzz_require(rc == 0 || (err.code == rc && err.text[0] != '\0'));
  tm_image_close(rows);
  if (rc == 0)
    return all;
  free(all);
  return NULL;
}

static void fuzz_image(const uint8_t *data, size_t size)
{
  static const int32_t channels[] = { 0, 1, 3, 4 };
  struct tm_image_source source = { "input", data, size };
  struct tm_image_options options = { .max_pixels = 1 << 15,
                                      .max_memory = 4 << 20,
                                      .channels = channels[size % 4],
                                      .scale = 1 << size / 4 % 4 };
  struct tm_image_rows rows, again;
  uint8_t *all = fuzz_image_read(&source, &options, &rows);
  options.fills_missing = true;
  uint8_t *filled = fuzz_image_read(&source, &options, &again);
  fuzz_require(all == NULL || filled != NULL);
  if (all != NULL)
    fuzz_require(
        rows.width == again.width && rows.height == again.height &&
        memcmp(all, filled, (size_t)rows.width * (size_t)rows.height * (size_t)rows.channels) == 0);
  free(all);
  free(filled);
}

#endif
