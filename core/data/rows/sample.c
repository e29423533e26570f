/* sample.c - see sample.h.
 *
 *    stream -> piece -> [as UTF-8] -> text -> header, types
 *                   `-> [narrowed] -> measured (header.h)
 *
 * A header longer than a piece is measured first, piece by piece, and then read as a whole.
 */
#include "data/rows/sample.h"

#include <inttypes.h>
#include <string.h>

#include "data/rows/header.h"
#include "data/rows/json_infer.h"

#define SAMPLE      ((size_t)256 << 10) /* the first look at a file */
#define SAMPLE_MOST ((size_t)4 << 20)   /* of rows, if the first look has too few to infer types */

void tm_sample_release(struct tm_sample *s)
{
  tm_buf_release(&s->text);
  tm_buf_release(&s->raw);
  tm_buf_release(&s->narrowed);
  *s = (struct tm_sample) { .is_whole = false };
}

/* The length of the byte order mark at the beginning of the first piece. */
static int take_mark(struct tm_sample *s, const struct tm_rows_options *o,
                     const struct tm_rows_file *file, struct tm_err *err)
{
  if (s->at > 0)
    return 0;
  if (tm_header_check_start(o->dialect.encoding, s->raw.data, s->raw.len, err) < 0)
    return tm_err_wrap(err, "'%s'", file->path);
  s->mark = (int64_t)tm_header_mark(o->dialect.encoding, s->raw.data, s->raw.len, &s->big_endian);
  s->utf16 = (struct tm_utf16) { .big_endian = s->big_endian };
  return (int)s->mark;
}

/* Adds the next n bytes of the file to the text. */
static int add_piece(struct tm_sample *s, const struct tm_rows_options *o,
                     const struct tm_rows_file *file, size_t n, struct tm_err *err)
{
  size_t bad = 0;
  tm_buf_clear(&s->raw);
  int64_t got = file->stream->read(file->stream, tm_buf_extend(&s->raw, n), n, s->at, err);
  if (got < 0)
    return (int)got;
  s->raw.len = (size_t)got;
  s->is_whole = s->raw.len < n;
  int mark = take_mark(s, o, file, err);
  if (mark < 0)
    return mark;
  const char *p = s->raw.data + mark;
  size_t len = s->raw.len - (size_t)mark;
  s->at += got;
  if (o->dialect.encoding == TM_ENCODING_UTF16)
    tm_utf16_add(&s->utf16, &s->text, p, len, &bad);
  else if (o->format == TM_ROWS_JSON_LINES && o->dialect.encoding != TM_ENCODING_UTF8)
    tm_rows_add_utf8(&s->text, o->dialect.encoding, p, len);
  else
    tm_buf_add(&s->text, p, len);
  if (o->dialect.encoding == TM_ENCODING_UTF16 && s->is_whole)
    tm_utf16_end(&s->utf16, &s->text, &bad);
  return 0;
}

int tm_sample_read(struct tm_sample *s, const struct tm_rows_options *o,
                   const struct tm_rows_file *file, size_t n, struct tm_err *err)
{
  tm_buf_clear(&s->text);
  s->at = 0;
  return add_piece(s, o, file, n, err);
}

/* Headers -------------------------------------------------------------------------------------- */

/* Measures the current piece. */
static int measure(struct tm_sample *s, struct tm_first_row *row, struct tm_err *err)
{
  size_t mark = s->at == (int64_t)s->raw.len ? (size_t)s->mark : 0; /* of the first piece */
  const char *p = tm_buf_str(&s->raw) + mark;
  size_t n = s->raw.len - mark;
  if (row->unit == 2) {
    tm_buf_clear(&s->narrowed);
    tm_utf16_narrow(tm_buf_extend(&s->narrowed, n / 2), p, n & ~(size_t)1, s->big_endian);
    p = tm_buf_str(&s->narrowed);
    n = s->narrowed.len;
  }
  return tm_first_row_add(row, p, n, err);
}

/* Reads until the first row ends, without keeping the text. */
static int measure_rest(struct tm_sample *s, const struct tm_rows_options *o,
                        const struct tm_rows_file *file, struct tm_first_row *row,
                        struct tm_err *err)
{
  int rc = 0;
  while (rc == 0 && !row->is_done && !s->is_whole) {
    tm_buf_clear(&s->text);
    rc = add_piece(s, o, file, SAMPLE, err);
    if (rc == 0)
      rc = measure(s, row, err);
  }
  return rc;
}

int64_t tm_sample_read_header(struct tm_sample *s, const struct tm_rows_options *o,
                              const struct tm_rows_file *file, struct tm_schema *names,
                              struct tm_err *err)
{
  struct tm_first_row row;
  int rc = tm_sample_read(s, o, file, SAMPLE, err);
  if (rc < 0)
    return rc;
  tm_first_row_begin(&row, &o->dialect, s->mark, o->dialect.encoding == TM_ENCODING_UTF16 ? 2 : 1);
  row.path = file->path;
  rc = measure(s, &row, err);
  if (rc == 0 && !row.is_done && !s->is_whole) {
    rc = measure_rest(s, o, file, &row, err);
    if (rc == 0)
      rc = tm_sample_read(s, o, file, row.text * row.unit + SAMPLE, err);
  }
  int64_t len = rc < 0
                    ? rc
                    : tm_header_read(&o->dialect, tm_buf_str(&s->text), s->text.len, s->is_whole,
                                     tm_header_is_there(&o->dialect, file->is_first), names, err);
  return len < 0 && rc == 0 ? tm_err_wrap(err, "'%s'", file->path) : len;
}

