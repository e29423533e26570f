/* fuzz_image_png.c - a file that may be a PNG, as it is, and with corrected check sums: of its
 * chunks, and of the contents that zlib packs. */
#include "fuzz_image.h"

#include <zlib.h>

static void put_u32(uint8_t *p, uint32_t n)
{
  for (int i = 0; i < 4; i++)
    p[i] = (uint8_t)(n >> 8 * (3 - i));
}

static void correct_sums(uint8_t *p, size_t size)
{
  for (size_t at = 8; size >= 12 && at <= size - 12;) {
    size_t n = (size_t)p[at] << 24 | (size_t)p[at + 1] << 16 | (size_t)p[at + 2] << 8 | p[at + 3];
    if (n > size - 12 - at)
      return;
    put_u32(p + at + 8 + n, (uint32_t)crc32(0, p + at + 4, (uInt)n + 4));
    at += 12 + n;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  uint8_t *copy = tm_xmalloc(size);
  fuzz_image(data, size);
  if (size > 0)
    memcpy(copy, data, size);
  correct_sums(copy, size);
  fuzz_image(copy, size);
  free(copy);
  return 0;
}
