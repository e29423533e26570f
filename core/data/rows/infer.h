/* infer.h - the types of columns, from the first rows.
 *
 * A column whose values are all true or false is bool; all integers within 64 bits: long; all decimals or such integers:
 * double; all ISO 8601 dates or times: datetime; anything else, or no value at all: string. An integer that begins with a
 * 0 that is not its only digit ("007"), or that 64 bits do not hold, makes its column a string: as a number it would not
 * be what it was. A datetime column whose values are all dates, without a time of day, is one of dates (is_date).
 */
#ifndef TM_DATA_ROWS_INFER_H
#define TM_DATA_ROWS_INFER_H

#include "data/rows/dialect.h"
#include "data/rows/schema.h"

#define TM_INFER_ROWS 200

/* What the definition says of a column (set_column_types). */
struct tm_column_setting {
  const char *name;
  enum tm_column_type type;
  const char *const *formats; /* of a datetime */
  size_t formats_len;
};

/* The types of `schema` (all strings, from tm_header_read()) from p[0 .. n), rows of values; only the first TM_INFER_ROWS
 * are looked at. The last row may be cut off where `is_whole` is false; then it is left out. */
void tm_infer_types(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                    struct tm_schema *schema);
/* The same, but that all types stay strings: for a column that is set to datetime later, is_date has been found. */
void tm_infer_dates(const struct tm_dialect *d, const char *p, size_t n, bool is_whole,
                    struct tm_schema *schema);
/* Whether a setting needs that: a datetime without formats. */
bool tm_infer_needs_dates(const struct tm_column_setting *settings, size_t len);
/* Types that are set go over what was inferred. TM_EUSAGE with words for a column that is not there. */
int tm_infer_set(struct tm_schema *schema, const struct tm_column_setting *settings, size_t len,
                 struct tm_err *err);

/* For readers of other formats: what a text could be, as a set of bits (1 << type, and TM_INFER_DATE); a column can be what
 * all of its texts can. _of_set gives a column the type of such a set, string for one without values. */
#define TM_INFER_DATE (1u << 6)
unsigned tm_infer_text(const char *p, size_t n);
void tm_infer_of_set(struct tm_schema_column *c, unsigned set);

#endif
