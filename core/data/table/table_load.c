/* table_load.c - see table_load.h.
 *
 *   mini-batch -> range -> stream of its file (reused if the next range is of the same file)
 *              -> reader of its input -> frame in the arena
 *
 * A database has a connection and a query instead of stream and reader.
 */
#include "data/table/table_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "data/files/partition.h"
#include "data/frame/fault_list.h"
#include "data/item.h"
#include "data/item_check.h"
#include "data/rows/open.h"
#include "data/rows/reader.h"
#include "data/rows/scan.h"
#include "data/sql/query.h"
#include "data/table/table.h"
#include "data/table/table_groups.h"
#include "sys/clock.h"

#define AGAIN_NS    (50 * TM_MS)
#define COUNT_PIECE ((int64_t)1 << 20) /* bytes */
#define COUNT_MAX   ((int64_t)1 << 30) /* bytes of a mini-batch that may be counted */

struct input {
  struct tm_dataset *dataset; /* NULL: not a table */
  struct tm_partition *partition;
  struct tm_rows_reader *reader;
};

struct tm_table_loader {
  const struct tm_fs *fs;
  char *tables, *schema_file, *index_dir;
  bool is_open, has_bad_state, sizes_alone;
  int64_t patience_ns;
  size_t max_bytes; /* of the rows of one query; 0: no limit */
  const struct tm_stop *stop;
  struct tm_schemas schemas;
  struct input *inputs;
  size_t len;
  struct tm_arena arena;
  struct tm_buf path; /* of the stream */
  struct tm_stream *stream;
  struct tm_sql_source sql; /* of a database; its path is `path` */
  struct tm_row_counts sql_counts;
  struct tm_item item; /* loaded last */
  struct input *last;  /* and its input */
  const char **values; /* of the columns that are the same for a whole file; in the arena */
};

struct tm_table_loader *tm_table_loader_new(const struct tm_fs *fs, const char *tables,
                                            const char *schema_file, const char *index_dir)
{
  struct tm_table_loader *l = TM_NEW(struct tm_table_loader);
  l->fs = fs;
  l->tables = tm_xstrdup(tables);
  l->schema_file = tm_xstrdup(schema_file);
  l->index_dir = tm_xstrdup(index_dir);
  return l;
}

void tm_table_loader_compare_sizes(struct tm_table_loader *l)
{
  l->sizes_alone = true;
}

void tm_table_loader_wait(struct tm_table_loader *l, int64_t patience_ns)
{
  l->patience_ns = patience_ns;
}

void tm_table_loader_free(struct tm_table_loader *l)
{
  if (!l)
    return;
  for (size_t i = 0; i < l->len; i++) {
    tm_rows_reader_free(l->inputs[i].reader);
    tm_partition_free(l->inputs[i].partition);
    tm_dataset_free(l->inputs[i].dataset);
  }
  free(l->inputs);
  tm_schemas_release(&l->schemas);
  tm_stream_close(l->stream);
  tm_sql_source_close(&l->sql);
  tm_arena_release(&l->arena);
  tm_buf_release(&l->path);
  free(l->tables);
  free(l->schema_file);
  free(l->index_dir);
  free(l);
}

void tm_table_loader_bound(struct tm_table_loader *l, size_t max_bytes, const struct tm_stop *stop)
{
  l->max_bytes = max_bytes;
  l->stop = stop;
}

bool tm_table_loader_has_bad_state(const struct tm_table_loader *l)
{
  return l && l->has_bad_state;
}

bool tm_table_loader_leaves_out(const struct tm_table_loader *l, uint32_t dataset)
{
  const struct tm_dataset *d = l && dataset < l->len ? l->inputs[dataset].dataset : NULL;
  return !d || tm_table_ops_leave_out(&d->table->ops);
}

static bool is_bad_state(int rc)
{
  return rc == TM_EDAMAGE || rc == TM_EVERSION || rc == -ENOENT;
}

/* Notes a bad result of reading a file that the job itself has written. */
static int note_state(struct tm_table_loader *l, int rc)
{
  l->has_bad_state = l->has_bad_state || is_bad_state(rc);
  return rc;
}

/* Whether to read such a file again after a pause: it may not be there yet. */
static bool may_come(int rc, int64_t until_ns)
{
  if (!is_bad_state(rc) || tm_clock_mono_ns() >= until_ns)
    return false;
  tm_clock_pause(AGAIN_NS);
  return true;
}

/* Opening -------------------------------------------------------------------------------------- */

