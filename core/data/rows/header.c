/* header.c - names from the first row. */
#include "data/rows/header.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/frame/frame.h"
#include "data/rows/delimited.h"

size_t tm_header_mark(enum tm_encoding encoding, const char *p, size_t n, bool *big_endian)
{
  *big_endian = false;
  if (encoding == TM_ENCODING_UTF16) {
    *big_endian = n >= 2 && memcmp(p, "\xfe\xff", 2) == 0;
    return n >= 2 && (*big_endian || memcmp(p, "\xff\xfe", 2) == 0) ? 2 : 0;
  }
  return n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Files that are often given in place of a table, by bytes at a fixed place. Each has a byte there
 * that no table has. The one after PAR1 begins the first structure of every Parquet file. */
static const struct {
  size_t at;
  const char *bytes;
  size_t len;
  const char *words;
} foreign[] = {
  { 0, "PK\x03\x04", 4,
    "it is a zip archive (as .xlsx files are), not a table; from_archives, or map --entries, reads "
    "its entries" },
  { 0, "SQLite format 3", 16,
    "it is an SQLite database, not a table; from_sql_query(path, query) in a pipeline file reads "
    "the rows of a query" },
  { 0, "PAR1\x15", 5, "it is a Parquet file, which this program cannot read; convert it to CSV" },
  { 256, "\0ustar", 6,
    "it is a tar archive, not a table; from_archives, or map --entries, reads its entries" },
};

int tm_header_check_start(enum tm_encoding encoding, const char *p, size_t n, struct tm_err *err)
{
  for (size_t i = 0; i < TM_COUNT_OF(foreign); i++)
    if (n >= foreign[i].at + foreign[i].len &&
        memcmp(p + foreign[i].at, foreign[i].bytes, foreign[i].len) == 0)
      return tm_err_set(err, TM_EUSAGE, "%s", foreign[i].words);

  bool has_mark = n >= 2 && (memcmp(p, "\xff\xfe", 2) == 0 || memcmp(p, "\xfe\xff", 2) == 0);
  if (encoding != TM_ENCODING_UTF8 || !has_mark)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "it begins with the byte order mark of UTF-16, and is read as UTF-8; set "
                    "encoding = \"utf16\"");
}

bool tm_header_is_there(const struct tm_dialect *d, bool is_first_file)
{
  return d->header == TM_HEADER_ALL_SAME || d->header == TM_HEADER_DIFFERENT ||
         (d->header == TM_HEADER_FIRST_FILE && is_first_file);
}

size_t tm_header_empty(const char *p, size_t n)
{
  size_t rows = 0;
  for (size_t at = 0; at < n && (p[at] == '\r' || p[at] == '\n'); at++)
    if (p[at] == '\n')
      rows = at + 1;
  return rows;
}

/* Measuring the first row ---------------------------------------------------------------------- */

void tm_first_row_begin(struct tm_first_row *f, const struct tm_dialect *d, int64_t from,
                        size_t unit)
{
  *f = (struct tm_first_row) { .limits = &d->limits, .from = from, .unit = unit };
  tm_scan_init(&f->scan, d, TM_SCAN_BEST);
}

/* Scans text of the row. */
static void count(struct tm_first_row *f, const char *p, size_t n)
{
  size_t len = tm_scan_count_fields(&f->scan, p, n, &f->fields, tm_max_columns(f->limits));
  f->record += len;
  f->text += len;
  f->is_done = f->scan.rows > 0;
}

/* Skips leading empty lines, and CRs after them, which may belong to another one. */
static size_t skip_empty(struct tm_first_row *f, const char *p, size_t n)
{
  size_t at = 0;
  for (; at < n && (p[at] == '\r' || p[at] == '\n'); at++) {
    f->line += p[at] == '\n';
    f->crs = p[at] == '\n' ? 0 : f->crs + 1;
  }
  f->text += at;
  f->has_begun = at < n;
  if (f->has_begun && f->crs > 0) { /* to the scan, several CRs are like one */
    f->text--;
    f->record = f->crs - 1;
    count(f, "\r", 1);
  }
  return at;
}

