/* delimited.c - text to rows, piece by piece.
 *
 *   text -> piece (64 KB of whole rows) -> ends of fields (scan.h) -> rows
 *        -> column after column (delimited_columns.c)
 *
 *  (1) A piece begins and ends with a row. One without a whole row grows until it has one.
 *  (2) Dropped rows are not in `rows`: every column adds one value per row in it.
 *  (3) ends[] is the unchanged result of the scan: a field begins after the end before it.
 *  (4) An unclosed quote takes the rest of its row: if a row has all of its fields, the quote can
 *      only be in the last one.
 *  (5) A record longer than the limit ends the reading. Only a piece longer than the limit can hold
 *      one, so only those are checked.
 */
#include "data/rows/delimited.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/rows/delimited_own.h"
#include "data/rows/encoding.h"

#define PIECE ((size_t)64 << 10) /* bytes; with its ends it fits the second-level cache */
#define AHEAD ((size_t)4 << 20)  /* bytes for whose rows there is room at once, at most */

struct tm_delimited *tm_delimited_new(const struct tm_dialect *dialect,
                                      const struct tm_schema *schema, enum tm_scan_kind kind)
{
  struct tm_delimited *d = TM_NEW(struct tm_delimited);
  d->dialect = dialect;
  d->schema = schema;
  d->max_record = tm_max_record_size(&dialect->limits);
  tm_scan_init(&d->scan, dialect, kind);
  d->shorts = tm_short_kernel(kind);
  d->plain_fields = tm_xcalloc(schema->len, sizeof *d->plain_fields);
  for (size_t i = 0; i < schema->len; i++)
    if (!schema->columns[i].of_file)
      d->plain_fields[d->plain_fields_len++] = (int32_t)i;
  return d;
}

void tm_delimited_free(struct tm_delimited *d)
{
  if (d == NULL)
    return;
  free(d->rows);
  tm_marks_release(&d->marks);
  free(d->plain_fields);
  tm_buf_release(&d->unquoted);
  tm_buf_release(&d->converted);
  free(d);
}

void tm_delimited_begin(struct tm_delimited *d, struct tm_arena *arena,
                        const struct tm_delimited_source *source)
{
  tm_schema_begin_frame(d->schema, &d->builder, arena);
  d->source = *source;
  if (source->fields == NULL) {
    d->source.fields = d->plain_fields;
    d->source.fields_len = d->plain_fields_len;
  }
  d->counts = (struct tm_row_counts) { 0 };
  d->fault = (struct tm_fault) { 0 };
}

void tm_delimited_end(struct tm_delimited *d, struct tm_data_frame *out)
{
  tm_frame_builder_end(&d->builder, out);
}

const struct tm_row_counts *tm_delimited_counts(const struct tm_delimited *d)
{
  return &d->counts;
}

const struct tm_fault *tm_delimited_fault(const struct tm_delimited *d)
{
  return &d->fault;
}

/* The bytes that this text occupies in the file. */
static int64_t size_in_file(const struct tm_delimited *d, const char *p, size_t n)
{
  return d->dialect->encoding == TM_ENCODING_UTF16 ? tm_utf16_size(p, n) : (int64_t)n;
}

int tm_delimited_note(struct tm_delimited *d, const struct piece *p, size_t at, bool is_error,
                      struct tm_fault *fault, struct tm_err *err)
{
  if (is_error || tm_fault_is_first(&d->counts, fault->kind))
    fault->at = p->at + size_in_file(d, p->text, at);
  tm_fault_note(&d->counts, fault);
  if (!is_error)
    return 0;
  d->fault = *fault;
  struct tm_buf words = TM_BUF_NONE;
  tm_fault_words(&words, fault, d->schema);
  int rc = tm_err_set(err, TM_EDAMAGE, "%s", tm_buf_str(&words));
  tm_buf_release(&words);
  return rc;
}

/* Rows ----------------------------------------------------------------------------------------- */

