/* borders.h - a file of rows, cut into ranges of about a mini-batch at row borders.
 *
 *  (1) The ranges follow each other; together they are the rows of the file, without byte order mark, header and lines that
 *      are empty at its end. Each begins with a row and ends with one; a range in which no row begins makes none.
 *  (2) The same file, dialect and size give the same ranges.
 *
 * Where every line break ends a row, a border is found by probing: one read for each. Else (quotes with multi_line, sizes
 * in rows, with_rows, a file that can only be read from its beginning) all of it is scanned, at memory speed. A file that
 * can be read from anywhere only the next time has the same ranges both times: its rows are not counted.
 *
 * Bytes come through `read`: a file, what a compressed file holds, a test. Memory: one buffer of 256 KB, and the header. A
 * header that exceeds the dialect's limits is refused while it is read.
 */
#ifndef TM_DATA_ROWS_BORDERS_H
#define TM_DATA_ROWS_BORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/rows/dialect.h"

struct tm_range {
  int64_t begin, end; /* bytes */
  int64_t
      first_row; /* number of its first row in the file, from 0, empty lines counted; -1: not known */
  int64_t rows; /* likewise; -1: not known */
};

/* Up to n bytes from `at`; fewer only at the end of the file. Negative: an error, with words. */
typedef int64_t (*tm_borders_read)(void *data, void *p, size_t n, int64_t at, struct tm_err *err);

struct tm_borders_options {
  const struct tm_dialect *dialect;
  tm_borders_read read;
  void *data;
  void (*expect)(void *data, int64_t at); /* a border will be looked for there; or NULL */
  int64_t size;        /* of the file; -1: not known, it is read in order, from its beginning; */
  bool will_have_size; /* not known yet, but another time */
  int64_t range_bytes; /* at least 1; not with range_rows; */
  int64_t range_rows;  /* 0: by bytes */
  bool has_header;     /* this file begins with one */
  bool with_rows;      /* the rows are counted */
};

struct tm_borders;

struct tm_borders *tm_borders_new(const struct tm_borders_options *options);
void tm_borders_free(struct tm_borders *b);
/* 1: the next range. 0: the end. Negative: an error. */
int tm_borders_next(struct tm_borders *b, struct tm_range *out, struct tm_err *err);
/* After the first _next: the header with its line break, as it is in the file (UTF-16: as UTF-8); 0 bytes where there is
 * none. */
const char *tm_borders_header(const struct tm_borders *b, size_t *n);
/* How many bytes there are, after the end. */
int64_t tm_borders_size(const struct tm_borders *b);

#endif
