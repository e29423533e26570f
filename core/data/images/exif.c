/* exif.c - one entry of the first directory of EXIF data. */
#include "data/images/exif.h"

#include <stdbool.h>
#include <string.h>

enum { ORIENTATION = 0x0112, SHORT = 3, ENTRY = 12 /* bytes */ };

static uint32_t number(const uint8_t *p, int bytes, bool is_big)
{
  uint32_t n = 0;
  for (int i = 0; i < bytes; i++)
    n |= (uint32_t)p[i] << 8 * (is_big ? bytes - 1 - i : i);
  return n;
}

int32_t tm_exif_orientation(const uint8_t *data, size_t len)
{
  if (len >= 6 && memcmp(data, "Exif\0\0", 6) == 0) {
    data += 6;
    len -= 6;
  }
  if (len < 8 || (memcmp(data, "II*\0", 4) != 0 && memcmp(data, "MM\0*", 4) != 0))
    return 1;
  bool is_big = data[0] == 'M';
  size_t at = number(data + 4, 4, is_big);
  if (at > len - 2)
    return 1;
  size_t count = number(data + at, 2, is_big);
  at += 2;
  for (size_t i = 0; i < count && len - at >= ENTRY; i++, at += ENTRY) {
    if (number(data + at, 2, is_big) != ORIENTATION)
      continue;
    uint32_t value = number(data + at + 8, 2, is_big);
    bool is_short = number(data + at + 2, 2, is_big) == SHORT;
    return is_short && value >= 1 && value <= 8 ? (int32_t)value : 1;
  }
  return 1;
}