/* At the limit of fields, the row continues with one field more. */
static int check(const struct tm_first_row *f, struct tm_err *err)
{
  bool is_long = f->record > tm_max_record_size(f->limits) + 2; /* 2 for the line break */
  bool is_broad = !f->is_done && f->fields >= tm_max_columns(f->limits);
  if (!is_long && !is_broad)
    return 0;
  int rc = is_broad ? tm_refuse_columns(f->limits, err)
                    : tm_refuse_record(f->limits, "a header or first row", err);
  size_t at = is_broad ? f->text : f->text - f->record;
  tm_err_wrap(err, "%s%s%sline %" PRId64 " (byte %" PRId64 ")", f->path ? "'" : "",
              f->path ? f->path : "", f->path ? "', " : "", f->line + 1,
              f->from + (int64_t)(at * f->unit));
  return rc;
}

int tm_first_row_add(struct tm_first_row *f, const char *p, size_t n, struct tm_err *err)
{
  size_t at = f->has_begun ? 0 : skip_empty(f, p, n);
  if (!f->has_begun || f->is_done)
    return 0;
  count(f, p + at, n - at);
  return check(f, err);
}

/* Names ---------------------------------------------------------------------------------------- */

/* Parses the row as text fields, with the reader of all other rows. */
static void read_names(const struct tm_dialect *d, const char *p, size_t n, size_t count,
                       struct tm_schema *names)
{
  struct tm_schema texts = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_dialect lenient = *d;
  struct tm_data_frame frame;
  struct tm_err err = TM_ERR_NONE;
  lenient.ragged = TM_RAGGED_NULL;
  lenient.misfit = TM_MISFIT_NULL;
  lenient.empty_as_string = true;
  for (size_t i = 0; i < count; i++)
    tm_schema_add(&texts, "", 0);
  struct tm_delimited *reader = tm_delimited_new(&lenient, &texts, TM_SCAN_BEST);
  tm_delimited_begin(reader, &arena, &(struct tm_delimited_source) { .at = 0 });
  tm_delimited_add(reader, p, n, true, &err);
  tm_delimited_end(reader, &frame);
  for (size_t i = 0; i < count; i++) {
    size_t len = 0;
    const char *name = frame.len > 0 ? tm_column_string(&frame.columns[i], 0, &len) : "";
    tm_schema_add(names, name, len);
  }
  tm_delimited_free(reader);
  tm_arena_release(&arena);
  tm_schema_release(&texts);
}

int64_t tm_header_read(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                       bool has_header, struct tm_schema *names, struct tm_err *err)
{
  struct tm_first_row row;
  size_t from = tm_header_empty(p, n);
  tm_first_row_begin(&row, d, 0, 1);
  int rc = tm_first_row_add(&row, p, n, err);
  if (rc < 0)
    return rc;
  if (row.record == 0 || (!row.is_done && !is_whole))
    return 0;
  size_t fields = row.fields + !row.is_done;
  if (has_header)
    read_names(d, p + from, row.record, fields, names);
  else
    for (size_t i = 0; i < fields; i++)
      tm_schema_add(names, "", 0);
  return (int64_t)(has_header ? from + row.record : from);
}

void tm_header_map(const struct tm_schema *names, const struct tm_schema *schema, int32_t *fields)
{
  for (size_t i = 0; i < names->len; i++) {
    const char *name = names->columns[i].name;
    long at = tm_schema_find(schema, name, strlen(name));
    fields[i] = at >= 0 && !schema->columns[at].of_file ? (int32_t)at : -1;
  }
}

int tm_header_check(const struct tm_schema *names, const struct tm_schema *schema,
                    struct tm_err *err)
{
  size_t i = 0, fields = 0;
  for (size_t k = 0; k < schema->len; k++)
    fields += !schema->columns[k].of_file;
  if (names->len != fields)
    return tm_err_set(err, TM_EUSAGE,
                      "the header has %zu %s, that of the first file %zu; for files with headers "
                      "of their own set header = \"all_files_different\"",
                      names->len, tm_text_counted((int64_t)names->len, "column", "columns"),
                      fields);
  for (size_t k = 0; k < schema->len; k++) {
    if (schema->columns[k].of_file)
      continue;
    if (strcmp(names->columns[i].name, schema->columns[k].name) != 0)
      return tm_err_set(
          err, TM_EUSAGE,
          "column %zu of the header is '%s', in the first file it is '%s'; for files with "
          "headers of their own set header = \"all_files_different\"",
          i + 1, names->columns[i].name, schema->columns[k].name);
    i++;
  }
  return 0;
}