static int open_input(struct tm_table_loader *l, size_t i, const struct tm_json *v,
                      struct tm_err *err)
{
  struct input *in = &l->inputs[i];
  if (v->type == TM_JSON_NULL)
    return 0;
  in->dataset = tm_dataset_from_json(v, err);
  if (!in->dataset)
    return err->code;
  if (in->dataset->partition_format) {
    in->partition = tm_partition_new(in->dataset->partition_format, err);
    if (!in->partition)
      return err->code;
  }
  return 0;
}

static int open_all(struct tm_table_loader *l, struct tm_err *err)
{
  struct tm_json *v = tm_json_parse(l->tables, strlen(l->tables), err);
  int rc = v && v->type == TM_JSON_ARRAY
               ? 0
               : tm_err_set(err, TM_EPROTOCOL, "the definitions of the tables cannot be read");
  if (rc == 0) {
    l->len = v->list.len;
    l->inputs = tm_xcalloc(l->len, sizeof(*l->inputs));
    tm_schemas_init(&l->schemas, l->len);
  }
  for (size_t i = 0; rc == 0 && i < l->len; i++)
    rc = open_input(l, i, v->list.at[i], err);
  tm_json_free(v);
  l->is_open = rc == 0;
  return rc;
}

static void drop_readers(struct tm_table_loader *l)
{
  for (size_t i = 0; i < l->len; i++) {
    tm_rows_reader_free(l->inputs[i].reader);
    l->inputs[i].reader = NULL;
  }
}

int tm_table_loader_use(struct tm_table_loader *l, const struct tm_schemas *schemas,
                        struct tm_err *err)
{
  int rc = l->is_open ? 0 : open_all(l, err);
  if (rc < 0)
    return rc;
  drop_readers(l); /* they hold their schemas */
  tm_schemas_release(&l->schemas);
  tm_schemas_copy(&l->schemas, schemas);
  return 0;
}

/* Only JSON lines may have no known column; any other table has some before its first range. */
static int refuse_no_columns(struct tm_table_loader *l, uint32_t dataset, struct tm_err *err)
{
  if (l->inputs[dataset].dataset->kind == TM_DATASET_JSON_LINES)
    return tm_err_set(err, TM_EDAMAGE,
                      "'%s': no column is known: none of the first lines is a JSON object with a "
                      "key, as {\"id\": 1}; is it a file of JSON lines? jq -c '.[]' makes one "
                      "of a JSON array",
                      l->inputs[dataset].dataset->paths[0]);
  l->has_bad_state = l->has_bad_state || l->schema_file;
  return tm_err_set(err, TM_EDAMAGE, "'%s' has no schema of input %" PRIu32,
                    l->schema_file ? l->schema_file : "the job", dataset + 1);
}

/* An old file has schemas of other inputs only. One of JSON lines may be empty. */
static bool lacks_schema(const struct tm_table_loader *l, uint32_t dataset)
{
  return l->schemas.at[dataset].len == 0 &&
         l->inputs[dataset].dataset->kind != TM_DATASET_JSON_LINES;
}

static int read_schemas(struct tm_table_loader *l, uint32_t dataset, struct tm_err *err)
{
  int64_t until_ns = tm_clock_mono_ns() + l->patience_ns;
  int rc;

  drop_readers(l);
  if (!l->schema_file)
    return 0;
  do
    rc = tm_schemas_read(&l->schemas, l->fs, l->schema_file, err);
  while (may_come(rc == 0 && lacks_schema(l, dataset) ? TM_EDAMAGE : rc, until_ns));
  return note_state(l, rc);
}

static int load_groups(struct tm_table_loader *l, const struct tm_item *item,
                       struct tm_data_frame *out, struct tm_err *err)
{
  int64_t until_ns = tm_clock_mono_ns() + l->patience_ns;
  int rc;

  do
    rc = tm_table_groups_load(l->fs, item, &l->arena, out, err);
  while (may_come(rc, until_ns));
  return note_state(l, rc);
}

