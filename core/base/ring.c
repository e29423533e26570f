/* ring.c - see ring.h. The capacity is a power of two. When it doubles, the element at place i
 * moves to place i or i + capacity, so that no two meet; free places stay where they are. */
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define FIRST_CAP 1 /* most windows hold one: mini-batches take longer than a message */

static uint64_t *seq_at(const struct tm_ring *r, size_t place)
{
  return (uint64_t *)(void *)(r->at + place * r->size);
}

void tm_ring_init(struct tm_ring *r, size_t size)
{
  tm_require(size <= UINT32_MAX);
  *r = (struct tm_ring) { .size = (uint32_t)size, .first = 1, .next = 1 };
}

void tm_ring_release(struct tm_ring *r, void (*release)(void *element))
{
  for (size_t i = 0; release && i < r->cap; i++)
    release(seq_at(r, i));
  free(r->at);
  r->at = NULL;
  r->cap = r->len = 0;
}

static void grow(struct tm_ring *r)
{
  struct tm_ring old = *r;

  tm_require(old.cap <= UINT32_MAX / 2);
  r->cap = old.cap == 0 ? FIRST_CAP : 2 * old.cap;
  r->at = tm_xcalloc(r->cap, r->size);
  for (size_t i = 0; i < old.cap; i++) {
    const uint64_t *element = seq_at(&old, i);
    memcpy(seq_at(r, *element != 0 ? *element & (r->cap - 1) : i), element, r->size);
  }
  free(old.at);
}

void *tm_ring_add(struct tm_ring *r)
{
  uint64_t *element;

  if (r->next - r->first == r->cap)
    grow(r);
  element = seq_at(r, r->next & (r->cap - 1));
  tm_require(*element == 0);
  *element = r->next++;
  r->len++;
  return element;
}

void tm_ring_remove(struct tm_ring *r, uint64_t seq)
{
  uint64_t *element = tm_ring_find(r, seq);

  tm_require(element);
  *element = 0;
  r->len--;
  while (r->first < r->next && *seq_at(r, r->first & (r->cap - 1)) == 0)
    r->first++;
}
