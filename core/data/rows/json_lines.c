/* json_lines.c - one line at a time: first all of its values as slices, then each column's value.
 *
 *  (1) A line adds a value to every column that is read, or to none: nothing is added before the
 *      whole line has been parsed.
 *  (2) Keys usually come in the order of the line before: key i is first compared with key i of
 *      that line.
 *  (3) At most the limit is held of a line: a longer one is dropped piece by piece up to its line
 *      break.
 */
#include "data/rows/json_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/encoding.h"
#include "data/rows/json_scan.h"
#include "data/rows/value.h"

#define KEYS_KEPT 256

struct tm_json_lines {
  struct tm_json_lines_options options;
  const struct tm_schema *schema;
  size_t *name_lens;
  int32_t order[KEYS_KEPT]; /* keeps (2): column of key i, -1: none */
  struct tm_slice *values;  /* of the current line, by column */
  const char *const *of_file;
  int64_t at;
  struct tm_frame_builder builder;
  struct tm_row_counts counts;
  struct tm_fault fault;
  struct tm_buf text, key;
  size_t max_line; /* bytes */
  bool is_in_long; /* within a line that is dropped: keeps (3) */
};

struct tm_json_lines *tm_json_lines_new(const struct tm_json_lines_options *options,
                                        const struct tm_schema *schema)
{
  struct tm_json_lines *j = TM_NEW(struct tm_json_lines);
  j->options = *options;
  j->max_line = tm_max_record_size(&options->limits);
  j->schema = schema;
  j->values = tm_xcalloc(schema->len, sizeof *j->values);
  j->name_lens = tm_xcalloc(schema->len, sizeof *j->name_lens);
  for (size_t i = 0; i < schema->len; i++)
    j->name_lens[i] = strlen(schema->columns[i].name);
  memset(j->order, 0xff, sizeof j->order);
  return j;
}

void tm_json_lines_free(struct tm_json_lines *j)
{
  if (j == NULL)
    return;
  free(j->values);
  free(j->name_lens);
  tm_buf_release(&j->text);
  tm_buf_release(&j->key);
  free(j);
}

void tm_json_lines_begin(struct tm_json_lines *j, struct tm_arena *arena, int64_t at,
                         const char *const *values)
{
  tm_schema_begin_frame(j->schema, &j->builder, arena);
  j->at = at;
  j->of_file = values;
  j->is_in_long = false;
  j->counts = (struct tm_row_counts) { 0 };
  j->fault = (struct tm_fault) { 0 };
}

void tm_json_lines_end(struct tm_json_lines *j, struct tm_data_frame *out)
{
  tm_frame_builder_end(&j->builder, out);
}

const struct tm_row_counts *tm_json_lines_counts(const struct tm_json_lines *j)
{
  return &j->counts;
}

const struct tm_fault *tm_json_lines_fault(const struct tm_json_lines *j)
{
  return &j->fault;
}

/* `p` is in the line, which begins at offset j->at of the file. */
static int note(struct tm_json_lines *j, enum tm_fault_kind kind, long column, const char *p,
                size_t n, bool is_error, struct tm_err *err)
{
  struct tm_fault fault = {
    .kind = kind, .at = j->at, .column = column, .expected = (int64_t)j->max_line
  };
  if (is_error || tm_fault_is_first(&j->counts, kind))
    tm_fault_set_text(&fault, p, n);
  tm_fault_note(&j->counts, &fault);
  if (!is_error)
    return 0;
  j->fault = fault;
  struct tm_buf words = TM_BUF_NONE;
  tm_fault_words(&words, &fault, j->schema);
  if (kind == TM_FAULT_LINE)
    tm_buf_add_str(&words, "; invalid_lines = \"drop\" leaves such lines out");
  int rc = tm_err_set(err, TM_EDAMAGE, "%s", tm_buf_str(&words));
  tm_buf_release(&words);
  return rc;
}

/* Lines ---------------------------------------------------------------------------------------- */

