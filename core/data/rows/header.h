/* header.h - the first row of a file: the names of its columns, and the column of the schema for
 * each of its fields.
 *
 * Pure. An empty row does not count: the header is the first one that is not empty.
 */
#ifndef TM_DATA_ROWS_HEADER_H
#define TM_DATA_ROWS_HEADER_H

#include "data/rows/dialect.h"
#include "data/rows/scan.h"
#include "data/rows/schema.h"

/* The length of the byte order mark at the beginning of a file of this encoding: 0, 2 or 3. For
 * UTF-16, sets *big_endian from it. `n` is less than 3 only if the file is. */
size_t tm_header_mark(enum tm_encoding encoding, const char *p, size_t n, bool *big_endian);
/* TM_EUSAGE: the file would give meaningless rows. It is an archive or a database, or text with the
 * mark of UTF-16 that would be read as UTF-8. */
int tm_header_check_start(enum tm_encoding encoding, const char *p, size_t n, struct tm_err *err);

/* The length of the leading empty lines, which have only CRs before their LF. */
size_t tm_header_empty(const char *p, size_t n);
/* Reads the first row of p[0 .. n), the beginning of a file after its byte order mark (UTF-16: as
 * UTF-8). `names` is empty and gets a column of strings for each field: named after the fields if
 * this file has a header (`has_header`), else Column1, Column2, ... Returns the bytes before the
 * first row of values: empty lines and the header. 0, without names, if there is no row, or if the
 * row does not end within the bytes and `is_whole` (there are no more) is false. TM_EINPUT, without
 * names: the row is longer or has more fields than the limits. The message begins with "line 1". */
int64_t tm_header_read(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                       bool has_header, struct tm_schema *names, struct tm_err *err);

/* Measures the first row of a file piece by piece, so that a row that exceeds the limits is never
 * held.
 *
 * Steps: _begin; _add for each piece, until it is done, refused, or the file ends. The text is that
 * of the file after its byte order mark; for UTF-16, the output of tm_utf16_narrow(). */
struct tm_first_row {
  const char *path; /* for messages, or NULL; the caller's, set after _begin */
  const struct tm_row_limits *limits;
  struct tm_scan scan;
  int64_t from;    /* offset of the text in the file */
  size_t unit;     /* bytes of the file per byte of text */
  uint64_t fields; /* that have ended */
  size_t text;     /* bytes so far */
  size_t record;   /* bytes of the row, with its line break */
  size_t crs;      /* after the last empty line: they belong to the row, or to another empty line */
  int64_t line;    /* of the row, from 0 */
  bool has_begun, is_done;
};
void tm_first_row_begin(struct tm_first_row *f, const struct tm_dialect *d, int64_t from,
                        size_t unit);
/* 0, or TM_EINPUT with a message that begins with path, line and byte. */
int tm_first_row_add(struct tm_first_row *f, const char *p, size_t n, struct tm_err *err);

/* Whether the file (first or not) begins with a header. */
bool tm_header_is_there(const struct tm_dialect *d, bool is_first_file);

/* Sets fields[i], for field i of the header, to the column of that name, or -1. Room for
 * names->len. */
void tm_header_map(const struct tm_schema *names, const struct tm_schema *schema, int32_t *fields);
/* Whether the header has the names of the schema's columns, in their order. Else TM_EUSAGE, with a
 * message that names the first difference, and the remedy. */
int tm_header_check(const struct tm_schema *names, const struct tm_schema *schema,
                    struct tm_err *err);

#endif
