/* item.c - items as bytes, field by field, little-endian.
 *
 * The layout is part of the manifest's public format and of the frames to workers: it changes with their versions only.
 * Reading trusts nothing: a length that goes past the end, an empty path, a NUL in a path or a size below -1 makes the
 * reader bad and ends it, and the path that is handed out points into the bytes, never beyond them.
 */
#include "data/item.h"

#include "base/check.h"

#define ITEM_HEAD 20 /* bytes before the path */

void tm_item_add(struct tm_buf *out, const struct tm_item *item)
{
  tm_require(item->path_len > 0 && item->path_len <= UINT32_MAX);
  char *p = tm_buf_extend(out, ITEM_HEAD + item->path_len);
  tm_put_u32(p, (uint32_t)item->path_len);
  tm_put_u64(p + 4, (uint64_t)item->size);
  tm_put_u64(p + 12, (uint64_t)item->mtime_ns);
  memcpy(p + ITEM_HEAD, item->path, item->path_len);
}

bool tm_item_next(struct tm_reader *r, struct tm_item *out)
{
  if (r->bad || r->at == r->end)
    return false;
  out->path_len = tm_read_u32(r);
  out->size = (int64_t)tm_read_u64(r);
  out->mtime_ns = (int64_t)tm_read_u64(r);
  out->path = tm_read_raw(r, out->path_len);
  if (out->path == NULL || out->path_len == 0 || out->size < -1 ||
      memchr(out->path, '\0', out->path_len) != NULL)
    r->bad = true;
  return !r->bad;
}
