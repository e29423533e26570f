/* table_folders.c - see table_folders.h.
 *
 *   row sorter -> rows of one folder -> frame (about PIECE bytes) -> text -> its file
 *
 * Memory holds the rows of one frame, and its text.
 */
#include "data/table/table_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "data/files/partition.h"
#include "data/frame/frame_text.h"
#include "data/frame/row_code.h"
#include "data/key.h"

#define PIECE          ((size_t)1 << 20) /* bytes of rows that are written at once */
#define NAME_MAX_BYTES 255

struct writer {
  const struct tm_fs *fs;
  const char *dir;
  const struct tm_schema *schema; /* of the rows, including columns of keys */
  const char **names;             /* of all columns */
  size_t *rest;                   /* numbers of the columns that are not keys */
  size_t rest_len;
  const struct tm_column **columns; /* of a frame: those in `rest` */
  struct tm_arena arena;
  struct tm_frame_builder builder;
  size_t pending; /* bytes of rows in the builder */
  struct tm_buf header, path, text;
  int fd;
  int64_t at; /* in the file */
  struct tm_table_folders *out;
};

/* The columns ---------------------------------------------------------------------------------- */

static bool is_key(char *const *keys, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(keys[i], name) == 0)
      return true;
  return false;
}

static int begin(struct writer *w, char *const *keys, size_t n, struct tm_err *err)
{
  const struct tm_schema *s = w->schema;
  struct tm_buf names = TM_BUF_NONE;
  w->names = tm_xcalloc(s->len, sizeof(*w->names));
  w->rest = tm_xcalloc(s->len, sizeof(*w->rest));
  w->columns = tm_xcalloc(s->len, sizeof(*w->columns));
  for (size_t i = 0; i < s->len; i++) {
    w->names[i] = s->columns[i].name;
    if (is_key(keys, n, w->names[i]))
      continue;
    w->rest[w->rest_len++] = i;
    w->out->has_line_breaks |= strchr(w->names[i], '\n') != NULL;
    tm_buf_add_bytes32(&names, w->names[i], strlen(w->names[i]));
  }
  tm_frame_add_header(&w->header, tm_buf_str(&names), names.len, ',');
  tm_buf_release(&names);
  tm_schema_begin_frame(s, &w->builder, &w->arena);
  return w->rest_len > 0 ? 0
                         : tm_err_set(err, TM_EINPUT,
                                      "every column is a key: none is left for the files; leave "
                                      "one out of the keys");
}

static void release(struct writer *w)
{
  tm_fs_close(w->fs, w->fd);
  tm_arena_release(&w->arena);
  tm_buf_release(&w->header);
  tm_buf_release(&w->path);
  tm_buf_release(&w->text);
  free(w->names);
  free(w->rest);
  free(w->columns);
}

/* Rows ----------------------------------------------------------------------------------------- */

static bool has_line_break(const struct tm_column *c)
{
  if (c->type != TM_COLUMN_STRING || c->len == 0 || c->bytes == NULL)
    return false;
  int64_t from = c->is_wide ? c->off64[0] : c->off32[0],
          to = c->is_wide ? c->off64[c->len] : c->off32[c->len];
  return to > from && memchr(c->bytes + from, '\n', (size_t)(to - from)) != NULL;
}

/* A null in the only field of a row is written as "", which reads back as null only if the column
 * does not hold strings. */
static int check_nulls(const struct writer *w, struct tm_err *err)
{
  const struct tm_column *c = w->columns[0];
  if (w->rest_len > 1 || c->type != TM_COLUMN_STRING)
    return 0;
  for (int64_t row = 0; row < c->len; row++)
    if (tm_column_is_null(c, row))
      return tm_err_set(err, TM_EINPUT,
                        "column '%s' is the only one that is not a key, and has a null, which a "
                        "delimited file of one column of strings cannot hold; keep another column",
                        w->names[w->rest[0]]);
  return 0;
}

static int write_rows(struct writer *w, struct tm_err *err)
{
  struct tm_data_frame frame;
  tm_frame_builder_end(&w->builder, &frame);
  for (size_t i = 0; i < w->rest_len; i++) {
    w->columns[i] = &frame.columns[w->rest[i]];
    w->out->has_line_breaks |= has_line_break(w->columns[i]);
  }
  int rc = check_nulls(w, err);
  if (rc == 0) {
    tm_frame_add_rows(&w->text, w->columns, w->rest_len, frame.len, ',', false);
    rc = tm_fs_write_at(w->fs, w->fd, w->path.data, tm_buf_str(&w->text), w->text.len, w->at, err);
  }
  w->at += (int64_t)w->text.len;
  w->out->rows += frame.len;
  w->pending = 0;
  tm_buf_clear(&w->text);
  tm_arena_clear(&w->arena);
  tm_schema_begin_frame(w->schema, &w->builder, &w->arena);
  return rc;
}