static int32_t find_column(struct tm_json_lines *j, size_t i, const struct tm_slice *key)
{
  const char *name = key->p;
  size_t n = key->n;
  int32_t guess = i < KEYS_KEPT ? j->order[i] : -1;
  if (key->has_escapes) {
    tm_buf_clear(&j->key);
    tm_json_unescape(&j->key, key);
    name = tm_buf_str(&j->key);
    n = j->key.len;
  }
  if (guess >= 0 && j->name_lens[guess] == n &&
      memcmp(j->schema->columns[guess].name, name, n) == 0)
    return guess;
  guess = (int32_t)tm_schema_find(j->schema, name, n);
  if (guess >= 0 && j->schema->columns[guess].of_file)
    guess = -1;
  if (i < KEYS_KEPT)
    j->order[i] = guess;
  return guess;
}

/* Parses all values of the line, and counts those without a column; `unknown` is the first of their
 * keys. False: the line is not an object. */
static bool read_line(struct tm_json_lines *j, const char *p, const char *end, int64_t *unknowns,
                      struct tm_slice *unknown)
{
  struct tm_slice key, value;
  p = tm_json_scan_blanks(p, end);
  memset(j->values, 0, j->schema->len * sizeof *j->values);
  for (size_t i = 0;; i++) {
    p = tm_json_scan_member(p, end, i == 0, &key, &value);
    if (p == NULL)
      return false;
    if (key.kind == TM_SLICE_NONE)
      return tm_json_scan_blanks(p, end) == end;
    int32_t column = find_column(j, i, &key);
    if (column >= 0)
      j->values[column] = value;
    else if ((*unknowns)++ == 0)
      *unknown = key;
  }
}

/* Decodes the escapes of a string; valid until the next call. */
static void plain(struct tm_json_lines *j, struct tm_slice *v)
{
  if (v->kind != TM_SLICE_STRING || !v->has_escapes)
    return;
  tm_buf_clear(&j->text);
  tm_json_unescape(&j->text, v);
  v->p = tm_buf_str(&j->text);
  v->n = j->text.len;
  v->has_escapes = false;
}

/* Integers, also written with a point or an exponent. */
static bool read_long(const struct tm_slice *v, int64_t *out)
{
  double x;
  if (v->kind != TM_SLICE_NUMBER)
    return false;
  if (tm_value_long(v->p, v->n, out))
    return true;
  if (!tm_value_double(v->p, v->n, &x) || x != floor(x) || fabs(x) > 9007199254740992.0)
    return false;
  *out = (int64_t)x;
  return true;
}

static bool read_moment(const struct tm_schema_column *c, const struct tm_slice *v, int64_t *out)
{
  double x;
  if (v->kind == TM_SLICE_NUMBER) {
    if (!tm_value_double(v->p, v->n, &x) || fabs(x) > 2.6e11)
      return false;
    *out = llround(x * 1e6);
    return true;
  }
  if (v->kind != TM_SLICE_STRING)
    return false;
  for (size_t i = 0; i < c->formats_len; i++)
    if (tm_value_datetime_by(c->formats[i], v->p, v->n, out))
      return true;
  return c->formats_len == 0 && tm_value_datetime(v->p, v->n, out);
}

static bool store(struct tm_column_builder *b, const struct tm_schema_column *c,
                  const struct tm_slice *v)
{
  switch (b->type) {
  case TM_COLUMN_BOOL:
    if (v->kind != TM_SLICE_TRUE && v->kind != TM_SLICE_FALSE)
      return false;
    b->b8[b->len] = v->kind == TM_SLICE_TRUE;
    break;
  case TM_COLUMN_LONG:
    if (!read_long(v, &b->i64[b->len]))
      return false;
    break;
  case TM_COLUMN_DOUBLE:
    if (v->kind != TM_SLICE_NUMBER || !tm_value_double(v->p, v->n, &b->f64[b->len]))
      return false;
    break;
  case TM_COLUMN_DATETIME:
    if (!read_moment(c, v, &b->i64[b->len]))
      return false;
    break;
  default: tm_builder_add_string(b, v->p, v->n); return true;
  }
  b->len++;
  return true;
}

static int add_value(struct tm_json_lines *j, size_t column, struct tm_slice *v, struct tm_err *err)
{
  struct tm_column_builder *b = &j->builder.columns[column];
  if (b->len == b->cap)
    tm_builder_reserve(b, 1);
  if (v->kind == TM_SLICE_NONE || v->kind == TM_SLICE_NULL) {
    tm_builder_add_null(b);
    return 0;
  }
  plain(j, v);
  if (store(b, &j->schema->columns[column], v))
    return 0;
  tm_builder_add_null(b);
  return note(j, TM_FAULT_VALUE, (long)column, v->p, v->n, j->options.misfit == TM_MISFIT_ERROR,
              err);
}

