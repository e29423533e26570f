/* png_marks.c - the chunks of a PNG. */
#include "data/images/png_marks.h"

#include <string.h>

#include "data/images/exif.h"

enum { MAGIC = 8, BEFORE = 8 /* length, type */, AROUND = 12 /* and a check sum */ };

struct tm_png_look tm_png_look(const uint8_t *data, size_t len)
{
  struct tm_png_look look = { .orientation = 1 };
  size_t at = MAGIC;
  while (len - at >= BEFORE) {
    const uint8_t *p = data + at;
    size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    bool is_pixels = memcmp(p + 4, "IDAT", 4) == 0;
    look.has_pixels |= is_pixels;
    if (!is_pixels && n > look.largest)
      look.largest = n;
    if (len - at < AROUND || n > len - at - AROUND)
      break;
    if (memcmp(p + 4, "IEND", 4) == 0)
      return look;
    if (memcmp(p + 4, "eXIf", 4) == 0)
      look.orientation = tm_exif_orientation(p + 8, n);
    at += AROUND + n;
  }
  look.is_cut = true;
  look.cut_at = at;
  return look;
}
