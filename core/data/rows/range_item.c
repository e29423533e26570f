/* range_item.c - fields in the order of the header, little-endian. */
#include "data/rows/range_item.h"

#include <string.h>

void tm_range_item_add(struct tm_buf *out, const struct tm_range_item *item)
{
  tm_buf_add_u32(out, (uint32_t)item->path_len);
  tm_buf_add_u64(out, (uint64_t)item->size);
  tm_buf_add_u64(out, (uint64_t)item->mtime_ns);
  tm_buf_add_u32(out, item->file);
  tm_buf_add_u64(out, (uint64_t)item->range.begin);
  tm_buf_add_u64(out, (uint64_t)item->range.end);
  tm_buf_add_u64(out, (uint64_t)item->range.first_row);
  tm_buf_add_u64(out, (uint64_t)item->range.rows);
  tm_buf_add(out, item->path, item->path_len);
}

static bool is_good(const struct tm_range_item *item)
{
  const struct tm_range *r = &item->range;
  return item->path_len > 0 && memchr(item->path, '\0', item->path_len) == NULL &&
         item->size >= 0 && r->begin >= 0 && r->end >= r->begin && r->first_row >= -1 &&
         r->rows >= -1;
}

bool tm_range_item_next(struct tm_reader *r, struct tm_range_item *out)
{
  if (r->bad || r->at == r->end)
    return false;
  out->path_len = tm_read_u32(r);
  out->size = (int64_t)tm_read_u64(r);
  out->mtime_ns = (int64_t)tm_read_u64(r);
  out->file = tm_read_u32(r);
  out->range.begin = (int64_t)tm_read_u64(r);
  out->range.end = (int64_t)tm_read_u64(r);
  out->range.first_row = (int64_t)tm_read_u64(r);
  out->range.rows = (int64_t)tm_read_u64(r);
  out->path = tm_read_raw(r, out->path_len);
  if (r->bad || out->path == NULL || !is_good(out)) {
    r->bad = true;
    return false;
  }
  return true;
}