static int add_row(struct writer *w, const struct tm_sorted_row *row, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, row->row, row->row_len);
  if (!tm_row_decode(&r, &w->builder))
    return tm_err_set(err, TM_EDAMAGE, "a row that was sorted cannot be read back");
  w->pending += row->row_len;
  return w->pending >= PIECE ? write_rows(w, err) : 0;
}

/* Folders -------------------------------------------------------------------------------------- */

/* Writes a datetime in full where key.h would write a number. */
static void add_value(struct tm_buf *out, struct tm_key *key)
{
  struct tm_column c = { .type = TM_COLUMN_DATETIME, .len = 1, .i64 = &key->integer };
  if (key->type == TM_KEY_STRING)
    tm_buf_add(out, key->string.at, key->string.len);
  else if (key->type == TM_KEY_DATETIME &&
           (key->integer > INT64_MAX / 1000 || key->integer < INT64_MIN / 1000))
    tm_frame_add_value(out, &c, 0);
  else
    tm_key_describe(out, key);
}

static int add_folder(struct writer *w, struct tm_key *key, struct tm_err *err)
{
  struct tm_buf value = TM_BUF_NONE;
  int rc = 0;
  add_value(&value, key);
  tm_buf_add_char(&w->path, '/');
  size_t begin = w->path.len;
  bool has_nul = value.len > 0 && memchr(value.data, 0, value.len) != NULL;
  tm_partition_add_name(&w->path, key->type == TM_KEY_NULL ? NULL : tm_buf_str(&value), value.len);
  if (has_nul || w->path.len - begin > NAME_MAX_BYTES)
    rc = tm_err_set(err, TM_EINPUT,
                    "a value of '%.*s' %s: no folder can be called so; partition by another column",
                    (int)key->name_len, key->name,
                    has_nul ? "has a NUL byte" : "is longer than a name of 255 bytes");
  if (rc == 0 && (rc = w->fs->mkdir(w->fs->self, w->path.data, 0777)) < 0)
    rc = rc == -EEXIST ? 0 : tm_err_system(err, rc, "cannot make the folder '%s'", w->path.data);
  tm_buf_release(&value);
  return rc;
}

static int end_file(struct writer *w, struct tm_err *err)
{
  if (w->fd < 0)
    return 0;
  int rc = write_rows(w, err);
  size_t above = strlen(w->dir) + 1;
  tm_table_folders_note(w->out, w->path.data + above, w->path.len - above, w->at);
  tm_fs_close(w->fs, w->fd);
  w->fd = -1;
  return rc;
}

static int begin_file(struct writer *w, const struct tm_sorted_row *row, struct tm_err *err)
{
  struct tm_reader r;
  struct tm_key key;
  int rc = end_file(w, err);
  tm_buf_clear(&w->path);
  tm_buf_add_str(&w->path, w->dir);
  if (rc == 0 && tm_keys_find(row->keys, row->keys_len, &r))
    while (rc == 0 && tm_key_next(&r, &key))
      rc = add_folder(w, &key, err);
  if (rc < 0)
    return rc;
  tm_buf_add_str(&w->path, "/" TM_TABLE_FOLDERS_FILE);
  w->fd = tm_fs_open(w->fs, w->path.data, O_WRONLY | O_CREAT | O_EXCL, 0666, err);
  w->at = 0;
  tm_buf_add(&w->text, w->header.data, w->header.len);
  return w->fd < 0 ? w->fd : 0;
}

void tm_table_folders_note(struct tm_table_folders *t, const char *below, size_t n, int64_t size)
{
  t->files++;
  t->bytes += size;
  t->names += tm_hash64_seed(below, n, (uint64_t)size);
}

int tm_table_folders_write(const struct tm_fs *fs, const char *dir, struct tm_row_sorter *sorter,
                           char *const *keys, size_t n, struct tm_table_folders *out,
                           struct tm_err *err)
{
  struct writer w = { .fs = fs, .dir = dir, .fd = -1, .out = out };
  struct tm_sorted_row row;
  *out = (struct tm_table_folders) { 0 };
  w.schema = tm_row_sorter_columns(sorter);
  int rc = begin(&w, keys, n, err);
  while (rc == 0 && (rc = tm_row_sorter_next(sorter, &row, err)) > 0) {
    rc = row.is_first ? begin_file(&w, &row, err) : 0;
    if (rc == 0)
      rc = add_row(&w, &row, err);
  }
  if (rc == 0)
    rc = end_file(&w, err);
  release(&w);
  return rc;
}
