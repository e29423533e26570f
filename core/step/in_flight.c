/* in_flight.c - see in_flight.h. */
#include "step/in_flight.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/item.h"

void tm_in_flight_init(struct tm_ring *held)
{
  tm_ring_init(held, sizeof(struct tm_in_flight));
}

static void clear(void *element)
{
  struct tm_in_flight *x = element;

  free(x->first_item);
  x->first_item = NULL;
}

void tm_in_flight_release(struct tm_ring *held)
{
  tm_ring_release(held, clear);
}

struct tm_in_flight *tm_in_flight_add(struct tm_ring *held, const struct tm_assignment *what,
                                      const struct tm_manifest_entry *entry, struct tm_buf *scratch)
{
  struct tm_in_flight *x = tm_ring_add(held);
  uint64_t seq = x->seq;
  bool has_keys;

  tm_buf_clear(scratch);
  has_keys = tm_item_describe_first(scratch, entry->bytes, entry->len);
  *x = (struct tm_in_flight) { .seq = seq,
                               .index = what->index,
                               .part = what->part,
                               .try = what->try,
                               .picked = what->picked,
                               .search = what->search,
                               .rows = what->rows,
                               .dataset = entry->dataset,
                               .items = entry->items > 0 ? entry->items : what->rows,
                               .manifest_at = entry->at,
                               .first_item = tm_xstrndup(tm_buf_str(scratch), scratch->len),
                               .first_item_len = (uint32_t)scratch->len,
                               .has_keys = has_keys };
  return x;
}

void tm_in_flight_remove(struct tm_ring *held, struct tm_in_flight *x)
{
  clear(x);
  tm_ring_remove(held, x->seq);
}