/* The value that the column has in all rows of the file, as text. */
static int add_of_file(struct tm_json_lines *j, size_t column, struct tm_err *err)
{
  const char *text = j->of_file == NULL ? NULL : j->of_file[column];
  enum tm_column_type type = j->schema->columns[column].type;
  struct tm_slice v = { .kind = text == NULL ? TM_SLICE_NULL : TM_SLICE_STRING,
                        .p = text,
                        .n = text == NULL ? 0 : strlen(text) };
  uint8_t b;
  if (text != NULL && (type == TM_COLUMN_LONG || type == TM_COLUMN_DOUBLE))
    v.kind = TM_SLICE_NUMBER;
  if (text != NULL && type == TM_COLUMN_BOOL && tm_value_bool(text, v.n, &b))
    v.kind = b ? TM_SLICE_TRUE : TM_SLICE_FALSE;
  return add_value(j, column, &v, err);
}

/* Values whose keys are not columns are left out, and counted. */
static void note_keys(struct tm_json_lines *j, int64_t n, const struct tm_slice *first)
{
  tm_buf_clear(&j->key);
  tm_json_unescape(&j->key, first);
  note(j, TM_FAULT_KEY, -1, tm_buf_str(&j->key), j->key.len, false, NULL);
  j->counts.faults[TM_FAULT_KEY] += n - 1;
}

/* Drops a line longer than the limit, or ends the reading. */
static int refuse_long(struct tm_json_lines *j, const char *p, size_t n, struct tm_err *err)
{
  j->counts.dropped += j->options.drop_invalid;
  return note(j, TM_FAULT_TOO_LONG, -1, p, n, !j->options.drop_invalid, err);
}

static int add_line(struct tm_json_lines *j, const char *p, size_t n, struct tm_err *err)
{
  int64_t unknowns = 0;
  struct tm_slice unknown;
  int rc = 0;
  if (n > j->max_line && n - (p[n - 1] == '\r') > j->max_line)
    return refuse_long(j, p, n, err);
  if (tm_json_scan_blanks(p, p + n) == p + n) {
    j->counts.empty_lines++;
    return 0;
  }
  if (!read_line(j, p, p + n, &unknowns, &unknown)) {
    j->counts.dropped += j->options.drop_invalid;
    return note(j, TM_FAULT_LINE, -1, p, n, !j->options.drop_invalid, err);
  }
  if (unknowns > 0)
    note_keys(j, unknowns, &unknown);
  for (size_t i = 0; i < j->schema->len && rc == 0; i++) /* keeps (1) */
    if (!j->builder.columns[i].is_left_out)
      rc = j->schema->columns[i].of_file ? add_of_file(j, i, err)
                                         : add_value(j, i, &j->values[i], err);
  j->counts.rows++;
  return rc;
}

/* Skips the rest of a dropped line; returns the bytes that are available. */
static size_t skip_long(struct tm_json_lines *j, const char *p, size_t n)
{
  const char *end = memchr(p, '\n', n);
  size_t len = end == NULL ? n : (size_t)(end - p) + 1;
  j->is_in_long = end == NULL;
  j->at += tm_rows_size_in_file(j->options.encoding, p, len);
  return len;
}

int64_t tm_json_lines_add(struct tm_json_lines *j, const char *p, size_t n, bool is_last,
                          struct tm_err *err)
{
  size_t at = j->is_in_long && n > 0 ? skip_long(j, p, n) : 0;
  while (at < n) {
    const char *line = memchr(p + at, '\n', n - at);
    size_t len = line == NULL ? n - at : (size_t)(line - p) - at;
    bool is_cut_off = line == NULL && !is_last;
    if (is_cut_off && len <= j->max_line + 1) /* the last byte may be a CR */
      break;
    int rc = is_cut_off ? refuse_long(j, p + at, len, err) : add_line(j, p + at, len, err);
    if (rc < 0)
      return rc;
    j->is_in_long = is_cut_off;
    len += line != NULL;
    j->at += tm_rows_size_in_file(j->options.encoding, p + at, len);
    at += len;
  }
  return (int64_t)at;
}
