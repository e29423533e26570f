/* header.h - the first row of a file: how its columns are named, and which column of the schema each of its fields is.
 *
 * Pure. A row that is empty is no row: the header is the first one that is not.
 */
#ifndef TM_DATA_ROWS_HEADER_H
#define TM_DATA_ROWS_HEADER_H

#include "data/rows/dialect.h"
#include "data/rows/scan.h"
#include "data/rows/schema.h"

/* The bytes of the byte order mark at the beginning of a file of this encoding: 0, 2 or 3. For UTF-16, *big_endian is
 * what it says. `n` is less than 3 only when the file is. */
size_t tm_header_mark(enum tm_encoding encoding, const char *p, size_t n, bool *big_endian);
/* TM_EUSAGE: text with the mark of UTF-16 is to be read as UTF-8; it would be rows of nonsense. */
int tm_header_check_mark(enum tm_encoding encoding, const char *p, size_t n, struct tm_err *err);

/* The bytes of the empty lines that the text begins with: nothing but CRs before their LF. */
size_t tm_header_empty(const char *p, size_t n);
/* The first row of p[0 .. n), which is the beginning of a file behind its byte order mark (UTF-16: as UTF-8). `names` is
 * empty and gets a column of strings for each field: named as the fields where the dialect has headers in this file
 * (`has_header`), else Column1, Column2, ... Returns the bytes up to the first row of values: of the header and of what is
 * empty before it; 0, and no names, when the row does not end within the bytes (and `is_whole`, that there are no more, is
 * false), or when there is no row. TM_EINPUT, and no names: the row is longer or has more fields than the limits. The message
 * begins with "line 1". */
int64_t tm_header_read(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                       bool has_header, struct tm_schema *names, struct tm_err *err);

/* The first row of a file, measured piece by piece: a row that exceeds the limits is never held.
 *
 * Steps: _begin; _add for each piece, until it is done, refused, or the file ends. The text is that of the file behind its byte
 * order mark; of UTF-16, what tm_utf16_narrow() makes of it. */
struct tm_first_row {
  const char *path; /* for messages, or NULL; the caller's, set after _begin */
  const struct tm_row_limits *limits;
  struct tm_scan scan;
  int64_t from;    /* byte of the file where the text began */
  size_t unit;     /* bytes of the file for each byte of text */
  uint64_t fields; /* whose ends have been seen */
  size_t text;     /* bytes so far */
  size_t record;   /* of these, the row with its line break */
  size_t crs;      /* behind the last empty line: they are of the row, or of one more empty line */
  int64_t line;    /* of the row, from 0 */
  bool has_begun, is_done;
};
void tm_first_row_begin(struct tm_first_row *f, const struct tm_dialect *d, int64_t from,
                        size_t unit);
/* 0, or TM_EINPUT with a message that begins with path, line and byte. */
int tm_first_row_add(struct tm_first_row *f, const char *p, size_t n, struct tm_err *err);

/* The file of this number, from 0, in its dataset begins with a header. */
bool tm_header_is_there(const struct tm_dialect *d, bool is_first_file);

/* fields[i], for field i of the header, is the column of that name, or -1. Room for names->len. */
void tm_header_map(const struct tm_schema *names, const struct tm_schema *schema, int32_t *fields);
/* Whether the header names the schema's columns, in their order. Else TM_EUSAGE, with words that name the first that
 * differs, and the way out. */
int tm_header_check(const struct tm_schema *names, const struct tm_schema *schema,
                    struct tm_err *err);

#endif
