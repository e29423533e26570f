/* heap.c - see heap.h. A place that is free moves up or down until its element fits there. */
#include "base/heap.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

void tm_heap_init(struct tm_heap *h, size_t size, bool (*is_before)(const void *, const void *))
{
  *h = (struct tm_heap) { .size = size, .is_before = is_before };
}

void tm_heap_release(struct tm_heap *h)
{
  free(h->at);
  h->at = NULL;
  h->len = h->cap = 0;
}

static void move(struct tm_heap *h, size_t to, size_t from)
{
  memcpy(tm_heap_at(h, to), tm_heap_at(h, from), h->size);
}

/* Where `element` fits between the free place `i` and the root. */
static size_t rise(struct tm_heap *h, size_t i, const void *element)
{
  while (i > 0 && h->is_before(element, tm_heap_at(h, (i - 1) / 2))) {
    move(h, i, (i - 1) / 2);
    i = (i - 1) / 2;
  }
  return i;
}

/* Where `element` fits below the free place `i`. */
static size_t sink(struct tm_heap *h, size_t i, const void *element)
{
  size_t child;

  while ((child = 2 * i + 1) < h->len) {
    if (child + 1 < h->len && h->is_before(tm_heap_at(h, child + 1), tm_heap_at(h, child)))
      child++;
    if (!h->is_before(tm_heap_at(h, child), element))
      break;
    move(h, i, child);
    i = child;
  }
  return i;
}

void tm_heap_add(struct tm_heap *h, const void *element)
{
  size_t i;

  tm_array_reserve((void **)&h->at, h->len + 1, &h->cap, h->size);
  i = rise(h, h->len++, element);
  memcpy(tm_heap_at(h, i), element, h->size);
}

void tm_heap_remove(struct tm_heap *h, size_t i, void *out)
{
  const void *last;
  size_t to;

  tm_require(i < h->len);
  memcpy(out, tm_heap_at(h, i), h->size);
  last = tm_heap_at(h, --h->len); /* stays there while others move */
  if (i == h->len)
    return;
  to = rise(h, i, last);
  if (to == i)
    to = sink(h, i, last);
  memcpy(tm_heap_at(h, to), last, h->size);
}
