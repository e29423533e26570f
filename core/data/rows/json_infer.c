/* json_infer.c - the keys of objects as columns, each with the set of types that fit all of its
 * values. */
#include "data/rows/json_infer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/encoding.h"
#include "data/rows/infer.h"
#include "data/rows/json_scan.h"
#include "data/rows/value.h"

struct tm_json_infer {
  struct tm_json_lines_options options;
  struct tm_schema *schema;
  /* by column, bits of types (infer.h); 0: only nulls so far */
  struct TM_ARRAY(unsigned char) sets;
  struct tm_buf name;
  int64_t rows, most; /* objects */
  int64_t line, at;   /* of the current line: from 0; byte */
  bool is_in_long;    /* within a line that is skipped */
};

struct tm_json_infer *tm_json_infer_new(const struct tm_json_lines_options *options, int64_t rows,
                                        struct tm_schema *schema)
{
  struct tm_json_infer *f = TM_NEW(struct tm_json_infer);
  f->options = *options;
  f->schema = schema;
  f->most = rows;
  return f;
}

bool tm_json_infer_is_done(const struct tm_json_infer *f)
{
  return f->rows >= f->most;
}

int64_t tm_json_infer_rows(const struct tm_json_infer *f)
{
  return f->rows;
}

int64_t tm_json_infer_line(const struct tm_json_infer *f, int64_t *at)
{
  *at = f->at;
  return f->line + 1;
}

void tm_json_infer_end(struct tm_json_infer *f)
{
  for (size_t i = 0; i < f->schema->len; i++)
    tm_infer_of_set(&f->schema->columns[i], f->sets.at[i]);
  TM_ARRAY_RELEASE(&f->sets);
  tm_buf_release(&f->name);
  free(f);
}

/* Values --------------------------------------------------------------------------------------- */

#define BIT(type) (1u << (type))

static unsigned types_of(const struct tm_slice *v)
{
  int64_t i;
  double x;
  switch (v->kind) {
  case TM_SLICE_TRUE:
  case TM_SLICE_FALSE: return BIT(TM_COLUMN_BOOL) | BIT(TM_COLUMN_STRING);
  case TM_SLICE_NUMBER:
    if (tm_value_long(v->p, v->n, &i))
      return BIT(TM_COLUMN_LONG) | BIT(TM_COLUMN_DOUBLE) | BIT(TM_COLUMN_STRING);
    return tm_value_double(v->p, v->n, &x) ? BIT(TM_COLUMN_DOUBLE) | BIT(TM_COLUMN_STRING)
                                           : BIT(TM_COLUMN_STRING);
  case TM_SLICE_STRING:
    if (!tm_value_datetime(v->p, v->n, &i))
      return BIT(TM_COLUMN_STRING);
    return BIT(TM_COLUMN_DATETIME) | BIT(TM_COLUMN_STRING) |
           (tm_value_is_date(v->p, v->n) ? TM_INFER_DATE : 0);
  default: return BIT(TM_COLUMN_STRING);
  }
}

/* 1: the key's column, made if it is new; 0: the key holds a NUL and cannot be a name. */
static int find_column(struct tm_json_infer *f, size_t i, const struct tm_slice *key,
                       size_t *column, struct tm_err *err)
{
  struct tm_schema *s = f->schema;
  *column = i;
  if (i < s->len && !key->has_escapes && /* usually key i is column i */
      strncmp(s->columns[i].name, key->p, key->n) == 0 && s->columns[i].name[key->n] == '\0')
    return 1;
  tm_buf_clear(&f->name);
  tm_json_unescape(&f->name, key);
  const char *name = tm_buf_str(&f->name);
  size_t n = f->name.len;
  if (strlen(name) < n)
    return 0;
  long at = tm_schema_find(s, name, n);
  *column = at >= 0 ? (size_t)at : s->len;
  if (at >= 0)
    return 1;
  if (s->len >= tm_max_columns(&f->options.limits))
    return tm_refuse_columns(&f->options.limits, err);
  tm_schema_add_exact(s, name, n);
  *TM_ARRAY_ADD(&f->sets) = 0;
  return 1;
}

static void infer_value(struct tm_json_infer *f, size_t column, const struct tm_slice *value)
{
  unsigned set = f->sets.at[column];
  if (value->kind == TM_SLICE_NULL || set == BIT(TM_COLUMN_STRING))
    return;
  unsigned types = types_of(value);
  f->sets.at[column] = (unsigned char)(set == 0 ? types : set & types);
}

/* Lines ---------------------------------------------------------------------------------------- */

/* 1: an object; 0: another line. */
static int infer_line(struct tm_json_infer *f, const char *p, const char *end, struct tm_err *err)
{
  struct tm_slice key, value, all;
  p = tm_json_scan_blanks(p, end);
  const char *behind = p < end && *p == '{' ? tm_json_scan(p, end, &all) : NULL;
  if (behind == NULL || tm_json_scan_blanks(behind, end) != end)
    return 0;
  for (size_t i = 0;; i++) {
    size_t column;
    p = tm_json_scan_member(p, end, i == 0, &key, &value);
    if (p == NULL || key.kind == TM_SLICE_NONE)
      return 1;
    int rc = find_column(f, i, &key, &column, err);
    if (rc < 0)
      return rc;
    if (rc > 0)
      infer_value(f, column, &value);
  }
}

static int look(struct tm_json_infer *f, const char *p, size_t n, bool is_cut_off,
                struct tm_err *err)
{
  size_t most = tm_max_record_size(&f->options.limits);
  bool is_long = n > most && (is_cut_off || n - (p[n - 1] == '\r') > most);
  if (is_long && !f->options.drop_invalid)
    return tm_refuse_record(&f->options.limits, "a line", err);
  f->is_in_long = is_cut_off;
  int rc = is_long ? 0 : infer_line(f, p, p + n, err);
  f->rows += rc > 0;
  return rc;
}

int64_t tm_json_infer_add(struct tm_json_infer *f, const char *p, size_t n, bool is_last,
                          struct tm_err *err)
{
  size_t at = 0, most = tm_max_record_size(&f->options.limits);
  while (at < n && !tm_json_infer_is_done(f)) {
    const char *end = memchr(p + at, '\n', n - at);
    size_t len = end == NULL ? n - at : (size_t)(end - p) - at;
    bool is_cut_off = end == NULL && !is_last;
    if (f->is_in_long)
      f->is_in_long = end == NULL;
    else if (is_cut_off && len <= most + 1) /* the last byte may be a CR */
      break;
    else if (look(f, p + at, len, is_cut_off, err) < 0)
      return err->code;
    len += end != NULL;
    f->line += end != NULL;
    f->at += tm_rows_size_in_file(f->options.encoding, p + at, len);
    at += len;
  }
  return (int64_t)at;
}
