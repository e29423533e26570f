/* webp_marks.c - the parts of a WebP. */
#include "data/images/webp_marks.h"

#include <string.h>

#include "base/buf.h"
#include "data/images/exif.h"

enum {
  RIFF = 12,
  PART = 8 /* a name, a length */,
  FRAME = 16 /* before its pixels */,
  SIGNATURE = 0x2f,
  LOSSLESS = 5 /* the signature and the size, before pixels */,
  ANIMATED = 2
};

static int32_t number24(const uint8_t *p)
{
  return p[0] | p[1] << 8 | p[2] << 16;
}

static void read_frame(struct tm_webp_look *look, const uint8_t *p, size_t n)
{
  if (look->frame != NULL || n < FRAME)
    return;
  look->x = 2 * number24(p);
  look->y = 2 * number24(p + 3);
  look->frame_width = 1 + number24(p + 6);
  look->frame_height = 1 + number24(p + 9);
  look->frame = p + FRAME;
  look->frame_len = n - FRAME;
}

static void read_part(struct tm_webp_look *look, const uint8_t *name, const uint8_t *p, size_t n)
{
  if (memcmp(name, "VP8X", 4) == 0 && n >= 10) {
    look->is_animated = (p[0] & ANIMATED) != 0;
    look->width = 1 + number24(p + 4);
    look->height = 1 + number24(p + 7);
  } else if (memcmp(name, "ANMF", 4) == 0) {
    read_frame(look, p, n);
  } else if (memcmp(name, "EXIF", 4) == 0) {
    look->orientation = tm_exif_orientation(p, n);
  }
}

struct tm_webp_look tm_webp_look(const uint8_t *data, size_t len)
{
  struct tm_webp_look look = { .orientation = 1 };
  uint64_t size = (uint64_t)tm_get_u32(data + 4) + 8;
  look.is_cut = size > len;
  len = look.is_cut ? len : (size_t)size;
  for (size_t at = RIFF; at < len && len - at >= PART;) {
    const uint8_t *p = data + at;
    size_t n = tm_get_u32(p + 4), left = len - at - PART;
    if (n > left)
      break;
    read_part(&look, p, p + PART, n);
    at += PART + n + (n & 1 && n < left);
  }
  return look;
}

/* libwebp takes pixels also without a part around them, reads them to the end of the file, and
 * takes the last alphas before lossy ones. */
const uint8_t *tm_webp_lossless(const uint8_t *data, size_t len, size_t *n)
{
  const uint8_t *alphas = NULL;
  size_t at = len >= RIFF && memcmp(data, "RIFF", 4) == 0 ? RIFF : 0, first = at;
  for (*n = 0; at < len && len - at > PART;) {
    const uint8_t *p = data + at;
    size_t left = len - at, part = tm_get_u32(p + 4);
    bool is_bare = at == first && p[0] == SIGNATURE;
    if (is_bare || memcmp(p, "VP8L", 4) == 0) {
      size_t head = is_bare ? LOSSLESS : PART + LOSSLESS;
      *n = left > head ? left - head : 0;
      return left > head ? p + head : NULL;
    }
    if (memcmp(p, "VP8 ", 4) == 0 || part > left - PART)
      break;
    if (memcmp(p, "ALPH", 4) == 0) {
      bool is_coded = part > 1 && (p[PART] & 3) == 1;
      alphas = is_coded ? p + PART + 1 : NULL;
      *n = is_coded ? part - 1 : 0;
    }
    at += PART + part + (part & 1);
  }
  return alphas;
}
