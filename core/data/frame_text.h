/* frame_text.h - values of a data frame as text: fields, and delimited rows.
 *
 *   null      nothing                             bool      true, false
 *   long      digits                              double    as rows of numbers are: 0.1, 1e+300, nan, inf, -inf
 *   string    its bytes                           datetime  2026-01-31T23:59:58Z, with .5 or .123456 where it has a fraction
 *
 * In a delimited row a field is in double quotes, doubled inside, when it holds the separator, a quote or a line break,
 * begins or ends with a blank, or is a string of no bytes: that is how it differs from null.
 */
#ifndef TM_DATA_FRAME_TEXT_H
#define TM_DATA_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/column.h"

/* What a line break in a string becomes. */
enum tm_line_break {
  TM_LINE_BREAK_QUOTED,  /* stays, in quotes */
  TM_LINE_BREAK_ESCAPED, /* \n and \r, and a backslash \\ */
  TM_LINE_BREAK_REFUSED
};

void tm_frame_add_value(struct tm_buf *out, const struct tm_column *c, int64_t row);
/* One field of a header or row, quoted where needed. */
void tm_frame_add_field(struct tm_buf *out, const char *s, size_t n, char separator);
/* Names, separated, and '\n'. */
void tm_frame_add_header(struct tm_buf *out, const char *const *names, size_t n, char separator);
/* Rows [from, to) of n columns, each with '\n'. TM_ESCRIPT when a line break is refused: words name column and row; `out`
 * is as before. */
int tm_frame_add_rows(struct tm_buf *out, const struct tm_column *const *columns,
                      const char *const *names, size_t n, int64_t from, int64_t to, char separator,
                      enum tm_line_break line_break, struct tm_err *err);

#endif