static void make_room(struct tm_delimited *d, size_t rows)
{
  if (rows > d->rows_cap) {
    d->rows_cap = rows * 2;
    free(d->rows);
    d->rows = tm_xcalloc(d->rows_cap, sizeof *d->rows);
  }
}

/* The bounds of the row's text, without the line break. */
static size_t row_bounds(const struct piece *p, struct row row, size_t *end)
{
  size_t from = p->ends[(ptrdiff_t)row.first - 1] + 1u;
  *end = p->ends[row.first + row.count - 1];
  if (*end > from && p->text[*end - 1] == '\r')
    --*end;
  return from;
}

/* Judges a row with another number of fields. 1: keep it. */
static int judge_row(struct tm_delimited *d, const struct piece *p, struct row row,
                     struct tm_err *err)
{
  size_t end, from = row_bounds(p, row, &end), text = from;
  while (text < end && p->text[text] == '\r')
    text++;
  if (row.count == 1 && text == end) {
    d->counts.empty_lines++;
    return 0;
  }
  if (row.count == d->source.fields_len)
    return 1;
  bool is_error = d->dialect->ragged == TM_RAGGED_ERROR;
  int rc = is_error ? tm_delimited_look_at_last(d, p, row, false, err) : 0;
  if (rc < 0)
    return rc; /* it says more than the number of fields */
  struct tm_fault fault = {
    .kind = row.count < d->source.fields_len ? TM_FAULT_SHORT : TM_FAULT_LONG,
    .column = -1,
    .fields = row.count,
    .expected = (int64_t)d->source.fields_len,
  };
  rc = tm_delimited_note(d, p, from, is_error, &fault, err);
  if (rc < 0)
    return rc;
  bool is_kept = d->dialect->ragged != TM_RAGGED_DROP;
  d->counts.dropped += !is_kept;
  rc = tm_delimited_look_at_last(d, p, row, is_kept, err);
  return rc < 0 ? rc : is_kept;
}

/* Keeps (5). */
static int refuse_record(struct tm_delimited *d, const struct piece *p, size_t at,
                         struct tm_err *err)
{
  struct tm_fault fault = { .kind = TM_FAULT_TOO_LONG,
                            .column = -1,
                            .expected = (int64_t)d->max_record };
  return tm_delimited_note(d, p, at, true, &fault, err);
}

static int check_lengths(struct tm_delimited *d, const struct piece *p, struct tm_err *err)
{
  uint32_t first = 0;
  for (size_t i = 0; i < d->marks.rows_len; i++) {
    struct row row = { first, d->marks.rows[i] - first };
    size_t end, from = row_bounds(p, row, &end);
    first = d->marks.rows[i];
    if (end > from && end - from > d->max_record)
      return refuse_record(d, p, from, err);
  }
  return 0;
}

static int find_rows(struct tm_delimited *d, struct piece *p, struct tm_err *err)
{
  uint32_t first = 0, expected = (uint32_t)d->source.fields_len;
  bool is_odd = expected == 1; /* an empty line has one field too */
  p->fields_least = expected;
  for (size_t i = 0; i < d->marks.rows_len; i++) {
    struct row row = { first, d->marks.rows[i] - first };
    first = d->marks.rows[i];
    if (row.count != expected || is_odd) {
      int rc = judge_row(d, p, row, err);
      if (rc < 0)
        return rc;
      if (rc == 0)
        continue; /* keeps (2) */
      if (row.count < p->fields_least)
        p->fields_least = row.count;
    }
    d->rows[p->rows_len++] = row;
  }
  return 0;
}

