/* fuzz_seven_zip.c - the header of a 7z archive, packed or not. It is refused, or all its entries
 * are listed, with names within the bytes and sizes that add up to those of its folders. */
#include "fuzz.h"

#include "data/archive/seven_zip_header.h"

static void walk(struct tm_seven_zip_header *h, const char *p, size_t n)
{
  struct tm_seven_zip_entry e;
  uint64_t entries = 0, bytes = 0, unpacked = h->streams.unpacked;
  while (tm_seven_zip_next(h, &e)) {
    fuzz_require(e.name >= p && e.name_len <= (size_t)(p + n - e.name));
    fuzz_require(e.has_stream || e.size == 0);
    bytes += e.size;
    entries++;
  }
  fuzz_require(entries == h->files && entries <= n);
  fuzz_require(bytes <= unpacked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *p = (const char *)data;
  struct tm_seven_zip_header h;
  struct tm_seven_zip_streams s;
  if (tm_seven_zip_parse(&h, p, size, 100) == NULL)
    walk(&h, p, size);
  if (tm_seven_zip_parse_packed(&s, p, size, 100) == NULL)
    fuzz_require(s.first_size <= s.unpacked && s.end > p && s.end <= p + size);
  return 0;
}
