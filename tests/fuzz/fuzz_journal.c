/* fuzz_journal.c - a record of the journal. With a correct check sum, encoding and decoding it
 * again gives the same record. With a wrong one it is refused.
 */
#include "fuzz.h"

#include "base/hash.h"
#include "commit/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  uint8_t bytes[TM_RECORD_SIZE] = { 0 }, once[TM_RECORD_SIZE], twice[TM_RECORD_SIZE];
  struct tm_record r;
  memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
  uint64_t check = tm_hash64(bytes, TM_RECORD_SIZE - 8);
  if (tm_get_u64(bytes + TM_RECORD_SIZE - 8) != check)
    fuzz_require(tm_record_decode(&r, bytes) == TM_EDAMAGE);
  tm_put_u64(bytes + TM_RECORD_SIZE - 8, check);
  if (tm_record_decode(&r, bytes) < 0)
    return 0;
  tm_record_encode(&r, once);
  fuzz_require(tm_record_decode(&r, once) == 0);
  tm_record_encode(&r, twice);
  fuzz_require(memcmp(once, twice, sizeof(once)) == 0);
  return 0;
}
