/* image_pixels.h - rows of pixels as files have them, converted to 1, 3 or 4 channels of 8 bits.
 * The results are Pillow's, byte for byte: Image.convert("L"), ("RGB") and ("RGBA"). Pure.
 */
#ifndef TM_DATA_IMAGES_IMAGE_PIXELS_H
#define TM_DATA_IMAGES_IMAGE_PIXELS_H

#include <stdbool.h>
#include <stdint.h>

enum tm_image_layout {
  TM_PIXELS_GREY = 1,
  TM_PIXELS_GREY_ALPHA,
  TM_PIXELS_RGB,
  TM_PIXELS_RGBA,
  TM_PIXELS_CMYK, /* inverted, as Adobe's programs write it: 255: without ink */
  TM_PIXELS_INDEX /* of a palette */
};

struct tm_image_pixels {
  enum tm_image_layout layout;
  uint8_t palette[256][4]; /* red, green, blue, alpha */
  bool has_clear_indices;  /* an alpha of the palette is not 255 */
  bool has_clear_colour;   /* pixels of this grey, or of this colour, are transparent */
  uint16_t clear[3];
};

/* Bytes of a pixel before the conversion. */
int32_t tm_image_layout_bytes(enum tm_image_layout layout);
/* 1, 3 or 4: what keeps all that the pixels have. */
int32_t tm_image_own_channels(const struct tm_image_pixels *p);
/* Whether a row with so many channels is the row as it is. */
bool tm_image_is_same(const struct tm_image_pixels *p, int32_t channels);
/* Converts a row of `width` pixels to 1, 3 or 4 channels. The rows do not overlap. */
void tm_image_convert(const struct tm_image_pixels *p, const uint8_t *from, int32_t width,
                      int32_t channels, uint8_t *to);

#endif
