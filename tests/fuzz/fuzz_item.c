/* fuzz_item.c - the contents of a mini-batch: items and keys lie within the bytes, and writing them
 * again gives the bytes that were read. */
#include "fuzz.h"

#include "data/item.h"
#include "data/key.h"

/* Reads the keys at its begin; returns their size in bytes. */
static size_t read_keys(const char *begin, size_t size)
{
  struct tm_reader r;
  struct tm_key keys[16];
  struct tm_buf again = TM_BUF_NONE;
  size_t n = 0;
  if (!tm_keys_find(begin, size, &r))
    return 0;
  const char *end = r.end;
  fuzz_require(end <= begin + size);
  tm_keys_describe(&again, r);
  while (n < 16 && tm_key_next(&r, &keys[n])) {
    fuzz_require(keys[n].name >= begin && keys[n].name_len <= (size_t)(end - keys[n].name));
    tm_key_add_order(&again, &keys[n++]);
  }
  tm_buf_clear(&again);
  tm_keys_add(&again, keys, n);
  if (!r.bad && r.at == r.end)
    fuzz_require(again.len == (size_t)(end - begin) && memcmp(again.data, begin, again.len) == 0);
  tm_buf_release(&again);
  return (size_t)(end - begin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *begin = (const char *)data, *end = begin + size;
  struct tm_reader r;
  struct tm_item item;
  struct tm_buf again = TM_BUF_NONE;
  const char *from = begin + read_keys(begin, size);
  tm_reader_init(&r, data, size);
  while (tm_item_next(&r, &item)) {
    fuzz_require(item.path >= begin && item.path <= end &&
                 item.path_len <= (size_t)(end - item.path));
    fuzz_require(item.path_len > 0 && memchr(item.path, '\0', item.path_len) == NULL &&
                 item.size >= -1 && item.begin <= item.end);
    fuzz_require(!item.is_entry ||
                 ((tm_item_is_archive(&item)
                       ? item.fault_len > 0
                       : item.archive_len < item.path_len && item.path[item.archive_len] == '/') &&
                  item.fault >= begin && item.fault_len <= (size_t)(end - item.fault)));
    tm_buf_clear(&again);
    tm_item_add(&again, &item);
    fuzz_require(again.len <= (size_t)(r.at - from) &&
                 memcmp(again.data, r.at - again.len, again.len) == 0);
    from = r.at;
  }
  fuzz_require(r.bad || r.at == end);
  tm_buf_release(&again);
  return 0;
}
