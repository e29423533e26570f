/* failed_lines.c - see failed_lines.h. */
#include "commit/failed_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

static void add_string(struct tm_buf *out, const char *key, const char *text, size_t len)
{
  tm_buf_printf(out, ",\"%s\":", key);
  tm_json_write_string(out, text, len);
}

static bool is_utf8(const char *s, size_t n)
{
  for (size_t i = 0, len; i < n; i += len)
    if ((len = tm_text_utf8_len(s + i, n - i)) == 0)
      return false;
  return true;
}

static void add_hex(struct tm_buf *out, const char *key, const char *p, size_t n)
{
  tm_buf_printf(out, ",\"%s\":\"", key);
  for (size_t i = 0; i < n; i++)
    tm_buf_printf(out, "%02x", (unsigned char)p[i]);
  tm_buf_add_char(out, '"');
}

/* Adds where it is in its archive: all of the item, so that it can become an input again. */
static void add_entry(struct tm_buf *out, const struct tm_item *item)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_item_add(&bytes, item);
  add_hex(out, "entry_hex", bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

/* Adds the end of a line, which is the same for all items that failed for one reason. */
static void add_tail(struct tm_buf *out, const struct tm_failed_try *t)
{
  const char *status = tm_status_name(t->status);

  tm_buf_printf(out, ",\"input\":%" PRIu32 ",\"try\":%" PRIu32, t->dataset, t->try);
  add_string(out, "status", status, strlen(status));
  add_string(out, "error", t->message, t->message_len);
  if (t->where && *t->where)
    add_string(out, "where", t->where, strlen(t->where));
  if (t->names)
    add_string(out, "names", t->names, strlen(t->names));
  add_string(out, "log", t->log, strlen(t->log));
  tm_buf_add_str(out, "}\n");
}

static void add_shared_tail(struct tm_buf *out, const struct tm_failed_try *t)
{
  struct tm_failed_tail *tail = t->tail;

  if (tail->text.len == 0 || tail->message != t->message || tail->message_len != t->message_len) {
    tm_buf_clear(&tail->text);
    add_tail(&tail->text, t);
    tail->message = t->message;
    tail->message_len = t->message_len;
  }
  tm_buf_add(out, tail->text.data, tail->text.len);
}

static void add_keys(struct tm_buf *out, const struct tm_item *item)
{
  struct tm_buf keys = TM_BUF_NONE;
  tm_item_describe(&keys, item);
  tm_buf_add_str(out, ",\"keys\":");
  tm_json_write_string(out, tm_buf_str(&keys), keys.len);
  tm_buf_release(&keys);
}

static void add_cause(const struct tm_failed_try *t, const struct tm_item *item)
{
  struct tm_buf keys = TM_BUF_NONE;
  bool has_keys = item->keys && tm_item_describe(&keys, item);
  tm_causes_add(t->causes, t->message, t->message_len, has_keys ? tm_buf_str(&keys) : item->path,
                has_keys ? keys.len : item->path_len,
                item->is_rows && item->rows > 0 ? item->rows : 1, NULL);
  tm_buf_release(&keys);
}

void tm_failed_lines_item(struct tm_buf *out, const struct tm_failed_try *t,
                          const struct tm_item *item)
{
  tm_buf_add_str(out, "{\"mini_batch\":");
  tm_buf_add_int(out, (int64_t)t->index);
  tm_buf_add_str(out, ",\"item\":");
  tm_json_write_string(out, item->path, item->path_len);
  if (!is_utf8(item->path, item->path_len))
    add_hex(out, "item_hex", item->path, item->path_len);
  if (item->is_entry)
    add_entry(out, item);
  if (item->keys)
    add_keys(out, item);
  if (item->is_rows)
    tm_buf_printf(out, ",\"begin\":%" PRId64 ",\"end\":%" PRId64, item->begin, item->end);
  if (item->is_rows && item->first_row >= 0)
    tm_buf_printf(out, ",\"row\":%" PRId64, item->first_row);
  if (item->is_rows && t->number > 0)
    tm_buf_printf(out, ",\"number\":%" PRIu32, t->number);
  if (item->is_rows && item->rows >= 0)
    tm_buf_printf(out, ",\"rows\":%" PRId64, item->rows);
  else if (item->is_rows && t->is_uncounted)
    tm_buf_add_str(out, ",\"rows\":null");
  if (t->tail)
    add_shared_tail(out, t);
  else
    add_tail(out, t);
  if (t->causes)
    add_cause(t, item);
}

/* Adds one line for all rows of a range. */
static void add_rows(struct tm_buf *out, const struct tm_failed_try *t, struct tm_item item,
                     uint32_t first, uint32_t count)
{
  struct tm_failed_try rows = *t;

  rows.number = first + 1;
  item.first_row = t->has_gaps ? -1 : tm_item_row(&item, first) - 1;
  item.rows = count;
  tm_failed_lines_item(out, &rows, &item);
}

/* An item with a fault has failed because of it, whatever happened to the other items. */
static void add_item(struct tm_buf *out, const struct tm_failed_try *t, const struct tm_item *item)
{
  struct tm_failed_try own = *t;

  if (item->fault_len > 0) {
    own.message = item->fault;
    own.message_len = item->fault_len;
    own.where = own.names = NULL;
  }
  tm_failed_lines_item(out, &own, item);
}

void tm_failed_lines_part(struct tm_buf *out, const struct tm_failed_try *t,
                          const struct tm_manifest_entry *entry, uint32_t first, uint32_t count)
{
  struct tm_reader r;
  struct tm_item item;

  tm_reader_init(&r, entry->bytes, entry->len);
  for (uint32_t i = 0; count > 0 && tm_item_next(&r, &item); i++) {
    if (item.is_rows) {
      add_rows(out, t, item, first, count);
      return;
    }
    if (i >= first) {
      add_item(out, t, &item);
      count--;
    }
  }
}

static int by_number(const void *left, const void *right)
{
  const struct tm_mark *a = left, *b = right;

  return (a->number > b->number) - (a->number < b->number);
}

bool tm_failed_lines_read_marks(struct tm_marks *out, struct tm_reader r, uint32_t items)
{
  struct tm_mark mark;

  *out = (struct tm_marks) { .len = 0 };
  while (tm_mark_next(&r, &mark))
    *TM_ARRAY_ADD(out) = mark;
  if (out->len > 0)
    qsort(out->at, out->len, sizeof(*out->at), by_number);
  for (size_t i = 0; i < out->len && !r.bad; i++)
    r.bad = out->at[i].number < 1 || out->at[i].number > items ||
            (i > 0 && out->at[i].number == out->at[i - 1].number);
  return !r.bad;
}

void tm_failed_lines_marks(struct tm_buf *out, const struct tm_failed_try *t,
                           const struct tm_manifest_entry *entry, uint32_t first,
                           const struct tm_marks *marks)
{
  struct tm_failed_tail tail = { .message = NULL };
  struct tm_failed_try mark = *t;
  struct tm_reader r;
  struct tm_item item = { .is_rows = false };
  bool has_item = true;
  uint32_t read = 0;

  mark.tail = &tail;
  tm_reader_init(&r, entry->bytes, entry->len);
  for (size_t i = 0; i < marks->len; i++) {
    uint32_t number = marks->at[i].number;
    /* a range has one item for all its rows */
    for (; has_item && read < number && !item.is_rows; read++)
      has_item = tm_item_next(&r, &item);
    if (!has_item)
      break;
    mark.message = marks->at[i].words;
    mark.message_len = marks->at[i].len;
    if (item.is_rows)
      add_rows(out, &mark, item, first + number - 1, 1);
    else
      tm_failed_lines_item(out, &mark, &item);
  }
  tm_buf_release(&tail.text);
}

void tm_failed_lines_all(struct tm_buf *out, const struct tm_failed_try *t,
                         const struct tm_manifest_entry *entry)
{
  struct tm_failed_tail tail = { .message = NULL };
  struct tm_failed_try all = *t;
  struct tm_reader r;
  struct tm_item item;

  all.tail = &tail;
  tm_reader_init(&r, entry->bytes, entry->len);
  while (tm_item_next(&r, &item))
    add_item(out, &all, &item);
  tm_buf_release(&tail.text);
}

void tm_failed_lines_short(struct tm_buf *out, const struct tm_failed_try *t, uint32_t items,
                           uint32_t marked, uint32_t returned)
{
  uint32_t good = items - marked;
  char detail[96];

  if (returned >= good)
    return;
  tm_buf_printf(out,
                "{\"mini_batch\":%" PRIu64 ",\"item\":null,\"count\":%" PRIu32
                ",\"returned\":%" PRIu32 ",\"items\":%" PRIu32,
                t->index, good - returned, returned, items);
  if (marked > 0)
    tm_buf_printf(out, ",\"marked\":%" PRIu32, marked);
  tm_buf_printf(out, ",\"input\":%" PRIu32, t->dataset);
  add_string(out, "error", TM_SHORT_RETURN, strlen(TM_SHORT_RETURN));
  tm_buf_add_str(out, "}\n");
  if (!t->causes)
    return;
  snprintf(detail, sizeof(detail), "%" PRIu32 " %s for %" PRIu32 " %s%s", returned,
           tm_text_counted(returned, "element", "elements"), good,
           tm_text_counted(good, "item", "items"), marked > 0 ? " that are not marked" : "");
  tm_causes_add(t->causes, TM_SHORT_RETURN, strlen(TM_SHORT_RETURN), NULL, 0, good - returned,
                detail);
}
