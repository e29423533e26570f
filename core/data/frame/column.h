/* column.h - the columns of a data frame, as they lie in memory. The compiler and ffi.cdef both
 * read this file (without lines that begin with '#' for the latter), so it holds plain declarations
 * only.
 *
 * The layout is Arrow's, except that a bool takes a byte:
 *
 *   type      Lua sees               data
 *   bool      true, false            uint8_t, 0 or 1                                         b8
 *   long      number, beyond 2^53    int64_t                                                 i64
 *             a 64-bit integer
 *   double    number                 double                                                  f64
 *   string    string of any bytes    int32_t offsets, len + 1 of them: row i is              off32
 *                                    bytes[off32[i]] up to bytes[off32[i + 1]], not
 *                                    NUL-ended
 *                                    int64_t offsets likewise if is_wide: beyond 2 GB        off64
 *   datetime  seconds since the      int64_t, microseconds since 1970-01-01 00:00 UTC        i64
 *             epoch, UTC, with
 *             fractions
 *
 * A null is a row without a value: its bit in `validity` is 0, and its entry in `data` has no
 * meaning (offsets do not decrease there either). Null is neither NaN nor "". Rows are counted from
 * 0 here, from 1 in Lua.
 *
 * The first offset need not be 0: a slice of a column points into the column's own memory. Whoever
 * made a column owns that memory; a struct tm_column only points to it.
 */
#ifndef TM_DATA_FRAME_COLUMN_H
#define TM_DATA_FRAME_COLUMN_H

#include <stdint.h>

enum tm_column_type {
  TM_COLUMN_BOOL = 1,
  TM_COLUMN_LONG = 2,
  TM_COLUMN_DOUBLE = 3,
  TM_COLUMN_STRING = 4,
  TM_COLUMN_DATETIME = 5
};

struct tm_column {
  union {
    void *data;
    uint8_t *b8;
    int64_t *i64;
    double *f64;
    int32_t *off32;
    int64_t *off64;
  };
  char *bytes;       /* of strings; NULL for other types, and possibly if all strings are empty */
  uint8_t *validity; /* bit i & 7 of byte i >> 3: row i has a value. NULL: no row is null */
  int64_t len;       /* rows */
  int32_t type;      /* enum tm_column_type */
  int32_t is_wide;   /* a string column with offsets in off64 */
  int32_t is_date;   /* a datetime column of dates only: midnight is written as 2026-01-31 */
};

#endif
