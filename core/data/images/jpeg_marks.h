/* jpeg_marks.h - the segments of a JPEG, found without decoding it. Pure; the bytes may be hostile.
 *
 *   size_t at = 0;
 *   struct tm_jpeg_segment s;
 *   while (tm_jpeg_next_segment(data, len, &at, &s)) ...
 */
#ifndef TM_DATA_IMAGES_JPEG_MARKS_H
#define TM_DATA_IMAGES_JPEG_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TM_JPEG_APP1 = 0xe1, TM_JPEG_SCAN = 0xda, TM_JPEG_END = 0xd9 };

struct tm_jpeg_segment {
  uint8_t mark;
  const uint8_t *data; /* behind its length */
  size_t len;
};

/* The next one with a length. Skips the coded data behind a scan. False: there is no other one. */
bool tm_jpeg_next_segment(const uint8_t *data, size_t len, size_t *at, struct tm_jpeg_segment *s);

/* EXIF's orientation, 1 to 8. */
int32_t tm_jpeg_orientation(const uint8_t *data, size_t len);
/* The number of scans; it stops counting at `most`. */
int32_t tm_jpeg_scans(const uint8_t *data, size_t len, int32_t most);

#endif
