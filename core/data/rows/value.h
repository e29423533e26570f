/* value.h - one field of text as a value of a column's type.
 *
 * Each parser takes the whole field, without surrounding blanks and tabs, or returns false and
 * leaves *out unchanged. Nothing depends on the host's locale. Decimals are rounded exactly: to the
 * nearest double, ties to even.
 */
#ifndef TM_DATA_ROWS_VALUE_H
#define TM_DATA_ROWS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal digits with or without a sign, within int64. */
bool tm_value_long(const char *p, size_t n, int64_t *out);
/* A decimal number ("1", "-.5", "2.5e-3"), "nan", "inf", "infinity" in any case. Beyond a double:
 * false. */
bool tm_value_double(const char *p, size_t n, double *out);
/* "true", "false" in any case, "1", "0". */
bool tm_value_bool(const char *p, size_t n, uint8_t *out);

/* Microseconds since 1970-01-01 00:00 UTC; years 1 to 9999; UTC if there is no zone. Digits beyond
 * microseconds are cut off.
 *
 * ISO 8601: 2026-01-31, 2026-01-31T23:59, 2026-01-31 23:59:58.123456789; a time may end in Z,
 * +02:00, +0200 or +02. */
bool tm_value_datetime(const char *p, size_t n, int64_t *out);
/* Whether it is a date like 2026-01-31, without a time of day or a zone. */
bool tm_value_is_date(const char *p, size_t n);
/* By a format of %Y %y %m %b %B %d %H %I %M %S %f %p %z %% and literal characters; English names,
 * in any case. %y is 1969 to 2068. Numbers may have fewer digits than the maximum. Parts that the
 * format lacks are 1 January 1970, 00:00. */
bool tm_value_datetime_by(const char *format, const char *p, size_t n, int64_t *out);
/* NULL, or the place in `format` of an unknown directive. */
const char *tm_value_bad_format(const char *format);

/* w * 10^exponent, rounded exactly; false if neither of the fast ways applies (the caller then
 * takes the slow one). */
bool tm_value_scale(uint64_t w, int exponent, double *out);

#endif
