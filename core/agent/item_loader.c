/* item_loader.c - see item_loader.h. */
#include "agent/item_loader.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"

#define ITEM_MAX 1000 /* bytes */

bool tm_items_check(const struct tm_run_call *call, bool *has_rows, bool *has_entries)
{
  struct tm_reader r;
  struct tm_item item;
  uint32_t n = 0;
  *has_rows = *has_entries = false;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  for (; tm_item_next(&r, &item); n++) {
    *has_rows = *has_rows || item.is_rows;
    *has_entries = *has_entries || item.is_entry;
  }
  return !r.bad && r.at == r.end && (*has_rows || n == call->items);
}

static const char *given(const char *path)
{
  return path && *path ? path : NULL;
}

void tm_items_open_tables(struct tm_item_loader *b, const struct tm_setup *s)
{
  tm_require(s->tables);
  if (b->tables)
    return;
  b->tables = tm_table_loader_new(tm_fs_real(), s->tables, s->schema_file, given(s->index_dir));
  tm_table_loader_wait(b->tables, s->patience_ns);
  if (s->sizes_alone)
    tm_table_loader_compare_sizes(b->tables);
}

int tm_items_load_rows(struct tm_item_loader *b, struct tm_run_call *call, struct tm_err *err)
{
  struct tm_reader r;
  struct tm_rows_part part = { .first = (int64_t)(call->part >> 32),
                               .count = (uint32_t)call->part };
  int rc = tm_table_load(b->tables, call->dataset_number, call->bytes, call->bytes_len, part,
                         &b->frame, err);
  if (rc == TM_EDAMAGE && !tm_table_loader_has_bad_state(b->tables))
    rc = err->code = TM_EINPUT; /* the user's file is damaged, not the job */
  if (rc < 0)
    return rc;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  tm_item_next(&r, &b->range);
  call->frame = &b->frame;
  call->range = b->range.is_group ? NULL : &b->range;
  call->first_row = b->range.first_row < 0 ? -1 : b->range.first_row + b->range.from + part.first;
  call->items = (uint32_t)b->frame.len;
  return 0;
}

void tm_items_add_row(struct tm_buf *out, const struct tm_item_loader *b,
                      const struct tm_run_call *call)
{
  int64_t first = (int64_t)(call->part >> 32), row = 0;
  struct tm_buf name = TM_BUF_NONE;
  struct tm_item item;
  struct tm_reader r;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  if ((uint32_t)call->part != 1 || !tm_item_next(&r, &item) || !item.is_rows)
    return;
  if (!tm_table_loader_leaves_out(b->tables, call->dataset_number))
    row = tm_item_row(&item, first);
  tm_item_describe(&name, &item);
  tm_text_one_line(out, tm_buf_str(&name), name.len, ITEM_MAX);
  tm_buf_add_str(out, ", row ");
  tm_text_count(out, row > 0 ? row : first + 1, row > 0 ? "" : " of the mini-batch");
  tm_buf_release(&name);
}

int tm_items_load_entries(struct tm_item_loader *b, const struct tm_setup *s,
                          struct tm_run_call *call, struct tm_err *err)
{
  struct tm_entry_items files;
  if (!b->entries) {
    char *scratch = tm_path_join(s->temp_dir, "entries");
    b->entries =
        tm_entry_loader_new(tm_fs_real(), scratch, given(s->memory_dir), given(s->index_dir));
    if (s->sizes_alone)
      tm_entry_loader_compare_sizes(b->entries);
    free(scratch);
  }
  int rc =
      tm_entry_load(b->entries, call->bytes, call->bytes_len, &files, &call->extras->marks, err);
  if (rc < 0)
    return rc;
  call->listed = call->bytes;
  call->listed_len = call->bytes_len;
  call->bytes = files.bytes;
  call->bytes_len = files.bytes_len;
  call->items = files.items;
  call->numbers = files.numbers;
  call->entries = tm_entry_loader_entries(b->entries);
  return 0;
}

bool tm_items_are_none(const struct tm_run_call *call)
{
  return (call->frame || call->entries) && call->items == 0;
}

void tm_item_loader_clear(struct tm_item_loader *b)
{
  if (b->entries)
    tm_entry_loader_clear(b->entries);
}

void tm_item_loader_release(struct tm_item_loader *b)
{
  tm_table_loader_free(b->tables);
  tm_entry_loader_free(b->entries);
  *b = (struct tm_item_loader) { 0 };
}
