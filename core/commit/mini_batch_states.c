/* mini_batch_states.c - two bits per mini-batch, in words of 32 mini-batches; memory grows with the
 * highest index that has ended. */
#include "commit/mini_batch_states.h"

#include "base/check.h"
#include "base/mem.h"

#define FAILED_BITS UINT64_C(0xaaaaaaaaaaaaaaaa) /* the upper bit of each pair */
#define UNCOUNTED   3u                           /* both bits: failed, and uncounted */

static unsigned get(const struct tm_mini_batch_states *f, uint64_t index)
{
  return index / 32 < f->len ? (unsigned)(f->words[index / 32] >> index % 32 * 2 & 3) : 0;
}

enum tm_mini_batch_state tm_mini_batch_states_get(const struct tm_mini_batch_states *f,
                                                  uint64_t index)
{
  unsigned bits = get(f, index);
  return bits == UNCOUNTED ? TM_MINI_BATCH_FAILED : (enum tm_mini_batch_state)bits;
}

bool tm_mini_batch_states_is_uncounted(const struct tm_mini_batch_states *f, uint64_t index)
{
  return get(f, index) == UNCOUNTED;
}

static void put(struct tm_mini_batch_states *f, uint64_t index, unsigned bits)
{
  size_t word = (size_t)(index / 32);
  tm_array_reserve((void **)&f->words, word + 1, &f->cap, sizeof(*f->words));
  while (f->len <= word)
    f->words[f->len++] = 0;
  unsigned shift = (unsigned)(index % 32 * 2);
  f->words[word] = (f->words[word] & ~(UINT64_C(3) << shift)) | (uint64_t)bits << shift;
}

void tm_mini_batch_states_put(struct tm_mini_batch_states *f, uint64_t index,
                              enum tm_mini_batch_state state)
{
  tm_require(state <= TM_MINI_BATCH_FAILED);
  put(f, index, (unsigned)state);
}

void tm_mini_batch_states_put_failed(struct tm_mini_batch_states *f, const struct tm_record *r)
{
  tm_require(r->kind == TM_RECORD_FAILED);
  put(f, r->index, r->items == 0 ? UNCOUNTED : (unsigned)TM_MINI_BATCH_FAILED);
}

void tm_mini_batch_states_reopen(struct tm_mini_batch_states *f)
{
  _Static_assert(TM_MINI_BATCH_OPEN == 0 && TM_MINI_BATCH_FAILED == 2,
                 "the upper bit alone says failed");
  for (size_t i = 0; i < f->len; i++) {
    uint64_t failed = f->words[i] & FAILED_BITS;
    f->words[i] &= ~(failed | failed >> 1);
  }
}

void tm_mini_batch_states_release(struct tm_mini_batch_states *f)
{
  free(f->words);
  f->words = NULL;
  f->len = f->cap = 0;
}
