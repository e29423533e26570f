/* table_splitter.c - see table_splitter.h.
 *
 *   file -> its first rows: the schema, once
 *        -> rows/splits.h: ranges, with the header compared -> the part that skip and take leave
 *
 *   database -> sql/query.h: the schema, once; ranges of keys, without those that have no rows
 */
#include "data/table/table_splitter.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/rows/header.h"
#include "data/rows/open.h"
#include "data/rows/splits.h"
#include "data/rows/sample.h"
#include "data/sql/query.h"
#include "data/table/table.h"

#define NAME_SHOWN    60 /* bytes of a column's name in a warning */
#define RENAMED_SHOWN 5  /* columns in a warning */

struct tm_table_splitter {
  struct tm_table_splitter_options o;
  struct tm_rows_pack pack;
  int64_t row, rows_end; /* in the dataset: the next row; the end of the wanted rows */
  uint32_t files;        /* that have begun */
  struct tm_buf path;    /* of the current file */
  struct tm_item file;
  struct tm_splits *ranges;
  bool is_open, has_ranges; /* of the current file: there may be more ranges; there was one */
  bool has_name_warning;    /* duplicate names of columns were reported */
  struct tm_err fault;      /* of the current file, which fails alone */
  struct tm_sql_source sql; /* of the current database */
  int64_t key;              /* the next key of the current database, relative to the first */
};

struct tm_table_splitter *tm_table_splitter_new(const struct tm_table_splitter_options *options)
{
  tm_require(options->dataset->table && options->schema);
  struct tm_table_splitter *c = TM_NEW(struct tm_table_splitter);
  const struct tm_rows_options *rows = &options->dataset->table->rows;
  const struct tm_table_ops *ops = &options->dataset->table->ops;
  int64_t take = ops->take, limit = options->dataset->limit;
  c->o = *options;
  if (limit > 0 && (take < 0 || limit < take))
    take = limit;
  c->rows_end = take < 0 || take > INT64_MAX - ops->skip ? INT64_MAX : ops->skip + take;
  c->o.with_rows |= ops->has_numbers || ops->skip > 0 || take >= 0;
  c->pack.index_dir = options->index_dir;
  c->pack.checks_name = true;
  struct tm_splits_options ranges = {
    .fs = options->fs,
    .rows = rows,
    .pack = &c->pack,
    .schema = options->schema,
    .range_bytes = options->counts_rows ? 1 : options->size,
    .range_rows = options->counts_rows ? options->size : 0,
    .with_rows = c->o.with_rows,
  };
  c->ranges = tm_splits_new(&ranges);
  return c;
}

void tm_table_splitter_free(struct tm_table_splitter *c)
{
  if (!c)
    return;
  tm_splits_free(c->ranges);
  tm_sql_source_close(&c->sql);
  tm_buf_release(&c->path);
  free(c);
}

/* Damage --------------------------------------------------------------------------------------- */

/* Whether only the current file is at fault and nothing else depends on its rows: neither the
 * header of all files (from_first_file) nor the row numbers after it. */
static bool fails_alone(const struct tm_table_splitter *c, int rc)
{
  const struct tm_table *t = c->o.dataset->table;
  bool has_header = t->rows.format == TM_ROWS_DELIMITED &&
                    t->rows.dialect.header == TM_HEADER_FIRST_FILE && c->file.file == 0;
  return rc == TM_EDAMAGE && c->o.fails_alone && !c->has_ranges && !c->o.with_rows && !t->sql &&
         !has_header;
}

/* Damage of a file that does not fail alone is an error of the input, which ends the step.
 * TM_EDAMAGE would say that a file of the job is damaged. */
static int as_input(int rc, struct tm_err *err)
{
  if (rc == TM_EDAMAGE)
    err->code = rc = TM_EINPUT;
  return rc;
}