/* Schemas -------------------------------------------------------------------------------------- */

/* Whether the file has only a header; then the next file tells more about its columns. */
static bool has_header_alone(const struct tm_rows_options *o, const struct tm_sample *s,
                             size_t header)
{
  const char *rows = tm_buf_str(&s->text) + header;
  return s->is_whole && tm_header_is_there(&o->dialect, false) &&
         tm_header_empty(rows, s->text.len - header) == s->text.len - header;
}

/* Reads more rows if the first look has too few. */
static int read_rows(struct tm_sample *s, const struct tm_rows_options *o,
                     const struct tm_rows_file *file, size_t header, struct tm_err *err)
{
  struct tm_scan scan;
  int rc = 0;
  tm_scan_init(&scan, &o->dialect, TM_SCAN_BEST);
  for (size_t at = header; rc == 0 && !s->is_whole && s->text.len - header < SAMPLE_MOST;) {
    at += tm_scan_rows(&scan, tm_buf_str(&s->text) + at, s->text.len - at, TM_INFER_ROWS);
    if (scan.rows == TM_INFER_ROWS)
      return 0;
    rc = add_piece(s, o, file, SAMPLE, err);
  }
  return rc;
}

static int find_delimited(struct tm_sample *s, const struct tm_rows_options *o,
                          const struct tm_rows_file *file, bool infer, bool infer_dates,
                          struct tm_schema *out, struct tm_err *err)
{
  int64_t header = tm_sample_read_header(s, o, file, out, err);
  if (header < 0)
    return (int)header;
  if (has_header_alone(o, s, (size_t)header)) {
    tm_schema_release(out);
    return 0;
  }
  if ((!infer && !infer_dates) || out->len == 0)
    return 0;
  int rc = read_rows(s, o, file, (size_t)header, err);
  if (rc == 0)
    (infer ? tm_infer_types : tm_infer_dates)(&o->dialect, tm_buf_str(&s->text) + header,
                                              s->text.len - (size_t)header, s->is_whole, out);
  return rc;
}

/* Reads lines as a stream, so that at most one is held; at least one object, if there is one. */
static int infer_lines(struct tm_sample *s, const struct tm_rows_options *o,
                       const struct tm_rows_file *file, struct tm_json_infer *f, struct tm_err *err)
{
  int64_t got = 0;
  s->at = 0;
  while (got >= 0 && !s->is_whole && !tm_json_infer_is_done(f) &&
         (s->at < (int64_t)SAMPLE_MOST || tm_json_infer_rows(f) == 0)) {
    size_t more = s->text.len < SAMPLE_MOST ? s->text.len & ~(size_t)1 : SAMPLE_MOST;
    int rc = add_piece(s, o, file, more > SAMPLE ? more : SAMPLE, err);
    if (rc < 0)
      return rc;
    got = tm_json_infer_add(f, tm_buf_str(&s->text), s->text.len, s->is_whole, err);
    if (got >= 0)
      tm_buf_remove_front(&s->text, (size_t)got);
  }
  if (got >= 0)
    return 0;
  int64_t at, line = tm_json_infer_line(f, &at);
  return tm_err_wrap(err, "'%s', line %" PRId64 " (byte %" PRId64 ")", file->path, line,
                     s->mark + at);
}

/* Appends the columns named in the options to the found ones. */
static int add_named(const struct tm_rows_options *o, const struct tm_rows_file *file,
                     struct tm_schema *out, struct tm_err *err)
{
  for (size_t i = 0; i < o->columns_len; i++) {
    const char *name = o->columns[i];
    if (tm_schema_find(out, name, strlen(name)) >= 0)
      continue;
    if (out->len >= tm_max_columns(&o->dialect.limits)) {
      tm_refuse_columns(&o->dialect.limits, err);
      return tm_err_wrap(err, "'%s', with the columns that are named", file->path);
    }
    tm_schema_add_exact(out, name, strlen(name));
  }
  return 0;
}

static int find_json(struct tm_sample *s, const struct tm_rows_options *o,
                     const struct tm_rows_file *file, struct tm_schema *out, struct tm_err *err)
{
  struct tm_json_lines_options json = tm_rows_json_options(o);
  struct tm_json_infer *f = tm_json_infer_new(&json, TM_INFER_ROWS, out);
  int rc = infer_lines(s, o, file, f, err);
  int64_t rows = tm_json_infer_rows(f);
  tm_json_infer_end(f);
  return rc == 0 && rows > 0 ? add_named(o, file, out, err) : rc;
}

int tm_rows_find_schema(const struct tm_rows_options *o, const struct tm_rows_file *file,
                        bool infer, const struct tm_column_setting *settings, size_t settings_len,
                        struct tm_schema *out, struct tm_err *err)
{
  struct tm_sample s = { .is_whole = false };
  bool infer_dates = tm_infer_needs_dates(settings, settings_len);
  int rc = o->format == TM_ROWS_DELIMITED
               ? find_delimited(&s, o, file, infer, infer_dates, out, err)
               : find_json(&s, o, file, out, err);
  tm_sample_release(&s);
  if (rc == 0 && out->len > 0)
    rc = tm_infer_set(out, settings, settings_len, err);
  return rc;
}
