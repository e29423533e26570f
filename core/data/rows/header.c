/* header.c - names out of the first row. */
#include "data/rows/header.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "data/frame.h"
#include "data/rows/delimited.h"
#include "data/rows/text.h"

size_t tm_header_mark(enum tm_encoding encoding, const char *p, size_t n, bool *big_endian)
{
  *big_endian = false;
  if (encoding == TM_ENCODING_UTF16) {
    *big_endian = n >= 2 && memcmp(p, "\xfe\xff", 2) == 0;
    return n >= 2 && (*big_endian || memcmp(p, "\xff\xfe", 2) == 0) ? 2 : 0;
  }
  return n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

int tm_header_check_mark(enum tm_encoding encoding, const char *p, size_t n, struct tm_err *err)
{
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

/* How many fields the row has, which is all of p[0 .. n). */
static size_t count_fields(const struct tm_dialect *d, const char *p, size_t n)
{
  struct tm_scan scan;
  struct tm_marks marks = { 0 };
  tm_scan_init(&scan, d, TM_SCAN_BEST);
  tm_scan_fields(&scan, p, n, &marks);
  size_t count = marks.at_len + (marks.rows_len == 0);
  tm_marks_release(&marks);
  return count;
}

/* The fields of the row as text, through the reader of all other rows. */
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

size_t tm_header_read(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                      bool has_header, struct tm_schema *names)
{
  struct tm_scan scan;
  size_t from = tm_header_empty(p, n);
  tm_scan_init(&scan, d, TM_SCAN_BEST);
  size_t len = tm_scan_rows(&scan, p + from, n - from, 1);
  if (len == 0 || (scan.rows == 0 && !is_whole))
    return 0;
  size_t count = count_fields(d, p + from, len);
  if (has_header)
    read_names(d, p + from, len, count, names);
  else
    for (size_t i = 0; i < count; i++)
      tm_schema_add(names, "", 0);
  return has_header ? from + len : from;
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
    return tm_err_set(
        err, TM_EUSAGE,
        "the header has %zu columns, that of the first file %zu; for files with headers "
        "of their own set header = \"all_files_different\"",
        names->len, fields);
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
