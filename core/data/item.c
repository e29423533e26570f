/* item.c - items as bytes, field by field, little-endian.
 *
 * The layout is part of the manifest's public format and of the frames to workers: it changes only
 * with their versions. The reader trusts nothing: a length past the end, an empty path, a NUL in a
 * path, a size below -1 or a range that ends before it begins makes the reader bad and ends it. A
 * returned path always points into the bytes.
 */
#include "data/item.h"

#include "base/check.h"
#include "data/key.h"

#define FILE_HEAD  20 /* bytes before the path */
#define ROWS_HEAD  72
#define ENTRY_HEAD 60
#define EXTRACTED  1u /* of the flags of an entry */
#define FAULT_MOST 4096u
#define PATH_MOST  0xffffffu /* bytes */

static void put_entry(char *p, const struct tm_item *item)
{
  const struct tm_entry_place *e = &item->entry;
  tm_put_u32(p + 20, item->archive_len);
  tm_put_u32(p + 24, (uint32_t)e->how | (item->is_extracted ? EXTRACTED << 8 : 0) |
                         (e->method & 0xffff) << 16);
  tm_put_u32(p + 28, e->crc);
  tm_put_u32(p + 32, (uint32_t)item->fault_len);
  tm_put_u64(p + 36, (uint64_t)e->place);
  tm_put_u64(p + 44, (uint64_t)e->packed);
  tm_put_u64(p + 52, (uint64_t)e->size);
}

void tm_item_add(struct tm_buf *out, const struct tm_item *item)
{
  size_t head = item->is_rows ? ROWS_HEAD : item->is_entry ? ENTRY_HEAD : FILE_HEAD;
  uint32_t kind = item->is_group   ? TM_ITEM_GROUP
                  : item->is_rows  ? TM_ITEM_ROWS
                  : item->is_entry ? TM_ITEM_ENTRY
                                   : TM_ITEM_FILE;
  tm_require(item->path_len > 0 && item->path_len <= PATH_MOST);
  char *p = tm_buf_extend(out, head + item->path_len);
  tm_put_u32(p, kind << 24 | (uint32_t)item->path_len);
  tm_put_u64(p + 4, (uint64_t)item->size);
  tm_put_u64(p + 12, (uint64_t)item->mtime_ns);
  if (item->is_rows) {
    tm_put_u64(p + 20, (uint64_t)item->begin);
    tm_put_u64(p + 28, (uint64_t)item->end);
    tm_put_u64(p + 36, (uint64_t)item->first_row);
    tm_put_u64(p + 44, (uint64_t)item->rows);
    tm_put_u32(p + 52, item->file);
    tm_put_u64(p + 56, (uint64_t)item->number);
    tm_put_u64(p + 64, (uint64_t)item->from);
  } else if (item->is_entry) {
    put_entry(p, item);
  }
  memcpy(p + head, item->path, item->path_len);
  if (item->is_entry)
    tm_buf_add(out, item->fault, item->fault_len);
}

static void read_range(struct tm_reader *r, struct tm_item *out)
{
  out->is_rows = true;
  out->begin = (int64_t)tm_read_u64(r);
  out->end = (int64_t)tm_read_u64(r);
  out->first_row = (int64_t)tm_read_u64(r);
  out->rows = (int64_t)tm_read_u64(r);
  out->file = tm_read_u32(r);
  out->number = (int64_t)tm_read_u64(r);
  out->from = (int64_t)tm_read_u64(r);
  r->bad = r->bad || out->begin < 0 || out->end < out->begin || out->first_row < -1 ||
           out->rows < -1 || out->number < -1 || out->from < 0;
}

static void read_entry(struct tm_reader *r, struct tm_item *out)
{
  struct tm_entry_place *e = &out->entry;
  out->is_entry = true;
  out->archive_len = tm_read_u32(r);
  uint32_t how = tm_read_u32(r);
  e->how = (enum tm_entry_how)(how & 0xff);
  out->is_extracted = how >> 8 & EXTRACTED;
  e->method = how >> 16;
  e->crc = tm_read_u32(r);
  out->fault_len = tm_read_u32(r);
  e->place = (int64_t)tm_read_u64(r);
  e->packed = (int64_t)tm_read_u64(r);
  e->size = (int64_t)tm_read_u64(r);
  r->bad = r->bad || (how >> 8 & 0xff & ~EXTRACTED) != 0 || e->how > TM_ENTRY_WALKED ||
           e->place < 0 || e->packed < 0 || e->size < 0 || out->fault_len > FAULT_MOST;
}

/* What follows the path of an entry. */
static void read_fault(struct tm_reader *r, struct tm_item *out)
{
  bool has_name = out->archive_len > 0 && out->archive_len < out->path_len &&
                  out->path[out->archive_len] == '/';
  r->bad = !has_name && !(tm_item_is_archive(out) && out->fault_len > 0);
  out->fault = tm_read_raw(r, out->fault_len);
}

/* Skips the keys at the front, which must be readable to their end. Returns them, or NULL. */
static const char *pass_keys(struct tm_reader *r, uint32_t len)
{
  struct tm_reader keys;
  struct tm_key key;
  const char *at = tm_read_raw(r, len);
  if (at == NULL)
    return NULL;
  tm_reader_init(&keys, at, len);
  while (tm_key_next(&keys, &key))
    ;
  r->bad = keys.bad;
  return at;
}

bool tm_item_next(struct tm_reader *r, struct tm_item *out)
{
  if (r->bad || r->at == r->end)
    return false;
  uint32_t head = tm_read_u32(r);
  const char *keys = NULL;
  size_t keys_len = 0;
  while (head >> 24 == TM_KEYS_RECORD) {
    keys_len = head & PATH_MOST;
    keys = pass_keys(r, head & PATH_MOST);
    if (r->bad || r->at == r->end)
      return false;
    head = tm_read_u32(r);
  }
  *out = (struct tm_item) { .path_len = head & PATH_MOST, .first_row = -1, .rows = -1 };
  out->size = (int64_t)tm_read_u64(r);
  out->mtime_ns = (int64_t)tm_read_u64(r);
  switch (head >> 24) {
  case TM_ITEM_FILE: break;
  case TM_ITEM_GROUP:
    out->is_group = true;
    out->keys = keys;
    out->keys_len = keys_len;
    read_range(r, out);
    break;
  case TM_ITEM_ROWS: read_range(r, out); break;
  case TM_ITEM_ENTRY: read_entry(r, out); break;
  default: r->bad = true;
  }
  out->path = tm_read_raw(r, out->path_len);
  if (r->bad || out->path_len == 0 || out->size < -1 || memchr(out->path, '\0', out->path_len))
    r->bad = true;
  else if (out->is_entry)
    read_fault(r, out);
  return !r->bad;
}

bool tm_item_describe(struct tm_buf *out, const struct tm_item *item)
{
  struct tm_reader keys;
  if (!item->keys) {
    tm_buf_add(out, item->path, item->path_len);
    return false;
  }
  tm_reader_init(&keys, item->keys, item->keys_len);
  tm_keys_describe(out, keys);
  return true;
}

bool tm_item_describe_first(struct tm_buf *out, const char *bytes, size_t len)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, bytes, len);
  return tm_item_next(&r, &item) && tm_item_describe(out, &item);
}
