/* encoding.h - converts text in the encodings of files to UTF-8. Pure. */
#ifndef TM_DATA_ROWS_ENCODING_H
#define TM_DATA_ROWS_ENCODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "data/rows/dialect.h"

bool tm_rows_is_ascii(const char *p, size_t n);
bool tm_rows_is_utf8(const char *p, size_t n); /* fast for ASCII */

/* Adds the text as UTF-8; invalid characters become U+FFFD. Not for UTF-16. Returns the number of
 * invalid characters. */
size_t tm_rows_add_utf8(struct tm_buf *out, enum tm_encoding encoding, const char *p, size_t n);

/* UTF-16 in pieces. A byte order mark in the first two bytes of a file sets the byte order and is
 * left out. `big_endian` is for files, and parts of files, without one. */
struct tm_utf16 {
  bool big_endian;
  uint16_t high; /* the first half of a pair, or 0 */
};
/* Adds p[0 .. n) as UTF-8 and returns how many bytes it took: all except an odd last one. `bad`
 * counts lone halves, which become U+FFFD. */
size_t tm_utf16_add(struct tm_utf16 *u, struct tm_buf *out, const char *p, size_t n, size_t *bad);
/* The end of the text. */
void tm_utf16_end(struct tm_utf16 *u, struct tm_buf *out, size_t *bad);
/* The size of this UTF-8 text in UTF-16, bytes. */
int64_t tm_utf16_size(const char *p, size_t n);
/* The size of this UTF-8 text in its file, from which tm_rows_add_utf8() or tm_utf16_add() made
 * it. */
int64_t tm_rows_size_in_file(enum tm_encoding encoding, const char *p, size_t n);
/* Converts each unit of two bytes to one byte: itself if ASCII, else 0x80. Row boundaries are
 * searched in this. n is even. */
void tm_utf16_narrow(char *out, const char *p, size_t n, bool big_endian);

#endif
