/* delimited_columns.c - the fields of one column, in all rows of a piece, as values.
 *
 * It handles a column at a time, so that each loop knows its type and branches are predictable. A
 * text is copied once, from the file's bytes into the column's, unless it has quotes within it or
 * characters to convert.
 */
#include <string.h>

#include "data/rows/delimited_own.h"
#include "data/rows/encoding.h"
#include "data/rows/short_numbers.h"
#include "data/rows/value.h"

/* p is NULL if the row has no such field. */
struct field {
  const char *p;
  size_t n;
  bool is_quoted;
  bool is_copy; /* p is not in the piece's text */
};

/* After the second quote, the rest is taken as it is, unless it continues with a quote (a doubled
 * one). */
static bool unquote(struct tm_buf *out, const char *p, size_t n)
{
  const char *end = p + n;
  tm_buf_clear(out);
  for (;;) {
    const char *q = memchr(p, '"', (size_t)(end - p));
    tm_buf_add(out, p, (size_t)((q == NULL ? end : q) - p));
    if (q == NULL)
      return false;
    p = q + 1;
    if (p == end || *p != '"') {
      tm_buf_add(out, p, (size_t)(end - p));
      return true;
    }
    tm_buf_add_char(out, '"');
    p++;
  }
}

/* A field that begins with a quote. */
static int take_quoted(struct tm_delimited *d, const struct piece *piece, int32_t column,
                       struct field *f, struct tm_err *err)
{
  const char *p = f->p + 1;
  size_t n = f->n - 1;
  f->is_quoted = true;
  if (n > 0 && p[n - 1] == '"' && memchr(p, '"', n - 1) == NULL) {
    f->p = p;
    f->n = n - 1;
    return 0;
  }
  bool is_closed = unquote(&d->unquoted, p, n);
  size_t at = (size_t)(f->p - piece->text);
  f->p = tm_buf_str(&d->unquoted);
  f->n = d->unquoted.len;
  f->is_copy = true;
  if (is_closed)
    return 0;
  struct tm_fault fault = { .kind = TM_FAULT_UNCLOSED,
                            .column = column,
                            .is_to_end = d->dialect->multi_line };
  return tm_delimited_note(d, piece, at, d->dialect->ragged == TM_RAGGED_ERROR, &fault, err);
}

static inline struct field field_of(const struct piece *p, size_t row, uint32_t field)
{
  struct row r = p->rows[row];
  if (__builtin_expect(field >= r.count, 0))
    return (struct field) { .p = NULL };
  const uint32_t *end = p->ends + r.first + field;
  uint32_t from = end[-1] + 1u, to = *end;
  if (field + 1 == r.count && to > from && p->text[to - 1] == '\r')
    to--;
  return (struct field) { .p = p->text + from, .n = to - from };
}

static bool is_blank(const struct field *f)
{
  for (size_t i = 0; i < f->n; i++)
    if (f->p[i] != ' ' && f->p[i] != '\t')
      return false;
  return true;
}

/* Adds null, for an empty field or a value that does not fit. */
static int add_misfit(struct tm_delimited *d, const struct piece *p, size_t row, uint32_t field,
                      size_t column, const struct field *f, struct tm_err *err)
{
  tm_builder_add_null(&d->builder.columns[column]);
  if (is_blank(f))
    return 0;
  struct tm_fault fault = { .kind = TM_FAULT_VALUE, .column = (long)column };
  bool is_error = d->dialect->misfit == TM_MISFIT_ERROR;
  if (is_error || tm_fault_is_first(&d->counts, fault.kind))
    tm_fault_set_text(&fault, f->p, f->n);
  size_t at = (size_t)(field_of(p, row, field).p - p->text);
  return tm_delimited_note(d, p, at, is_error, &fault, err);
}

static inline bool is_quote(const struct piece *p, const struct field *f)
{
  return p->has_quotes && f->n > 0 && f->p[0] == '"';
}

static bool parse_moment(const struct tm_delimited *d, size_t column, const struct field *f,
                         int64_t *out)
{
  const struct tm_schema_column *c = &d->schema->columns[column];
  for (size_t i = 0; i < c->formats_len; i++)
    if (tm_value_datetime_by(c->formats[i], f->p, f->n, out))
      return true;
  return c->formats_len == 0 && tm_value_datetime(f->p, f->n, out);
}

/* A function for each type, which adds one row. */
#define ADD_VALUE(name, value_type, member, parse)                                                 \
  static inline int add_##name(struct tm_delimited *d, const struct piece *p, size_t row,          \
                               size_t column, uint32_t field, struct tm_err *err)                  \
  {                                                                                                \
    struct tm_column_builder *b = &d->builder.columns[column];                                     \
    struct field f = field_of(p, row, field);                                                      \
    value_type v;                                                                                  \
    int rc = is_quote(p, &f) ? take_quoted(d, p, (int32_t)column, &f, err) : 0;                    \
    if (rc < 0)                                                                                    \
      return rc;                                                                                   \
    if (f.n == 0 || !(parse))                                                                      \
      return add_misfit(d, p, row, field, column, &f, err);                                        \
    b->member[b->len++] = v;                                                                       \
    return 0;                                                                                      \
  }

