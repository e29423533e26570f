/* in_flight.c - see in_flight.h. */
#include "step/in_flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/item.h"

void tm_in_flight_init(struct tm_ring *held)
{
  tm_ring_init(held, sizeof(struct tm_in_flight));
}

static void release(void *element)
{
  free(((struct tm_in_flight *)element)->first_item);
}

void tm_in_flight_release(struct tm_ring *held)
{
  tm_ring_release(held, release);
}

/* Into the memory of `old` if there is enough. */
static struct tm_first_item *describe(struct tm_first_item *old, const struct tm_buf *text)
{
  uint32_t len = (uint32_t)text->len;
  struct tm_first_item *f = old;

  if (!f || f->cap < len) {
    free(old);
    f = tm_xmalloc(sizeof(*f) + len);
    f->cap = len;
  }
  f->len = len;
  memcpy(f->bytes, tm_buf_str(text), len);
  return f;
}

struct tm_in_flight *tm_in_flight_add(struct tm_ring *held, const struct tm_assignment *what,
                                      const struct tm_manifest_entry *entry, struct tm_buf *scratch)
{
  struct tm_in_flight *x = tm_ring_add(held);

  tm_buf_clear(scratch);
  x->has_keys = tm_item_describe_first(scratch, entry->bytes, entry->len);
  x->first_item = describe(x->first_item, scratch);
  x->index = what->index;
  x->part = what->part;
  x->try = what->try;
  x->picked = what->picked;
  x->search = what->search;
  x->rows = what->rows;
  x->dataset = entry->dataset;
  x->items = entry->items > 0 ? entry->items : what->rows;
  x->manifest_at = entry->at;
  x->is_uncounted = x->is_announced = false;
  return x;
}
