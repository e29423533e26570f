/* header.h - the first row of a file: how its columns are named, and which column of the schema each of its fields is.
 *
 * Pure. A row that is empty is no row: the header is the first one that is not.
 */
#ifndef TM_DATA_ROWS_HEADER_H
#define TM_DATA_ROWS_HEADER_H

#include "data/rows/dialect.h"
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
 * false), or when there is no row. */
size_t tm_header_read(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                      bool has_header, struct tm_schema *names);

/* The file of this number, from 0, in its dataset begins with a header. */
bool tm_header_is_there(const struct tm_dialect *d, bool is_first_file);

/* fields[i], for field i of the header, is the column of that name, or -1. Room for names->len. */
void tm_header_map(const struct tm_schema *names, const struct tm_schema *schema, int32_t *fields);
/* Whether the header names the schema's columns, in their order. Else TM_EUSAGE, with words that name the first that
 * differs, and the way out. */
int tm_header_check(const struct tm_schema *names, const struct tm_schema *schema,
                    struct tm_err *err);

#endif