ADD_VALUE(long, int64_t, i64, tm_value_long(f.p, f.n, &v))
ADD_VALUE(double, double, f64, tm_value_double(f.p, f.n, &v))
ADD_VALUE(bool, uint8_t, b8, tm_value_bool(f.p, f.n, &v))
ADD_VALUE(moment, int64_t, i64, parse_moment(d, column, &f, &v))

/* A loop for each type. */
#define ADD_VALUES(name)                                                                           \
  static int add_##name##s(struct tm_delimited *d, const struct piece *p, size_t column,           \
                           uint32_t field, struct tm_err *err)                                     \
  {                                                                                                \
    tm_builder_reserve(&d->builder.columns[column], (int64_t)p->rows_len);                         \
    for (size_t i = 0; i < p->rows_len; i++) {                                                     \
      int rc = add_##name(d, p, i, column, field, err);                                            \
      if (rc < 0)                                                                                  \
        return rc;                                                                                 \
    }                                                                                              \
    return 0;                                                                                      \
  }

ADD_VALUES(bool)
ADD_VALUES(moment)

/* The texts of a field in n rows. Those without eight bytes of the piece before their end are left
 * out: the first ones of the piece. */
static void gather(struct tm_short_texts *to, const struct piece *p, size_t row, size_t n,
                   uint32_t field)
{
  for (size_t i = 0; i < n; i++) {
    struct field f = field_of(p, row + i, field);
    const char *end = f.p + f.n;
    bool is_there = f.p != NULL && end - p->text >= TM_SHORT_MAX;
    to->lens[i] = is_there ? f.n : 0;
    to->words[i] = is_there ? tm_get_u64(end - TM_SHORT_MAX) : 0;
  }
}

/* The same where every row has this field and another one behind it. */
static void gather_inner(struct tm_short_texts *to, const struct piece *p, size_t row, size_t n,
                         uint32_t field)
{
  const struct row *rows = p->rows + row;
  const uint32_t *ends = p->ends + field;
  for (size_t i = 0; i < n; i++) {
    const uint32_t *end = ends + rows[i].first;
    size_t at = *end < TM_SHORT_MAX ? TM_SHORT_MAX : *end;
    to->lens[i] = at == *end ? *end - (end[-1] + 1u) : 0;
    to->words[i] = tm_get_u64(p->text + at - TM_SHORT_MAX);
  }
}

static void find_short(struct tm_short_texts *to, const struct piece *p, size_t row, size_t n,
                       uint32_t field)
{
  if (field + 1 < p->fields_least && p->len >= TM_SHORT_MAX)
    gather_inner(to, p, row, n, field);
  else
    gather(to, p, row, n, field);
}

/* The loop for numbers: short ones several at a time, and the others one by one. Where a block has
 * few short ones, the rest of the piece is not searched for them. */
