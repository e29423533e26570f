/* heap.h - elements of one type, of which the first by an order of the caller's is known. Adding
 * and removing take time logarithmic in their number.
 *
 * Elements are copied. The children of the element at i are at 2 * i + 1 and 2 * i + 2, and do not
 * come before it: a caller that searches for another element than the first may rely on that.
 */
#ifndef TM_BASE_HEAP_H
#define TM_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct tm_heap {
  char *at;
  size_t len, cap; /* elements */
  size_t size;     /* bytes of an element */
  bool (*is_before)(const void *a, const void *b);
};

void tm_heap_init(struct tm_heap *h, size_t size, bool (*is_before)(const void *, const void *));
void tm_heap_release(struct tm_heap *h);
void tm_heap_add(struct tm_heap *h, const void *element);
/* The element at `i`, 0 being the first of all. Valid until the next add or remove. */
static inline void *tm_heap_at(const struct tm_heap *h, size_t i)
{
  return h->at + i * h->size;
}
/* Removes the element at `i` < len, and copies it to `out`. */
void tm_heap_remove(struct tm_heap *h, size_t i, void *out);

#endif