static void warn(const struct tm_table_splitter *c)
{
  if (!c->o.on_warning)
    return;
  char *text = tm_xprintf("%s; the file is a failed item", c->fault.text);
  c->o.on_warning(c->o.data, text);
  free(text);
}

/* The file itself as an item with a fault, like an archive that cannot be listed. */
static struct tm_item damaged_item(struct tm_table_splitter *c)
{
  struct tm_item item = c->file;
  tm_require(c->fault.code < 0);
  warn(c);
  item.is_entry = true;
  item.archive_len = (uint32_t)c->file.path_len;
  item.fault = c->fault.text;
  item.fault_len = strlen(c->fault.text);
  c->fault.code = 0;
  return item;
}

/* The schema ----------------------------------------------------------------------------------- */

static int add_own(struct tm_schema *s, const char *name, enum tm_column_type type,
                   struct tm_err *err)
{
  if (tm_schema_find(s, name, strlen(name)) >= 0)
    return tm_err_set(err, TM_EINPUT,
                      "column '%s' is in the files and in partition_format; give the key another "
                      "name",
                      name);
  struct tm_schema_column *column = tm_schema_add(s, name, strlen(name));
  tm_schema_set_type(column, type, NULL, 0);
  column->of_file = true;
  return 0;
}

/* Appends the columns whose values are the same for a whole file; then applies the column
 * settings. */
static int add_of_file(struct tm_table_splitter *c, struct tm_err *err)
{
  const struct tm_table *t = c->o.dataset->table;
  const struct tm_partition *p = c->o.partition;
  struct tm_schema *s = c->o.schema;
  for (size_t i = 0; p && i < tm_partition_len(p); i++) {
    enum tm_column_type type =
        tm_partition_type(p, i) == TM_KEY_DATETIME ? TM_COLUMN_DATETIME : TM_COLUMN_STRING;
    if (add_own(s, tm_partition_key(p, i), type, err) < 0)
      return err->code;
  }
  if (t->has_path)
    tm_schema_add(s, "Path", 4)->of_file = true;
  return tm_infer_set(s, t->settings, t->settings_len, err);
}

/* A file that is read in the wrong format gives meaningless columns without any other sign. `name`
 * is the name of the first column. */
static void add_suspicion(struct tm_buf *out, const struct tm_table_splitter *c, const char *name)
{
  char separator = c->o.dataset->table->rows.dialect.separator;
  const char *other = strpbrk(name, separator == ',' ? ";\t|" : ",;\t|");
  char shown[] = { other ? *other : 0, 0, 0 };
  if (shown[0] == '\t')
    memcpy(shown, "\\t", 2);
  if (name[0] == '{') {
    tm_buf_printf(out,
                  "'%s' looks like JSON lines and is read as CSV; from_json_lines_files reads "
                  "it, or --input-format jsonl of map, try and head",
                  c->path.data);
  } else if (c->o.schema->len == 1 && other && *other != separator) {
    tm_buf_printf(out, "'%s' has a single column, '", c->path.data);
    tm_text_one_line(out, name, strlen(name), NAME_SHOWN);
    tm_buf_printf(out, "'; if '%s' separates its fields, set separator = \"%s\"", shown, shown);
  }
}

static void warn_of_format(const struct tm_table_splitter *c)
{
  const struct tm_rows_options *rows = &c->o.dataset->table->rows;
  struct tm_buf text = TM_BUF_NONE;
  if (rows->format != TM_ROWS_DELIMITED || c->o.schema->len == 0 || !c->o.on_warning ||
      !tm_header_is_there(&rows->dialect, true))
    return;
  add_suspicion(&text, c, c->o.schema->columns[0].name);
  if (text.len > 0)
    c->o.on_warning(c->o.data, text.data);
  tm_buf_release(&text);
}

