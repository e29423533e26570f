/* jpeg_marks.c - the segments of a JPEG. */
#include "data/images/jpeg_marks.h"

#include <string.h>

#include "data/images/exif.h"

/* 0 is a byte of coded data; the others stand alone. */
static bool has_length(uint8_t mark)
{
  return mark != 0 && mark != 1 && mark != 0xff && (mark < 0xd0 || mark > TM_JPEG_END);
}

bool tm_jpeg_next_segment(const uint8_t *data, size_t len, size_t *at, struct tm_jpeg_segment *s)
{
  while (*at < len) {
    const uint8_t *mark = memchr(data + *at, 0xff, len - *at);
    if (mark == NULL)
      break;
    *at = (size_t)(mark - data) + 1;
    if (*at >= len || data[*at] == TM_JPEG_END)
      break;
    if (!has_length(data[*at]))
      continue;
    if (len - *at < 3)
      break;
    size_t bytes = (size_t)data[*at + 1] << 8 | data[*at + 2];
    if (bytes < 2 || bytes > len - *at - 1)
      break;
    *s = (struct tm_jpeg_segment) { data[*at], data + *at + 3, bytes - 2 };
    *at += 1 + bytes;
    return true;
  }
  *at = len;
  return false;
}

int32_t tm_jpeg_orientation(const uint8_t *data, size_t len)
{
  struct tm_jpeg_segment s;
  size_t at = 0;
  while (tm_jpeg_next_segment(data, len, &at, &s) && s.mark != TM_JPEG_SCAN) {
    if (s.mark == TM_JPEG_APP1 && s.len >= 6 && memcmp(s.data, "Exif\0", 5) == 0)
      return tm_exif_orientation(s.data, s.len);
  }
  return 1;
}

int32_t tm_jpeg_scans(const uint8_t *data, size_t len, int32_t most)
{
  struct tm_jpeg_segment s;
  size_t at = 0;
  int32_t scans = 0;
  while (scans < most && tm_jpeg_next_segment(data, len, &at, &s))
    scans += s.mark == TM_JPEG_SCAN;
  return scans;
}
