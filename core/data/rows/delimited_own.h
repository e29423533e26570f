/* delimited_own.h - what delimited.c (rows) and delimited_columns.c (values) share. */
#ifndef TM_DATA_ROWS_DELIMITED_OWN_H
#define TM_DATA_ROWS_DELIMITED_OWN_H

#include "base/buf.h"
#include "data/rows/delimited.h"
#include "data/rows/short_numbers.h"

struct row {
  uint32_t first; /* number of its first field in the piece */
  uint32_t count; /* number of its fields */
};

/* A part of the text that fits the caches: all of its rows, from which the columns are made in
 * turn. */
struct piece {
  const char *text;
  size_t len;
  int64_t at;           /* its offset in the file */
  const uint32_t *ends; /* ends[-1] + 1 is 0 */
  const struct row *rows;
  size_t rows_len;
  uint32_t fields_least; /* of a row */
  bool has_quotes;       /* somewhere */
  bool has_high;         /* bytes above 127 that must be checked in each text */
};

struct tm_delimited {
  const struct tm_dialect *dialect;
  const struct tm_schema *schema;
  struct tm_delimited_source source;
  size_t max_record; /* bytes */
  struct tm_scan scan;
  const struct tm_short_kernel *shorts;
  struct tm_short_texts texts;
  struct tm_marks marks;
  struct row *rows;
  size_t rows_cap;
  int32_t *plain_fields; /* for sources without fields */
  size_t plain_fields_len;
  struct tm_frame_builder builder;
  struct tm_row_counts counts;
  struct tm_fault fault; /* it ended the reading */
  struct tm_buf unquoted, converted;
};

/* Adds field `field` of every row of the piece to column `column`. */
int tm_delimited_add_column(struct tm_delimited *d, const struct piece *p, size_t column,
                            uint32_t field, struct tm_err *err);
/* Checks that the quotes of an unread field are closed. column: or -1. */
int tm_delimited_look_at_quotes(struct tm_delimited *d, const struct piece *p, int32_t column,
                                uint32_t field, struct tm_err *err);
/* For a row with too few or too many fields, kept or not: checks that the quotes of its last field
 * are closed if that field is not read. An unclosed quote makes a row short. */
int tm_delimited_look_at_last(struct tm_delimited *d, const struct piece *p, struct row row,
                              bool is_kept, struct tm_err *err);
/* Adds to every row null, or the value that the column has for the whole file. */
int tm_delimited_add_same(struct tm_delimited *d, const struct piece *p, size_t column,
                          struct tm_err *err);
/* Counts a fault, or returns it as an error. `at`: offset in the piece's text. */
int tm_delimited_note(struct tm_delimited *d, const struct piece *p, size_t at, bool is_error,
                      struct tm_fault *fault, struct tm_err *err);

#endif
