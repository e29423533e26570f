/* row_boundaries.h - splits a file of rows into ranges of about a mini-batch, at row boundaries.
 *
 *  (1) The ranges follow each other; together they are the rows of the file, without byte order
 *      mark, header and empty lines at its end. Each begins with a row and ends with one; there is
 *      no range without a row.
 *  (2) The same file, dialect and size give the same ranges.
 *
 * If every line break ends a row, a boundary is found by probing: one read for each. Otherwise
 * (quotes with multi_line, sizes in rows, with_rows, a file that can only be read from its
 * beginning) all of it is scanned, at memory speed. A file that becomes seekable only in the next
 * run has the same ranges in both runs: its rows are not counted.
 *
 * Bytes come through `read`: a file, the contents of a compressed file, a test. Memory: one buffer
 * of 256 KB, and the header. A header that exceeds the dialect's limits is refused while it is
 * read.
 */
#ifndef TM_DATA_ROWS_ROW_BOUNDARIES_H
#define TM_DATA_ROWS_ROW_BOUNDARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/rows/dialect.h"

struct tm_range {
  int64_t begin, end; /* bytes */
  /* number of its first row in the file, from 0, including empty lines; -1: unknown */
  int64_t first_row;
  int64_t rows; /* likewise; -1: unknown */
};

/* Reads up to n bytes from `at`; fewer only at the end of the file. Negative with a message. */
typedef int64_t (*tm_row_boundaries_read)(void *data, void *p, size_t n, int64_t at,
                                          struct tm_err *err);

struct tm_row_boundaries_options {
  const struct tm_dialect *dialect;
  tm_row_boundaries_read read;
  void *data;
  void (*expect)(void *data, int64_t at); /* announces a search for a boundary at `at`; or NULL */
  int64_t size;        /* of the file; -1: unknown, it is read in order from its beginning; */
  bool will_have_size; /* unknown in this run, but known in the next */
  int64_t range_bytes; /* at least 1; not with range_rows; */
  int64_t range_rows;  /* 0: by bytes */
  bool has_header;     /* this file begins with one */
  bool with_rows;      /* counts the rows */
};

struct tm_row_boundaries;

struct tm_row_boundaries *tm_row_boundaries_new(const struct tm_row_boundaries_options *options);
void tm_row_boundaries_free(struct tm_row_boundaries *b);
/* 1: the next range. 0: the end. Negative: an error. */
int tm_row_boundaries_next(struct tm_row_boundaries *b, struct tm_range *out, struct tm_err *err);
/* After the first _next: the header with its line break, as it is in the file (UTF-16: as UTF-8); 0
 * bytes if there is none. */
const char *tm_row_boundaries_header(const struct tm_row_boundaries *b, size_t *n);
/* The number of bytes, after the end. */
int64_t tm_row_boundaries_size(const struct tm_row_boundaries *b);

#endif
