/* row_sorter.c - see row_sorter.h.
 *
 *   frames -> {keys in their order, keys and row} -> sorter -> {keys, row}
 */
#include "data/table/row_sorter.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/frame/row_code.h"
#include "data/key.h"
#include "data/stream/sorter.h"

#define MEMORY   ((size_t)32 << 20) /* bytes, for sorting */
#define KEY_MOST (64u << 10)        /* bytes of a value */

struct tm_row_sorter {
  const struct tm_fs *fs;
  char *dir;
  const char *what;
  char *const *keys;
  size_t keys_len;
  struct tm_sorter *sorter;
  struct tm_schema columns;
  struct tm_buf order, record;
  bool has_row; /* a row was returned: `order` is that of the last one */
};

struct tm_row_sorter *tm_row_sorter_new(const struct tm_fs *fs, const char *dir, const char *what,
                                        char *const *keys, size_t n)
{
  tm_require(n > 0);
  struct tm_row_sorter *s = TM_NEW(struct tm_row_sorter);
  s->fs = fs;
  s->dir = tm_xstrdup(dir);
  s->what = what;
  s->keys = keys;
  s->keys_len = n;
  return s;
}

void tm_row_sorter_free(struct tm_row_sorter *s)
{
  if (!s)
    return;
  tm_sorter_free(s->sorter);
  tm_schema_release(&s->columns);
  tm_buf_release(&s->order);
  tm_buf_release(&s->record);
  free(s->dir);
  free(s);
}

const struct tm_schema *tm_row_sorter_columns(const struct tm_row_sorter *s)
{
  return &s->columns;
}

static int refuse_key(const struct tm_row_sorter *s, size_t i, const struct tm_data_frame *f,
                      struct tm_err *err)
{
  const char *nearest = tm_text_nearest(s->keys[i], f->names, f->n);
  return tm_err_set(err, TM_EUSAGE, "%s names '%s', which is not a column of the table%s%s%s",
                    s->what, s->keys[i], nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "");
}

static void begin_rows(struct tm_row_sorter *s, const struct tm_data_frame *f)
{
  tm_require(!s->has_row && s->columns.len == 0);
  s->sorter = tm_sorter_new(s->fs, s->dir, MEMORY);
  for (size_t i = 0; i < f->n; i++) {
    struct tm_schema_column *c = tm_schema_add(&s->columns, f->names[i], strlen(f->names[i]));
    c->type = (enum tm_column_type)f->columns[i].type;
    c->is_date = f->columns[i].is_date;
  }
}

static int add_row(struct tm_row_sorter *s, const struct tm_data_frame *f, int64_t row,
                   const long *columns, struct tm_key *keys, struct tm_err *err)
{
  tm_buf_clear(&s->order);
  tm_buf_clear(&s->record);
  for (size_t i = 0; i < s->keys_len; i++) {
    tm_row_key(&f->columns[columns[i]], row, s->keys[i], &keys[i]);
    if (keys[i].type == TM_KEY_STRING && keys[i].string.len > KEY_MOST)
      return tm_err_set(err, TM_EINPUT, "a value of the partition key '%s' is longer than %u KB",
                        s->keys[i], KEY_MOST >> 10);
    tm_key_add_order(&s->order, &keys[i]);
  }
  tm_keys_add(&s->record, keys, s->keys_len);
  tm_row_encode(&s->record, f, row);
  return tm_sorter_add(s->sorter, s->order.data, s->order.len, s->record.data, s->record.len, err);
}

int tm_row_sorter_add(struct tm_row_sorter *s, const struct tm_data_frame *f, struct tm_err *err)
{
  tm_require(!s->has_row); /* reading has not begun */
  long *columns = tm_xcalloc(s->keys_len, sizeof(*columns));
  struct tm_key *keys = tm_xcalloc(s->keys_len, sizeof(*keys));
  int rc = 0;
  for (size_t i = 0; i < s->keys_len && rc == 0; i++)
    if ((columns[i] = tm_data_frame_find(f, s->keys[i])) < 0)
      rc = refuse_key(s, i, f, err);
  if (rc == 0 && !s->sorter)
    begin_rows(s, f);
  for (int64_t row = 0; row < f->len && rc == 0; row++)
    rc = add_row(s, f, row, columns, keys, err);
  free(columns);
  free(keys);
  return rc;
}

int tm_row_sorter_next(struct tm_row_sorter *s, struct tm_sorted_row *out, struct tm_err *err)
{
  struct tm_sorted record;
  struct tm_reader keys;
  int rc = s->sorter ? tm_sorter_next(s->sorter, &record, err) : 0;
  if (rc <= 0)
    return rc;
  tm_require(tm_keys_find(record.at, record.len, &keys) && keys.end > record.at);
  out->is_first = !s->has_row || record.key_len != s->order.len ||
                  memcmp(record.key, s->order.data, record.key_len) != 0;
  out->keys = record.at;
  out->keys_len = (size_t)(keys.end - record.at);
  out->row = keys.end;
  out->row_len = record.len - out->keys_len;
  if (out->is_first) {
    tm_buf_clear(&s->order);
    tm_buf_add(&s->order, record.key, record.key_len);
  }
  s->has_row = true;
  return 1;
}