static int add_columns(struct tm_delimited *d, const struct piece *p, struct tm_err *err)
{
  for (size_t i = 0; i < d->source.fields_len; i++) {
    int32_t column = d->source.fields[i];
    int rc = 0;
    if (column >= 0 && !d->builder.columns[column].is_left_out)
      rc = tm_delimited_add_column(d, p, (size_t)column, (uint32_t)i, err);
    else if (i + 1 == d->source.fields_len)
      rc = tm_delimited_look_at_quotes(d, p, column, (uint32_t)i, err);
    if (rc < 0)
      return rc;
  }
  d->counts.rows += (int64_t)p->rows_len;
  for (size_t i = 0; i < d->schema->len; i++) {
    if (d->builder.columns[i].is_left_out || d->builder.columns[i].len == d->counts.rows)
      continue;
    int rc = tm_delimited_add_same(d, p, i, err);
    if (rc < 0)
      return rc;
  }
  return 0;
}

/* Whether the encoding requires a check of bytes above 127 in each text; false if all of it is
 * valid as it is. */
static bool must_look(const struct tm_delimited *d, const char *p, size_t n)
{
  if (!d->scan.saw_high || d->dialect->encoding == TM_ENCODING_UTF16)
    return false;
  return d->dialect->encoding != TM_ENCODING_UTF8 || !tm_rows_is_utf8(p, n);
}

/* Makes room for the rows of `n` bytes, if they are like those of the piece: columns that grow row
 * by row are copied. */
static void make_columns(struct tm_delimited *d, const struct piece *p, size_t n)
{
  double bytes = (double)(n < AHEAD ? n : AHEAD) * 65 / 64;
  double rows = (double)p->rows_len * bytes / (double)p->len;
  for (size_t i = 0; i < d->source.fields_len; i++) {
    int32_t column = d->source.fields[i];
    if (column >= 0 && !d->builder.columns[column].is_left_out)
      tm_builder_reserve(&d->builder.columns[column], (int64_t)rows);
  }
}

/* Returns the bytes of its whole rows. `expected`: those for whose rows it makes room, or 0. */
static int64_t add_piece(struct tm_delimited *d, const char *text, size_t n, bool is_last,
                         size_t expected, struct tm_err *err)
{
  d->scan.saw_quote = d->scan.saw_high = false;
  tm_scan_fields(&d->scan, text, n, &d->marks);
  size_t whole =
      d->marks.rows_len == 0 ? 0 : d->marks.at[d->marks.rows[d->marks.rows_len - 1] - 1] + 1u;
  if (is_last && whole < n) {
    d->marks.at[d->marks.at_len++] = (uint32_t)n;
    d->marks.rows[d->marks.rows_len++] = (uint32_t)d->marks.at_len;
    whole = n;
  }
  make_room(d, d->marks.rows_len);
  struct piece p = {
    .text = text,
    .len = whole,
    .at = d->source.at,
    .ends = d->marks.at,
    .rows = d->rows,
    .has_quotes = d->scan.saw_quote && !d->dialect->no_quotes,
    .has_high = must_look(d, text, whole),
  };
  int rc = n > d->max_record ? check_lengths(d, &p, err) : 0;
  if (rc == 0)
    rc = find_rows(d, &p, err);
  if (rc == 0 && expected > 0 && whole > 0)
    make_columns(d, &p, expected);
  if (rc == 0)
    rc = add_columns(d, &p, err);
  if (rc < 0)
    return rc;
  d->source.at += size_in_file(d, text, whole);
  return (int64_t)whole;
}

int64_t tm_delimited_add(struct tm_delimited *d, const char *p, size_t n, bool is_last,
                         struct tm_err *err)
{
  size_t at = 0, size = PIECE;
  while (at < n) {
    size_t left = n - at, len = left < size ? left : size;
    int64_t got = add_piece(d, p + at, len, is_last && len == left, at == 0 ? n : 0, err);
    if (got < 0)
      return got;
    at += (size_t)got;
    if (got == 0 && len > d->max_record + 1) /* the last byte may be a CR */
      return refuse_record(d, &(struct piece) { .text = p + at, .at = d->source.at }, 0, err);
    if (got == 0 && len == left)
      break;
    size = got == 0 ? size * 2 : PIECE; /* keeps (1) */
  }
  return (int64_t)at;
}
