/* infer.h - the types of columns, from the first rows.
 *
 * A column whose values are all true or false is bool; all integers within 64 bits: long; all
 * decimals or such integers: double; all ISO 8601 dates or times: datetime; anything else, or no
 * value at all: string. An integer with a leading 0 ("007"), or beyond 64 bits, makes its column a
 * string: as a number it would change. A datetime column whose values are all dates, without a time
 * of day, is_date.
 */
#ifndef TM_DATA_ROWS_INFER_H
#define TM_DATA_ROWS_INFER_H

#include "data/rows/dialect.h"
#include "data/rows/schema.h"

/* A column's setting in the definition (set_column_types). */
struct tm_column_setting {
  const char *name;
  enum tm_column_type type;
  const char *const *formats; /* of a datetime */
  size_t formats_len;
};

/* Infers the types of `schema` (all strings, from tm_header_read()) from p[0 .. n), rows of values;
 * only from the first TM_INFER_ROWS. If `is_whole` is false, an incomplete last row is ignored. */
void tm_infer_types(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                    struct tm_schema *schema);
/* Like tm_infer_types(), but all types stay strings: only is_date is found, for columns that are
 * set to datetime later. */
void tm_infer_dates(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                    struct tm_schema *schema);
/* Whether a setting needs that: a datetime without formats. */
bool tm_infer_needs_dates(const struct tm_column_setting *settings, size_t len);
/* Applies the settings over inferred types. TM_EUSAGE with a message if a column does not exist. */
int tm_infer_set(struct tm_schema *schema, const struct tm_column_setting *settings, size_t len,
                 struct tm_err *err);

/* For readers of other formats: the possible types of a text, as a set of bits (1 << type, and
 * TM_INFER_DATE); a column has the types common to all of its texts. _of_set gives a column the
 * type of such a set, string if there are no values. */
#define TM_INFER_DATE (1u << 6)
unsigned tm_infer_text(const char *p, size_t n);
void tm_infer_of_set(struct tm_schema_column *c, unsigned set);

#endif
