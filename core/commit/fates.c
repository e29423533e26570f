/* fates.c - two bits per mini-batch, in words of 32 mini-batches; memory grows with the highest
 * index that has ended. */
#include "commit/fates.h"

#include "base/mem.h"

#define FAILED_BITS UINT64_C(0xaaaaaaaaaaaaaaaa) /* the upper bit of each pair */
#define UNCOUNTED   3u                           /* both bits: failed, and uncounted */

static unsigned get(const struct tm_fates *f, uint64_t index)
{
  return index / 32 < f->len ? (unsigned)(f->words[index / 32] >> index % 32 * 2 & 3) : 0;
}

enum tm_fate tm_fates_get(const struct tm_fates *f, uint64_t index)
{
  unsigned bits = get(f, index);
  return bits == UNCOUNTED ? TM_FATE_FAILED : (enum tm_fate)bits;
}

bool tm_fates_is_uncounted(const struct tm_fates *f, uint64_t index)
{
  return get(f, index) == UNCOUNTED;
}

static void put(struct tm_fates *f, uint64_t index, unsigned bits)
{
  size_t word = (size_t)(index / 32);
  tm_array_reserve((void **)&f->words, word + 1, &f->cap, sizeof(*f->words));
  while (f->len <= word)
    f->words[f->len++] = 0;
  unsigned shift = (unsigned)(index % 32 * 2);
  f->words[word] = (f->words[word] & ~(UINT64_C(3) << shift)) | (uint64_t)bits << shift;
}

void tm_fates_put(struct tm_fates *f, uint64_t index, enum tm_fate fate)
{
  put(f, index, (unsigned)fate);
}

void tm_fates_put_failed(struct tm_fates *f, const struct tm_record *r)
{
  put(f, r->index, r->items == 0 ? UNCOUNTED : (unsigned)TM_FATE_FAILED);
}

void tm_fates_reopen(struct tm_fates *f)
{
  _Static_assert(TM_FATE_OPEN == 0 && TM_FATE_FAILED == 2, "the upper bit alone says failed");
  for (size_t i = 0; i < f->len; i++) {
    uint64_t failed = f->words[i] & FAILED_BITS;
    f->words[i] &= ~(failed | failed >> 1);
  }
}

void tm_fates_release(struct tm_fates *f)
{
  free(f->words);
  f->words = NULL;
  f->len = f->cap = 0;
}