/* A second column of a name gets another one, under which a script has to ask for it. */
static void warn_of_names(struct tm_table_splitter *c, const struct tm_schema *s)
{
  struct tm_buf text = TM_BUF_NONE;
  size_t n = 0;
  for (size_t i = 0; i < s->len; i++) {
    if (!s->columns[i].is_renamed || ++n > RENAMED_SHOWN)
      continue;
    tm_buf_printf(&text, "%s'", text.len > 0 ? ", " : "");
    tm_text_one_line(&text, s->columns[i].name, strlen(s->columns[i].name), NAME_SHOWN);
    tm_buf_add_char(&text, '\'');
  }
  if (n > RENAMED_SHOWN)
    tm_buf_printf(&text, " and %zu more", n - RENAMED_SHOWN);
  if (text.len > 0 && c->o.on_warning && !c->has_name_warning) {
    char *words = tm_xprintf("'%s': several columns of the header have one name; the later ones "
                             "are called %s",
                             c->path.data, text.data);
    c->has_name_warning = true;
    c->o.on_warning(c->o.data, words);
    free(words);
  }
  tm_buf_release(&text);
}

static void set_file(struct tm_table_splitter *c, const struct tm_item *file)
{
  tm_buf_clear(&c->path);
  tm_buf_add(&c->path, file->path, file->path_len);
  c->file = *file;
  c->file.path = c->path.data;
}

/* Infers it from the first rows of the current file. */
static int find_schema(struct tm_table_splitter *c, bool is_first, struct tm_schema *out,
                       struct tm_err *err)
{
  const struct tm_table *t = c->o.dataset->table;
  struct tm_rows_file file = { .path = c->path.data, .is_first = is_first };
  if (t->sql)
    return tm_sql_source_find_schema(&c->sql, t->settings, t->settings_len, out, err);
  file.stream = tm_rows_open(c->o.fs, c->path.data, &c->pack, true, err);
  if (!file.stream)
    return err->code;
  int rc = tm_rows_find_schema(&t->rows, &file, t->infers_types, NULL, 0, out, err);
  tm_stream_close(file.stream);
  if (rc == 0 && t->rows.format == TM_ROWS_DELIMITED)
    warn_of_names(c, out);
  return rc;
}

int tm_table_splitter_look(struct tm_table_splitter *c, const struct tm_item *file,
                           struct tm_err *err)
{
  const struct tm_row_limits *limits = &c->o.dataset->table->rows.dialect.limits;
  struct tm_schema found = { 0 };
  set_file(c, file);
  int rc = find_schema(c, true, &found, err);
  if (fails_alone(c, rc)) /* reported when its turn comes */
    rc = 0;
  else if (rc == 0)
    tm_schema_merge(c->o.schema, &found);
  tm_schema_release(&found);
  if (rc == 0 && c->o.schema->len > tm_max_columns(limits)) {
    tm_refuse_columns(limits, err);
    rc = tm_err_wrap(err, "'%s', with the columns of the files before it", c->path.data);
  }
  return as_input(rc, err);
}

int tm_table_splitter_end_look(struct tm_table_splitter *c, struct tm_err *err)
{
  if (c->o.schema->len == 0)
    return 0;
  warn_of_format(c);
  int rc = add_of_file(c, err);
  return rc < 0 ? rc : tm_table_ops_check(&c->o.dataset->table->ops, c->o.schema, err);
}

/* Files ---------------------------------------------------------------------------------------- */

/* Opens the file, and infers the schema if there is none yet. */
static int begin_file(struct tm_table_splitter *c, struct tm_err *err)
{
  const struct tm_sql_query *sql = c->o.dataset->table->sql;
  int rc = sql ? tm_sql_source_open(&c->sql, sql, c->path.data, err) : 0;
  if (rc == 0 && c->o.schema->len == 0) {
    rc = find_schema(c, c->files == 0, c->o.schema, err);
    if (rc == 0)
      warn_of_format(c);
    if (rc == 0 && c->o.schema->len > 0)
      rc = add_of_file(c, err);
    if (rc == 0 && c->o.schema->len > 0)
      rc = tm_table_ops_check(&c->o.dataset->table->ops, c->o.schema, err);
  }
  return rc == 0 && !sql ? tm_splits_begin(c->ranges, c->path.data, c->files, err) : rc;
}