/* The reader of an input, whose schema may have been found after those of others. */
static int find_reader(struct tm_table_loader *l, uint32_t dataset, struct input **out,
                       struct tm_err *err)
{
  int rc = l->is_open ? 0 : open_all(l, err);
  if (rc < 0)
    return rc;
  if (dataset >= l->len || !l->inputs[dataset].dataset || !l->inputs[dataset].dataset->table)
    return tm_err_set(err, TM_EPROTOCOL, "input %" PRIu32 " is not a table", dataset + 1);
  *out = &l->inputs[dataset];
  if ((*out)->reader)
    return 0;
  if (l->schemas.at[dataset].len == 0)
    rc = read_schemas(l, dataset, err);
  if (rc == 0 && l->schemas.at[dataset].len == 0)
    rc = refuse_no_columns(l, dataset, err);
  if (rc < 0)
    return rc;
  tm_table_ops_mark(&(*out)->dataset->table->ops, &l->schemas.at[dataset]);
  (*out)->reader = tm_rows_reader_new(&(*out)->dataset->table->rows, &l->schemas.at[dataset]);
  return 0;
}

/* Files ---------------------------------------------------------------------------------------- */

static bool is_at_hand(const struct tm_table_loader *l, const struct tm_item *item)
{
  return l->stream && l->path.len == item->path_len &&
         memcmp(l->path.data, item->path, item->path_len) == 0 && l->item.size == item->size &&
         l->item.mtime_ns == item->mtime_ns;
}

/* Opens the file as it is now; callers check whether it has changed since the listing. */
static int open_path(struct tm_table_loader *l, const struct tm_item *item, struct tm_err *err)
{
  struct tm_rows_pack pack = { .index_dir = l->index_dir,
                               .listed_ns = l->sizes_alone ? item->mtime_ns : 0 };
  tm_stream_close(l->stream);
  tm_buf_clear(&l->path);
  tm_buf_add(&l->path, item->path, item->path_len);
  l->stream = tm_rows_open(l->fs, l->path.data, &pack, false, err);
  return l->stream ? 0 : err->code;
}

static int open_stream(struct tm_table_loader *l, const struct tm_item *item, struct tm_err *err)
{
  int rc = tm_item_check(l->fs, item, l->sizes_alone, err);
  return rc < 0 || is_at_hand(l, item) ? rc : open_path(l, item, err);
}

/* Values of columns ---------------------------------------------------------------------------- */

static const char *keep_text(struct tm_arena *arena, const char *p, size_t n)
{
  char *to = tm_arena_take(arena, n + 1);
  memcpy(to, p, n);
  to[n] = 0;
  return to;
}

static int add_key_values(struct tm_table_loader *l, const struct input *in,
                          const struct tm_schema *s, struct tm_err *err)
{
  struct tm_key keys[TM_PARTITION_KEYS_MAX];
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_partition_match(in->partition, l->path.data, l->path.len, keys, err);
  for (size_t i = 0; rc == 0 && i < tm_partition_len(in->partition); i++) {
    long column = tm_schema_find(s, keys[i].name, keys[i].name_len);
    tm_buf_clear(&text);
    if (keys[i].type == TM_KEY_STRING)
      tm_buf_add(&text, keys[i].string.at, keys[i].string.len);
    else if (keys[i].type != TM_KEY_NULL)
      tm_key_describe(&text, &keys[i]);
    if (column >= 0 && s->columns[column].of_file && keys[i].type != TM_KEY_NULL)
      l->values[column] = keep_text(&l->arena, tm_buf_str(&text), text.len);
  }
  tm_buf_release(&text);
  return rc;
}

/* The values of the columns that are the same for the whole current file. */
static int find_values(struct tm_table_loader *l, const struct input *in, const struct tm_schema *s,
                       struct tm_err *err)
{
  size_t bytes = (s->len + 1) * sizeof(*l->values);
  l->values = tm_arena_take(&l->arena, bytes);
  memset(l->values, 0, bytes);
  if (in->partition && add_key_values(l, in, s, err) < 0)
    return err->code;
  if (in->dataset->table->has_path && s->len > 0 && s->columns[s->len - 1].of_file)
    l->values[s->len - 1] = keep_text(&l->arena, l->path.data, l->path.len);
  return 0;
}

/* Loading -------------------------------------------------------------------------------------- */

/* A run of consecutive rows of the frame. */
static void take_rows(struct tm_table_loader *l, struct tm_data_frame *f, int64_t first,
                      int64_t count)
{
  int32_t *rows = tm_arena_take(&l->arena, (size_t)count * sizeof(*rows) + 1);
  for (int64_t i = 0; i < count; i++)
    rows[i] = (int32_t)(first + i);
  tm_frame_take(&l->arena, f, rows, count);
}

