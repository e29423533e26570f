/* part_read.c - see part_read.h. */
#include "commit/part_read.h"

#include <inttypes.h>

#include "data/item.h"
#include "record/part.h"

/* False if there are fewer. */
static bool skip_items(struct tm_reader *r, uint32_t count)
{
  struct tm_item item;

  for (uint32_t i = 0; i < count; i++)
    if (!tm_item_next(r, &item))
      return false;
  return true;
}

static bool has_rows(const struct tm_manifest_entry *entry)
{
  struct tm_reader r;
  struct tm_item item;

  tm_reader_init(&r, entry->bytes, entry->len);
  return tm_item_next(&r, &item) && item.is_rows;
}

int tm_part_read(struct tm_manifest *m, uint64_t index, uint64_t part,
                 struct tm_manifest_entry *out, struct tm_err *err)
{
  uint32_t first = tm_part_first(part), count = tm_part_count(part);
  struct tm_reader r;
  int rc = tm_manifest_read(m, index, out, err);

  if (rc < 0 || part == 0)
    return rc;
  tm_reader_init(&r, out->bytes, out->len);
  if (has_rows(out)) { /* only their reader can select rows */
    out->items = count;
    return 0;
  }
  if (first >= out->items || count > out->items - first || !skip_items(&r, first))
    goto damaged;
  out->bytes = r.at;
  if (!skip_items(&r, count))
    goto damaged;
  out->len = (size_t)(r.at - out->bytes);
  out->items = count;
  return 0;
damaged:
  return tm_err_set(err, TM_EDAMAGE, "mini-batch %" PRIu64 " has no items %" PRIu32 " to %" PRIu32,
                    index, first + 1, first + count);
}
