/* fuzz_image_webp.c - a file that may be a WebP. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_image(data, size);
  return 0;
}
