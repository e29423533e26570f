/* ring.h - elements with consecutive numbers, 1, 2, 3, ..., that are removed in any order: a window
 * that moves on. It grows with the span from the first element to the last, and never shrinks.
 *
 * The type of the elements begins with `uint64_t seq`: their number, 0 in a free place. The rest of
 * a free place is left as it was, so that a buffer in it can be used again; what was never used is
 * zeroed.
 */
#ifndef TM_BASE_RING_H
#define TM_BASE_RING_H

#include <stddef.h>
#include <stdint.h>

/* Without padding: a job may have 100,000 rings. */
struct tm_ring {
  char *at;             /* number seq is at place seq % capacity; NULL: there is none yet */
  uint64_t first, next; /* all elements are in first .. next - 1 */
  uint32_t len;
  uint16_t size;    /* bytes of an element */
  uint8_t cap_log2; /* of the capacity, in elements */
};

void tm_ring_init(struct tm_ring *r, size_t size); /* at most UINT16_MAX */
/* For each place, free or not, calls release() unless it is NULL. */
void tm_ring_release(struct tm_ring *r, void (*release)(void *element));
/* Adds the next number. The element is valid until the next add. */
void *tm_ring_add(struct tm_ring *r);
/* NULL: not there. */
static inline void *tm_ring_find(const struct tm_ring *r, uint64_t seq)
{
  char *element;

  if (!r->at || seq == 0)
    return NULL;
  element = r->at + (seq & ((UINT64_C(1) << r->cap_log2) - 1)) * r->size;
  return *(uint64_t *)(void *)element == seq ? element : NULL;
}
/* NULL: it is empty. */
static inline void *tm_ring_first(const struct tm_ring *r)
{
  return r->len > 0 ? tm_ring_find(r, r->first) : NULL;
}
/* The number must be there. */
void tm_ring_remove(struct tm_ring *r, uint64_t seq);

#endif
