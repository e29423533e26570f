/* fuzz_range_item.c - ranges of rows lie within the bytes, and writing them again gives the bytes
 * that were read. */
#include "fuzz.h"

#include "data/rows/range_item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *begin = (const char *)data, *end = begin + size;
  struct tm_reader r;
  struct tm_range_item item;
  struct tm_buf again = TM_BUF_NONE;
  tm_reader_init(&r, data, size);
  while (tm_range_item_next(&r, &item)) {
    fuzz_require(item.path >= begin && item.path_len > 0 &&
                 item.path_len <= (size_t)(end - item.path));
    fuzz_require(item.range.begin >= 0 && item.range.end >= item.range.begin);
    tm_range_item_add(&again, &item);
  }
  fuzz_require(again.len <= size && (r.bad || again.len == size));
  fuzz_require(again.len == 0 || memcmp(again.data, data, again.len) == 0);
  tm_buf_release(&again);
  return 0;
}