int tm_table_splitter_begin(struct tm_table_splitter *c, const struct tm_item *file,
                            struct tm_err *err)
{
  tm_require(!c->is_open); /* the file before has no more ranges */
  set_file(c, file);
  tm_sql_source_close(&c->sql);
  c->key = 0;
  c->file.file = c->files;
  c->has_ranges = false;
  c->fault = (struct tm_err)TM_ERR_NONE;
  bool had_schema = c->o.schema->len > 0;
  int rc = begin_file(c, &c->fault);
  if (rc < 0 && !had_schema) /* incomplete */
    tm_schema_release(c->o.schema);
  c->is_open = rc == 0;
  if (rc < 0 && !fails_alone(c, rc)) {
    *err = c->fault;
    return as_input(rc, err);
  }
  c->files++;
  return 0;
}

bool tm_table_splitter_is_done(const struct tm_table_splitter *c)
{
  return c->row >= c->rows_end;
}

/* Applies skip and take to a range with a known number of rows; false: nothing is left. */
static bool trim(struct tm_table_splitter *c, struct tm_item *out)
{
  int64_t begin = c->row, skip = c->o.dataset->table->ops.skip;
  if (out->rows < 0)
    return true;
  c->row += out->rows;
  int64_t from = skip > begin ? skip - begin : 0;
  int64_t end = c->rows_end < c->row ? c->rows_end - begin : out->rows;
  out->number = begin + from;
  out->from = from;
  out->rows = end - from;
  return end > from;
}

static void fill_item(struct tm_table_splitter *c, const struct tm_range *range,
                      struct tm_item *out)
{
  *out = c->file;
  out->is_rows = true;
  out->begin = range->begin;
  out->end = range->end;
  out->first_row = c->has_ranges || c->sql.query ? range->first_row : 0;
  out->rows = range->rows;
  out->number = -1;
  c->has_ranges = true;
}

/* The next keys of the database that have rows. 1; 0: none are left. Without a key, the whole
 * result of the query is one range. */
static int next_keys(struct tm_table_splitter *c, struct tm_range_item *out, struct tm_err *err)
{
  const struct tm_sql_query *q = c->sql.query;
  int64_t keys = q->key ? q->end - q->from : 1, rows = 0;
  while (c->key < keys && rows == 0) {
    int64_t begin = c->key, step = q->key && c->o.size < keys - begin ? c->o.size : keys - begin;
    int64_t end = q->key ? begin + step : 0;
    c->key += step;
    rows = tm_sql_source_count(&c->sql, begin, end, c->o.with_rows, err);
    out->range = (struct tm_range) {
      .begin = begin, .end = end, .first_row = -1, .rows = c->o.with_rows ? rows : -1
    };
  }
  return rows < 0 ? (int)rows : rows > 0;
}

static int next_range(struct tm_table_splitter *c, struct tm_range_item *out, struct tm_err *err)
{
  return c->sql.query ? next_keys(c, out, err) : tm_splits_next(c->ranges, out, err);
}

int tm_table_splitter_next(struct tm_table_splitter *c, struct tm_item *out, struct tm_err *err)
{
  struct tm_range_item range;
  int rc = c->fault.code; /* from begin() */
  while (c->is_open && !tm_table_splitter_is_done(c) &&
         (rc = next_range(c, &range, &c->fault)) > 0) {
    fill_item(c, &range.range, out);
    if (trim(c, out))
      return 1;
  }
  c->is_open = false;
  if (rc < 0 && !fails_alone(c, rc))
    *err = c->fault;
  else if (rc < 0)
    *out = damaged_item(c);
  return fails_alone(c, rc) ? 1 : as_input(rc, err);
}
