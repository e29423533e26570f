/* fuzz_image_jpeg.c - a file that may be a JPEG. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_image(data, size);
  return 0;
}
