/* text.h - text of the encodings of files as UTF-8. Pure. */
#ifndef TM_DATA_ROWS_TEXT_H
#define TM_DATA_ROWS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "data/rows/dialect.h"

bool tm_rows_is_ascii(const char *p, size_t n);
bool tm_rows_is_utf8(const char *p, size_t n); /* fast where it is ASCII */

/* Adds the text as UTF-8; what is no character of the encoding becomes U+FFFD. Not for UTF-16. Returns how often it
 * did. */
size_t tm_rows_add_utf8(struct tm_buf *out, enum tm_encoding encoding, const char *p, size_t n);

/* UTF-16 in pieces. The first two bytes of a file say the order of the bytes when they are a byte order mark, which is
 * left out. `big_endian` is for files and parts of files without. */
struct tm_utf16 {
  bool big_endian;
  uint16_t high; /* half of a pair that waits for the other, or 0 */
};
/* Adds p[0 .. n) as UTF-8 and returns how many bytes it took: all but an odd one at the end. `bad` counts lone halves,
 * which become U+FFFD. */
size_t tm_utf16_add(struct tm_utf16 *u, struct tm_buf *out, const char *p, size_t n, size_t *bad);
/* The end of the text. */
void tm_utf16_end(struct tm_utf16 *u, struct tm_buf *out, size_t *bad);
/* The bytes that this UTF-8 text took in UTF-16. */
int64_t tm_utf16_size(const char *p, size_t n);
/* The bytes that this UTF-8 text took in a file of the encoding, which tm_rows_add_utf8() or tm_utf16_add() made it of. */
int64_t tm_rows_size_in_file(enum tm_encoding encoding, const char *p, size_t n);
/* One byte for each unit of two: itself where it is ASCII, else 0x80. Row borders are found in this. n is even. */
void tm_utf16_narrow(char *out, const char *p, size_t n, bool big_endian);

#endif
