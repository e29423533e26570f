/* fuzz_item.c - items: those that are read lie within the bytes, and written again are the bytes that were read. */
#include "fuzz.h"

#include "data/item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *begin = (const char *)data, *end = begin + size;
  struct tm_reader r;
  struct tm_item item;
  struct tm_buf again = TM_BUF_NONE;
  tm_reader_init(&r, data, size);
  while (tm_item_next(&r, &item)) {
    fuzz_require(item.path >= begin && item.path <= end &&
                 item.path_len <= (size_t)(end - item.path));
    fuzz_require(item.path_len > 0 && memchr(item.path, '\0', item.path_len) == NULL &&
                 item.size >= -1);
    tm_item_add(&again, &item);
  }
  fuzz_require(again.len <= size && (r.bad || again.len == size));
  fuzz_require(again.len == 0 || memcmp(again.data, data, again.len) == 0);
  tm_buf_release(&again);
  return 0;
}
