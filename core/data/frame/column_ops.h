/* column_ops.h - operations on whole columns. They allocate nothing: the caller provides all
 * memory. The compiler and ffi.cdef both read this file, after column.h. Lua calls the functions
 * through one table of pointers, so that the program need not export them.
 *
 * Rows are numbered from 0, in lists of int32_t: a frame has at most 2^31 - 1 rows.
 *
 *   order      numbers by value (-0 equals 0), NaN after all numbers, false before true, strings by
 *              bytes; null last
 *   equality   as in the order: NaN equals NaN, null equals null
 */
#ifndef TM_DATA_FRAME_COLUMN_OPS_H
#define TM_DATA_FRAME_COLUMN_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "data/frame/column.h"

/* Of the rows that are not null. */
struct tm_column_summary {
  int64_t count;   /* rows with a value */
  int64_t sum_i64; /* of bool (rows that are true) and long; valid if is_exact */
  int64_t min_row; /* the first row with the smallest value, ignoring NaN; -1: none */
  int64_t max_row;
  double sum;       /* of bool, long, double, datetime (in microseconds) */
  double spread;    /* the sum of squared distances from the mean */
  int32_t is_exact; /* sum_i64 did not overflow */
};

enum tm_comparison {
  TM_IS_EQUAL = 1,
  TM_IS_NOT_EQUAL = 2,
  TM_IS_LESS = 3,
  TM_IS_AT_MOST = 4,
  TM_IS_MORE = 5,
  TM_IS_AT_LEAST = 6
};

/* The value that a column is compared with. It has the column's type; for numbers, i64 and f64 fit
 * either. */
struct tm_value {
  int64_t i64; /* bool, long, datetime; valid if is_integer */
  double f64;
  const char *string;
  size_t string_len;
  int32_t is_integer;
};

struct tm_sort_key {
  const struct tm_column *column;
  int32_t descends;
};

struct tm_sort_pair { /* memory for the sort */
  uint64_t key;
  int32_t row;
};

enum tm_aggregate { TM_SUM = 1, TM_MIN = 2, TM_MAX = 3, TM_FIRST = 4, TM_LAST = 5 };

struct tm_column_ops {
  /* bytes: must be the same in both languages, or the program must not be used */
  size_t size_of_column;

  void (*summarize)(const struct tm_column *c, struct tm_column_summary *out);

  /* Writes the rows for which "row comparison value" holds to `rows` (with room for all); null
   * never matches. Returns how many. */
  int64_t (*compare)(const struct tm_column *c, int32_t comparison, const struct tm_value *v,
                     int32_t *rows);
  /* The rows that are null (wanted 1) or not (wanted 0). */
  int64_t (*where_null)(const struct tm_column *c, int32_t wanted, int32_t *rows);

  /* The bytes that take() writes for strings. */
  int64_t (*take_bytes)(const struct tm_column *c, const int32_t *rows, int64_t n);
  /* Row i of `out` is row rows[i] of `c`, or null where that is -1. The caller provides the memory
   * of `out` and sets type, is_wide, len = n and, if one could be null, validity bits of all 1.
   * Returns how many are null. */
  int64_t (*take)(const struct tm_column *c, const int32_t *rows, int64_t n, struct tm_column *out);
  /* Appends all of `c` to `out` from row `at` on, with room as above; the bytes of strings begin at
   * byte `byte_at`. Returns how many are null. A long may go into a double, a narrow string into a
   * wide one; otherwise the types are the same. */
  int64_t (*append)(const struct tm_column *c, struct tm_column *out, int64_t at, int64_t byte_at);
  /* Copies `n` bits of `from`, starting at bit `first`, to bit 0 of `to`, which has (n + 7) / 8
   * bytes. */
  void (*copy_bits)(const uint8_t *from, int64_t first, int64_t n, uint8_t *to);

  /* Sorts the n row numbers in `rows`; the sort is stable. Null is last, also if a key descends.
   * `room`: 2 * n. */
  void (*sort)(const struct tm_sort_key *keys, int32_t n_keys, int32_t *rows, int64_t n,
               struct tm_sort_pair *room);

  /* Groups equal rows, in the order in which they appear: ids[row] is the group, firsts[group] its
   * first row. `n_slots`: a power of two, at least twice the rows. Returns the number of groups. */
  int64_t (*group)(const struct tm_column *const *keys, int32_t n_keys, int64_t n, int32_t *ids,
                   int32_t *firsts, int32_t *slots, int64_t n_slots);
  /* For each group: how many of its rows have a value. */
  void (*group_count)(const struct tm_column *c, const int32_t *ids, int64_t *counts);
  /* For each group, the row of `c` that has its smallest (ignoring NaN), largest, first or last
   * value; -1: none. */
  void (*group_pick)(const struct tm_column *c, const int32_t *ids, int64_t groups, int32_t what,
                     int32_t *rows);
  /* For each group the sum; also as integers if `exact` is not NULL. Returns 0 if an integer
   * overflows. */
  int32_t (*group_sum)(const struct tm_column *c, const int32_t *ids, int64_t groups, double *sums,
                       int64_t *exact);
  /* For each group the sum of squared distances from its mean. */
  void (*group_spread)(const struct tm_column *c, const int32_t *ids, int64_t groups,
                       const double *sums, const int64_t *counts, double *out);

  /* Indexes the rows of the right side by their keys: slots and next (one per row) make chains. A
   * null in a key matches nothing. */
  void (*join_index)(const struct tm_column *const *right, int32_t n_keys, int64_t n, int32_t *next,
                     int32_t *slots, int64_t n_slots);
  /* For each row of the left side in order, finds the matching rows on the right in order: pairs go
   * into `left_rows` and `right_rows`; NULL: only count. `keep`: a left row without a match is
   * paired with -1. `matched` (or NULL): set to 1 for each right row that is found. Returns the
   * number of pairs. */
  int64_t (*join)(const struct tm_column *const *left, const struct tm_column *const *right,
                  int32_t n_keys, int64_t n, const int32_t *next, const int32_t *slots,
                  int64_t n_slots, int32_t keep, int32_t *left_rows, int32_t *right_rows,
                  uint8_t *matched);
};

/* The only table. */
const struct tm_column_ops *tm_column_ops(void);

#endif