#define ADD_NUMBERS(name, value_type, member)                                                      \
  static int add_##name##s(struct tm_delimited *d, const struct piece *p, size_t column,           \
                           uint32_t field, struct tm_err *err)                                     \
  {                                                                                                \
    struct tm_column_builder *b = &d->builder.columns[column];                                     \
    value_type values[TM_SHORT_MANY];                                                              \
    bool are_short = p->rows_len > 1;                                                              \
    tm_builder_reserve(b, (int64_t)p->rows_len);                                                   \
    for (size_t row = 0; row < p->rows_len; row += TM_SHORT_MANY) {                                \
      size_t n = p->rows_len - row < TM_SHORT_MANY ? p->rows_len - row : TM_SHORT_MANY;            \
      uint32_t good = 0;                                                                           \
      if (are_short) {                                                                             \
        find_short(&d->texts, p, row, n, field);                                                   \
        good = d->shorts->name##s(&d->texts, n, values);                                           \
        are_short = (size_t)__builtin_popcount(good) >= n / 2;                                     \
      }                                                                                            \
      if (good == UINT32_MAX) {                                                                    \
        memcpy(b->member + b->len, values, sizeof values);                                         \
        b->len += TM_SHORT_MANY;                                                                   \
        continue;                                                                                  \
      }                                                                                            \
      for (size_t i = 0; i < n; i++) {                                                             \
        int rc = 0;                                                                                \
        if (good >> i & 1)                                                                         \
          b->member[b->len++] = values[i];                                                         \
        else if ((rc = add_##name(d, p, row + i, column, field, err)) < 0)                         \
          return rc;                                                                               \
      }                                                                                            \
    }                                                                                              \
    return 0;                                                                                      \
  }

ADD_NUMBERS(long, int64_t, i64)
ADD_NUMBERS(double, double, f64)

/* Text with non-ASCII characters. */
static int add_converted(struct tm_delimited *d, const struct piece *p, size_t row, uint32_t field,
                         size_t column, const struct field *f, struct tm_err *err)
{
  tm_buf_clear(&d->converted);
  size_t bad = tm_rows_add_utf8(&d->converted, d->dialect->encoding, f->p, f->n);
  tm_builder_add_string(&d->builder.columns[column], d->converted.data, d->converted.len);
  if (bad == 0)
    return 0;
  struct tm_fault fault = { .kind = TM_FAULT_TEXT, .column = (long)column };
  bool is_error = d->dialect->misfit == TM_MISFIT_ERROR;
  if (is_error || tm_fault_is_first(&d->counts, fault.kind))
    tm_fault_set_text(&fault, f->p, f->n);
  size_t at = (size_t)(field_of(p, row, field).p - p->text);
  return tm_delimited_note(d, p, at, is_error, &fault, err);
}

/* Copies sixteen bytes at once if both sides have room: most texts are short. */
static inline void add_text(struct tm_column_builder *b, const struct field *f, const char *end)
{
  if (f->n > 16 || end - f->p < 16 || b->bytes_cap - b->bytes_len < 16 || b->is_wide) {
    tm_builder_add_string(b, f->p, f->n);
    return;
  }
  memcpy(b->bytes + b->bytes_len, f->p, 16);
  b->bytes_len += (int64_t)f->n;
  b->off32[++b->len] = (int32_t)b->bytes_len;
}

static int add_strings(struct tm_delimited *d, const struct piece *p, size_t column, uint32_t field,
                       struct tm_err *err)
{
  struct tm_column_builder *b = &d->builder.columns[column];
  const char *text_end = p->text + p->len;
  bool empty_as_string = d->dialect->empty_as_string;
  tm_builder_reserve(b, (int64_t)p->rows_len);
  for (size_t i = 0; i < p->rows_len; i++) {
    struct field f = field_of(p, i, field);
    int rc = is_quote(p, &f) ? take_quoted(d, p, (int32_t)column, &f, err) : 0;
    if (rc < 0)
      return rc;
    if (f.n == 0 && !f.is_quoted && (f.p == NULL || !empty_as_string)) {
      tm_builder_add_null(b);
    } else if (p->has_high && !tm_rows_is_ascii(f.p, f.n)) {
      rc = add_converted(d, p, i, field, column, &f, err);
      if (rc < 0)
        return rc;
    } else if (!f.is_copy) {
      add_text(b, &f, text_end);
    } else {
      tm_builder_add_string(b, f.p, f.n);
    }
  }
  return 0;
}

int tm_delimited_add_column(struct tm_delimited *d, const struct piece *p, size_t column,
                            uint32_t field, struct tm_err *err)
{
  switch (d->schema->columns[column].type) {
  case TM_COLUMN_BOOL: return add_bools(d, p, column, field, err);
  case TM_COLUMN_LONG: return add_longs(d, p, column, field, err);
  case TM_COLUMN_DOUBLE: return add_doubles(d, p, column, field, err);
  case TM_COLUMN_DATETIME: return add_moments(d, p, column, field, err);
  default: return add_strings(d, p, column, field, err);
  }
}

int tm_delimited_look_at_quotes(struct tm_delimited *d, const struct piece *p, int32_t column,
                                uint32_t field, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; p->has_quotes && i < p->rows_len && rc == 0; i++) {
    struct field f = field_of(p, i, field);
    if (is_quote(p, &f))
      rc = take_quoted(d, p, column, &f, err);
  }
  return rc;
}

int tm_delimited_look_at_last(struct tm_delimited *d, const struct piece *p, struct row row,
                              bool is_kept, struct tm_err *err)
{
  uint32_t last = row.count - 1;
  int32_t column = last < d->source.fields_len ? d->source.fields[last] : -1;
  bool is_read = is_kept && column >= 0 && !d->builder.columns[column].is_left_out;
  struct piece one = *p;
  one.rows = &row;
  struct field f = field_of(&one, 0, last);
  return is_read || !is_quote(p, &f) ? 0 : take_quoted(d, p, column, &f, err);
}

int tm_delimited_add_same(struct tm_delimited *d, const struct piece *p, size_t column,
                          struct tm_err *err)
{
  const char *value = d->source.values == NULL ? NULL : d->source.values[column];
  size_t n = value == NULL ? 0 : strlen(value);
  /* A piece with one row, whose first of two fields is the value: it is used as is, to its last
   * byte. */
  uint32_t ends[3] = { UINT32_MAX, (uint32_t)n, (uint32_t)n };
  struct row row = { 0, value != NULL ? 2 : 0 };
  struct piece one = {
    .text = value, .len = n, .at = p->at, .ends = ends + 1, .rows = &row, .rows_len = 1
  };
  struct tm_column_builder *b = &d->builder.columns[column];
  for (size_t i = 0; i < p->rows_len; i++) {
    int rc = 0;
    if (value != NULL && n == 0 && b->type == TM_COLUMN_STRING)
      tm_builder_add_string(b, "", 0); /* not an empty field: null has no text at all */
    else
      rc = tm_delimited_add_column(d, &one, column, 0, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}
