/* frame_text.h - values of a data frame as text: fields, and delimited rows.
 *
 *   null      nothing         bool      true, false
 *   long      digits          double    0.1, 175.0, 1e+300, nan, inf, -inf: never only digits
 *   string    its bytes       datetime  2026-01-31T23:59:58Z, with .5 or .123456 for a fraction;
 *                                       in a column of dates (is_date) midnight is 2026-01-31
 *
 * In a delimited row, a field is in double quotes, doubled inside, if it holds the separator, a
 * quote or a line break, begins or ends with a blank, or is an empty string, which distinguishes it
 * from null. If a row has only one field, null is "" too, since an empty line is not a row.
 */
#ifndef TM_DATA_FRAME_FRAME_TEXT_H
#define TM_DATA_FRAME_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/frame/column.h"

void tm_frame_add_value(struct tm_buf *out, const struct tm_column *c, int64_t row);
/* One field of a header or row, quoted where needed. */
void tm_frame_add_field(struct tm_buf *out, const char *s, size_t n, char separator);
/* The names (bytes32 each, valid), separated, and '\n'. */
void tm_frame_add_header(struct tm_buf *out, const char *names, size_t names_len, char separator);
/* `len` rows of n columns, each with '\n'. `escapes`: a line break or backslash in a string is
 * written as \n, \r and \\; else it stays, in quotes. */
void tm_frame_add_rows(struct tm_buf *out, const struct tm_column *const *columns, size_t n,
                       int64_t len, char separator, bool escapes);
/* `len` rows as JSON objects, each with '\n': members in the order of the columns; null for null
 * and for a double that is not finite; a datetime as a string. 0; TM_EDAMAGE with row and column: a
 * string, or the name of a column, is not UTF-8. */
int tm_frame_add_json_rows(struct tm_buf *out, const struct tm_column *const *columns,
                           const char *const *names, size_t n, int64_t len, struct tm_err *err);

/* The same rows with fields in another order: field i becomes what was field from[i]; there are n
 * fields. */
void tm_frame_reorder_rows(struct tm_buf *out, const char *rows, size_t rows_len, char separator,
                           const size_t *from, size_t n);

#endif
