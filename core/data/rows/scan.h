/* scan.h - where rows and fields of delimited text end, at memory speed.
 *
 * A machine of four states reads the text; they are the same as in common readers (for example
 * Python's csv module):
 *
 *    FIELD   a field begins here        '"' -> QUOTED       separator, LF -> FIELD   else -> PLAIN
 *    PLAIN   in a field without quotes                      separator, LF -> FIELD   else -> PLAIN
 *    QUOTED  in a quoted field          '"' -> CLOSED                                else -> QUOTED
 *    CLOSED  after the second quote     '"' -> QUOTED ("")  separator, LF -> FIELD   else -> PLAIN
 *
 * In PLAIN, '"' is an ordinary character; in QUOTED, so is LF with multi_line.
 * So a quote counts only at the beginning of a field. Blocks of 64 bytes are handled by quote
 * parity; a block in which parity and the machine could differ (a quote within a field, a line
 * break within quotes where those end the row) is handled byte by byte. All kernels give the same
 * results on every input.
 *
 * Pure: bytes in, positions out. A scan continues from call to call; any split of the text gives
 * the same result.
 */
#ifndef TM_DATA_ROWS_SCAN_H
#define TM_DATA_ROWS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/rows/dialect.h"

enum tm_scan_state { TM_SCAN_FIELD, TM_SCAN_PLAIN, TM_SCAN_QUOTED, TM_SCAN_CLOSED };

/* The instruction set. BEST is the fastest one that this machine has. */
enum tm_scan_kind { TM_SCAN_BEST, TM_SCAN_BYTES, TM_SCAN_SSE2, TM_SCAN_AVX2 };

struct tm_scan_kernel;

struct tm_scan {
  const struct tm_scan_kernel *kernel;
  char separator;
  bool has_quotes;
  bool multi_line;
  enum tm_scan_state state;
  uint64_t rows;     /* row ends so far */
  uint64_t unclosed; /* rows that ended inside quotes (only without multi_line) */
  bool saw_quote;    /* set by _fields: there was a '"'; */
  bool saw_high;     /* and a byte above 127 */
};

/* Where fields end: at[i] is the position of the separator or line break after field i; at[-1] + 1
 * is 0. rows[j] is the number of fields up to and including the last one of row j. Zero-initialised
 * is empty and ready. There is always room for one more. */
struct tm_marks {
  uint32_t *at;
  uint32_t *rows;
  size_t at_len, rows_len;
  size_t cap; /* of both */
};
void tm_marks_release(struct tm_marks *m);

/* False if this machine does not support `kind`; *s is then as for TM_SCAN_BYTES. */
bool tm_scan_init(struct tm_scan *s, const struct tm_dialect *d, enum tm_scan_kind kind);
const char *tm_scan_name(const struct tm_scan *s); /* "avx2", "sse2", "bytes" */

/* Scans up to n bytes, and stops right after the line break that ends row number `until` (counted
 * from 1, like s->rows). Returns the number of bytes scanned; n if that row does not end in them.
 */
size_t tm_scan_rows(struct tm_scan *s, const char *p, size_t n, uint64_t until);

/* Counts the fields of one row without storing them, byte by byte: for a first row of any length.
 * Scans up to n bytes, and stops right after the row's line break, when s->rows is 1, or after the
 * field that makes `*fields` equal to `until`. Returns the bytes. At the end of a file, the last
 * field has no end and is not counted. */
size_t tm_scan_count_fields(struct tm_scan *s, const char *p, size_t n, uint64_t *fields,
                            uint64_t until);

/* The fields of p[0 .. n), n < 4 GB, which begins with a row; marks are counted from p and
 * replaced. */
void tm_scan_fields(struct tm_scan *s, const char *p, size_t n, struct tm_marks *out);

#endif