/* Applies skip and take. */
static void take_window(struct tm_table_loader *l, const struct tm_item *item,
                        struct tm_data_frame *f)
{
  int64_t first = item->from < f->len ? item->from : f->len, count = f->len - first;
  if (item->rows >= 0 && item->rows < count)
    count = item->rows;
  if (count < f->len)
    take_rows(l, f, first, count);
}

/* Keeps the connection if the next range is of the same database and input. */
static int open_source(struct tm_table_loader *l, const struct input *in,
                       const struct tm_item *item, struct tm_err *err)
{
  const struct tm_sql_query *q = in->dataset->table->sql;
  int rc = tm_item_check(l->fs, item, l->sizes_alone, err);
  bool is_here = l->sql.query == q && l->path.len == item->path_len &&
                 memcmp(l->path.data, item->path, item->path_len) == 0;
  if (rc < 0 || is_here)
    return rc;
  tm_sql_source_close(&l->sql);
  tm_stream_close(l->stream);
  l->stream = NULL;
  tm_buf_clear(&l->path);
  tm_buf_add(&l->path, item->path, item->path_len);
  rc = tm_sql_source_open(&l->sql, q, l->path.data, err);
  l->sql.max_bytes = l->max_bytes;
  l->sql.stop = l->stop;
  return rc;
}

static int load_keys(struct tm_table_loader *l, struct input *in, const struct tm_item *item,
                     struct tm_data_frame *out, struct tm_err *err)
{
  int rc = open_source(l, in, item, err);
  l->last = rc == 0 ? in : NULL;
  if (rc == 0)
    rc = tm_sql_source_load(&l->sql, item->begin, item->end, &l->schemas.at[in - l->inputs],
                            &l->arena, &l->sql_counts, out, err);
  if (rc < 0)
    return rc;
  take_window(l, item, out);
  return tm_table_ops_apply(&in->dataset->table->ops, &l->arena, out, item->number, err);
}

static int load_range(struct tm_table_loader *l, struct input *in, const struct tm_item *item,
                      struct tm_data_frame *out, struct tm_err *err)
{
  const struct tm_schema *s = &l->schemas.at[in - l->inputs];
  tm_arena_clear(&l->arena);
  l->last = NULL;
  if (item->is_group)
    return load_groups(l, item, out, err);
  if (in->dataset->table->sql)
    return load_keys(l, in, item, out, err);
  int rc = open_stream(l, item, err);
  l->item = *item;
  l->last = in;
  if (rc == 0)
    rc = find_values(l, in, s, err);
  if (rc < 0)
    return rc;
  struct tm_rows_file file = {
    .path = l->path.data, .stream = l->stream, .is_first = item->file == 0, .values = l->values
  };
  struct tm_range range = {
    .begin = item->begin, .end = item->end, .first_row = item->first_row, .rows = item->rows
  };
  rc = tm_rows_reader_read(in->reader, &file, &range, &l->arena, out, err);
  if (rc < 0)
    return rc;
  take_window(l, item, out);
  return tm_table_ops_apply(&in->dataset->table->ops, &l->arena, out, item->number, err);
}

int tm_table_load(struct tm_table_loader *l, uint32_t dataset, const char *bytes, size_t len,
                  struct tm_rows_part part, struct tm_data_frame *out, struct tm_err *err)
{
  struct tm_reader r;
  struct tm_item item;
  struct input *in = NULL;
  tm_reader_init(&r, bytes, len);
  if (tm_item_next(&r, &item) && item.is_entry && item.fault_len > 0)
    return tm_err_set(err, TM_EDAMAGE, "%.*s", (int)item.fault_len, item.fault);
  tm_reader_init(&r, bytes, len);
  int rc = find_reader(l, dataset, &in, err);
  if (rc == 0 && (!tm_item_next(&r, &item) || !item.is_rows || r.at != r.end))
    rc = tm_err_set(err, TM_EDAMAGE,
                    "the mini-batch is not a range of rows; the manifest may be damaged");
  if (rc == 0)
    rc = load_range(l, in, &item, out, err);
  if (rc < 0 || part.count == 0)
    return rc;
  if (part.first < 0 || part.count > out->len - part.first)
    return tm_err_set(err, TM_EDAMAGE,
                      "the mini-batch has %" PRId64 " rows, none from %" PRId64 " to %" PRId64,
                      out->len, part.first + 1, part.first + part.count);
  take_rows(l, out, part.first, part.count);
  return 0;
}

