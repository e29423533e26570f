/* hash.c - XXH3 with 64 bits, from libxxhash.
 *
 * Its output is fixed since release 0.8.0 and does not depend on the machine, so files may hold it.
 * Another function would need a new version of every file format that holds a check sum.
 */
#include "base/hash.h"

#include <xxhash.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

struct tm_hash {
  XXH3_state_t *state; /* aligned by the library's own allocator */
};

void tm_hash_library(struct tm_buf *out)
{
  unsigned v = XXH_versionNumber();
  tm_buf_printf(out, "xxhash %u.%u.%u", v / 10000, v / 100 % 100, v % 100);
}

uint64_t tm_hash64(const void *p, size_t n)
{
  return XXH3_64bits(p, n);
}

uint64_t tm_hash64_seed(const void *p, size_t n, uint64_t seed)
{
  return XXH3_64bits_withSeed(p, n, seed);
}

struct tm_hash *tm_hash_new(void)
{
  struct tm_hash *h = TM_NEW(struct tm_hash);
  h->state = XXH3_createState();
  tm_require(h->state != NULL);
  tm_hash_reset(h);
  return h;
}

void tm_hash_reset(struct tm_hash *h)
{
  XXH3_64bits_reset(h->state);
}

void tm_hash_add(struct tm_hash *h, const void *p, size_t n)
{
  if (n)
    XXH3_64bits_update(h->state, p, n);
}

uint64_t tm_hash_end(const struct tm_hash *h)
{
  return XXH3_64bits_digest(h->state);
}

void tm_hash_free(struct tm_hash *h)
{
  if (!h)
    return;
  XXH3_freeState(h->state);
  free(h);
}
