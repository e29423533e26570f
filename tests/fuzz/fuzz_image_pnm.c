/* fuzz_image_pnm.c - a file that may be a PNM of any kind. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_image(data, size);
  return 0;
}