/* Adds the first value that did not fit, with its row in the mini-batch. */
static void add_sql_faults(const struct tm_table_loader *l, struct tm_buf *out)
{
  const struct tm_fault *first = &l->sql_counts.first;
  struct tm_buf words = TM_BUF_NONE;
  if (first->kind == TM_FAULT_NONE)
    return;
  tm_row_counts_words(&words, &l->sql_counts, first->kind);
  tm_buf_printf(&words, "; the first: '%s', row %" PRId64 " of the mini-batch, ", l->path.data,
                first->at + 1);
  tm_fault_words(&words, first, &l->schemas.at[l->last - l->inputs]);
  tm_fault_list_add(out, first->kind, l->sql_counts.faults[first->kind],
                    tm_row_counts_what(&l->sql_counts, first->kind), &words);
  tm_buf_release(&words);
}

void tm_table_load_faults(struct tm_table_loader *l, struct tm_buf *out)
{
  if (l->last && l->last->dataset->table->sql) {
    add_sql_faults(l, out);
    return;
  }
  if (!l->last || !l->last->reader || !l->stream)
    return;
  struct tm_rows_file file = {
    .path = l->path.data, .stream = l->stream, .is_first = l->item.file == 0, .values = NULL
  };
  tm_rows_reader_faults(l->last->reader, &file, out);
}

void tm_table_load_words(struct tm_table_loader *l, struct tm_buf *out)
{
  struct tm_buf list = TM_BUF_NONE;
  tm_table_load_faults(l, &list);
  tm_fault_list_words(out, &list);
  tm_buf_release(&list);
}

/* Counts row ends in the range, and a last row without one; empty lines count. Of UTF-16 it is only
 * known that there is a row. */
static int64_t count_ends(struct tm_table_loader *l, const struct input *in,
                          const struct tm_item *item, struct tm_err *err)
{
  const struct tm_rows_options *rows = &in->dataset->table->rows;
  struct tm_dialect dialect = rows->dialect;
  struct tm_scan scan;
  struct tm_buf piece = TM_BUF_NONE;
  int64_t at = item->begin, got = 1;
  char last = '\n';
  if (rows->dialect.encoding == TM_ENCODING_UTF16)
    return 1;
  dialect.no_quotes = dialect.no_quotes || rows->format == TM_ROWS_JSON_LINES;
  tm_scan_init(&scan, &dialect, TM_SCAN_BEST);
  while (at < item->end && got > 0) {
    size_t n = item->end - at < COUNT_PIECE ? (size_t)(item->end - at) : (size_t)COUNT_PIECE;
    tm_buf_clear(&piece);
    got = l->stream->read(l->stream, tm_buf_extend(&piece, n), n, at, err);
    if (got > 0) {
      tm_scan_rows(&scan, piece.data, (size_t)got, UINT64_MAX);
      last = piece.data[got - 1];
      at += got;
    }
  }
  tm_buf_release(&piece);
  return got < 0 ? got : (int64_t)scan.rows + (last != '\n');
}

/* Opens the file as it is now: the row ends of a changed file are still a good guess. A changed
 * packed file has lost its index and would be unpacked from its beginning each time, so it is not
 * counted. */
static int open_to_count(struct tm_table_loader *l, const struct tm_item *item, struct tm_err *err)
{
  struct tm_err changed = TM_ERR_NONE;
  int check = tm_item_check(l->fs, item, l->sizes_alone, &changed), rc = open_path(l, item, err);
  if (rc == 0 && check < 0 && l->stream->size < 0)
    rc = tm_err_set(err, check, "%s", changed.text);
  return rc;
}

int64_t tm_table_count(struct tm_table_loader *l, uint32_t dataset, const char *bytes, size_t len,
                       struct tm_err *err)
{
  struct tm_reader r;
  struct tm_item item;
  struct input *in = NULL;
  tm_reader_init(&r, bytes, len);
  bool has_item = tm_item_next(&r, &item) && item.is_rows;
  int rc = find_reader(l, dataset, &in, err);
  if (in && has_item && item.rows >= 0 && (item.is_group || in->dataset->table->ops.len == 0))
    return item.rows;
  if (rc < 0)
    return rc;
  if (!has_item || in->dataset->table->sql || item.is_group || item.end - item.begin > COUNT_MAX)
    return tm_err_set(err, TM_ELIMIT, "its rows cannot be counted without loading them");
  l->last = NULL;
  rc = open_to_count(l, &item, err);
  int64_t rows = rc < 0 ? rc : count_ends(l, in, &item, err);
  tm_stream_close(l->stream); /* the file may have changed */
  l->stream = NULL;
  return rows;
}
