/* image_pixels.c - conversions of rows of pixels. */
#include "data/images/image_pixels.h"

#include <stddef.h>
#include <string.h>

int32_t tm_image_layout_bytes(enum tm_image_layout layout)
{
  static const int8_t bytes[] = { 0, 1, 2, 3, 4, 4, 1 };
  return bytes[layout];
}

int32_t tm_image_own_channels(const struct tm_image_pixels *p)
{
  switch (p->layout) {
  case TM_PIXELS_GREY: return p->has_clear_colour ? 4 : 1;
  case TM_PIXELS_GREY_ALPHA: return 4;
  case TM_PIXELS_RGB: return p->has_clear_colour ? 4 : 3;
  case TM_PIXELS_RGBA: return 4;
  case TM_PIXELS_CMYK: return 3;
  case TM_PIXELS_INDEX: return p->has_clear_indices ? 4 : 3;
  }
  return 3;
}

bool tm_image_is_same(const struct tm_image_pixels *p, int32_t channels)
{
  return (p->layout == TM_PIXELS_GREY && channels == 1) ||
         (p->layout == TM_PIXELS_RGB && channels == 3) ||
         (p->layout == TM_PIXELS_RGBA && channels == 4);
}

/* Pillow's weights: ITU-R 601, rounded. */
static uint8_t grey_of(const uint8_t *rgb)
{
  return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

/* Inverted ink, and black, as light. Pillow divides by 255 so. */
static uint8_t light_of(uint8_t ink, uint8_t black)
{
  int product = (255 - ink) * black + 128;
  int light = black - (((product >> 8) + product) >> 8);
  return (uint8_t)(light < 0 ? 0 : light);
}

/* One pixel as red, green, blue, alpha. */
static void read_pixel(const struct tm_image_pixels *p, const uint8_t *from, uint8_t out[4])
{
  switch (p->layout) {
  case TM_PIXELS_GREY:
  case TM_PIXELS_GREY_ALPHA:
    out[0] = out[1] = out[2] = from[0];
    out[3] = p->layout == TM_PIXELS_GREY_ALPHA ? from[1] : 255;
    break;
  case TM_PIXELS_RGB:
  case TM_PIXELS_RGBA:
    memcpy(out, from, 3);
    out[3] = p->layout == TM_PIXELS_RGBA ? from[3] : 255;
    break;
  case TM_PIXELS_CMYK:
    for (int i = 0; i < 3; i++)
      out[i] = light_of(from[i], from[3]);
    out[3] = 255;
    break;
  case TM_PIXELS_INDEX: memcpy(out, p->palette[from[0]], 4); break;
  }
  if (p->has_clear_colour && out[0] == p->clear[0] && out[1] == p->clear[1] &&
      out[2] == p->clear[2])
    out[3] = 0;
}

/* The frequent ones, without a pixel in between. */
static bool convert_fast(enum tm_image_layout layout, const uint8_t *from, int32_t width,
                         int32_t channels, uint8_t *to)
{
  size_t n = (size_t)width;
  if (channels == 1 && (layout == TM_PIXELS_RGB || layout == TM_PIXELS_RGBA)) {
    size_t step = layout == TM_PIXELS_RGB ? 3 : 4;
    for (size_t i = 0; i < n; i++)
      to[i] = grey_of(from + step * i);
  } else if (channels == 3 && layout == TM_PIXELS_GREY) {
    for (size_t i = 0; i < n; i++)
      to[3 * i] = to[3 * i + 1] = to[3 * i + 2] = from[i];
  } else if (channels == 3 && layout == TM_PIXELS_RGBA) {
    for (size_t i = 0; i < n; i++) {
      to[3 * i] = from[4 * i];
      to[3 * i + 1] = from[4 * i + 1];
      to[3 * i + 2] = from[4 * i + 2];
    }
  } else {
    return false;
  }
  return true;
}

void tm_image_convert(const struct tm_image_pixels *p, const uint8_t *from, int32_t width,
                      int32_t channels, uint8_t *to)
{
  size_t step = (size_t)tm_image_layout_bytes(p->layout);
  uint8_t pixel[4];
  if (tm_image_is_same(p, channels) && !(channels == 4 && p->has_clear_colour)) {
    memcpy(to, from, (size_t)width * step);
    return;
  }
  if (convert_fast(p->layout, from, width, channels, to))
    return;
  bool is_grey = p->layout == TM_PIXELS_GREY || p->layout == TM_PIXELS_GREY_ALPHA;
  for (int32_t i = 0; i < width; i++, from += step, to += channels) {
    read_pixel(p, from, pixel);
    if (channels == 1)
      to[0] = is_grey ? pixel[0] : grey_of(pixel);
    else
      memcpy(to, pixel, (size_t)channels);
  }
}
