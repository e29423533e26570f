/* ring.c - see ring.h. The capacity is a power of two. When it doubles, the element at place i
 * moves to place i or i + capacity, so that no two meet; free places stay where they are. */
#include "base/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* The first capacity is one: mini-batches usually take longer than a message, so most windows hold
 * one. */
static uint64_t cap_of(const struct tm_ring *r)
{
  return r->at ? UINT64_C(1) << r->cap_log2 : 0;
}

/* `place`: a place, or the number of an element, which is reduced to its place. */
static uint64_t *seq_at(const struct tm_ring *r, uint64_t place)
{
  return (uint64_t *)(void *)(r->at + (place & (cap_of(r) - 1)) * r->size);
}

void tm_ring_init(struct tm_ring *r, size_t size)
{
  tm_require(size <= UINT16_MAX);
  *r = (struct tm_ring) { .size = (uint16_t)size, .first = 1, .next = 1 };
}

void tm_ring_release(struct tm_ring *r, void (*release)(void *element))
{
  for (uint64_t i = 0; release && i < cap_of(r); i++)
    release(seq_at(r, i));
  free(r->at);
  r->at = NULL;
  r->cap_log2 = 0;
  r->len = 0;
}

static void grow(struct tm_ring *r)
{
  struct tm_ring old = *r;

  tm_require(old.cap_log2 < 31); /* `len` counts them */
  r->cap_log2 = (uint8_t)(old.at ? old.cap_log2 + 1 : 0);
  r->at = tm_xcalloc((size_t)1 << r->cap_log2, r->size);
  for (uint64_t i = 0; i < cap_of(&old); i++) {
    const uint64_t *element = seq_at(&old, i);
    memcpy(seq_at(r, *element != 0 ? *element : i), element, r->size);
  }
  free(old.at);
}

void *tm_ring_add(struct tm_ring *r)
{
  uint64_t *element;

  if (r->next - r->first == cap_of(r))
    grow(r);
  element = seq_at(r, r->next);
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
  while (r->first < r->next && *seq_at(r, r->first) == 0)
    r->first++;
}
