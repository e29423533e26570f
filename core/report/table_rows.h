/* table_rows.h - reads the rows of a table of a step (tries.h, worker_lives.h) from any place on,
 * also while it grows: columns by their names, and only whole rows.
 *
 * A file may have many millions of rows: it is read in pieces.
 */
#ifndef TM_REPORT_TABLE_ROWS_H
#define TM_REPORT_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table_faults.h"

#define TM_TABLE_COLUMNS_MAX 32
#define TM_TABLE_FIELD_MAX   16384 /* bytes of a field; a longer one is cut */
#define TM_TABLE_NAME_MAX    255   /* bytes of a field that is a name or a word */

struct tm_table_rows {
  const char *path;
  const char *const *names; /* the columns to read */
  size_t names_len;         /* at most TM_TABLE_COLUMNS_MAX */
  const char *front;        /* only rows that begin with this are passed on; NULL: all */
  /* What is skipped; NULL: not wanted, as with `front`. Of a table that is read piece by piece, the
   * same each time: it begins again with the table. */
  struct tm_table_faults *faults;
  /* `fields`: a value for each name, valid during the call; "" for a column that the file lacks,
   * because an older version began it. Not 0: the reading ends after this row. */
  int (*on_row)(void *data, char *const *fields);
  /* NULL, or reads a row by itself: `len` bytes without the line break, which comes behind them. It
   * gets rows of a table whose columns are `names`, in this order. *answer: as of on_row(). False:
   * the row is read by columns, and is unchanged. */
  bool (*on_line)(void *data, char *line, size_t len, int *answer);
  void *data;
};

/* Reads from *at on, a place in the file between two rows; 0: all rows. Afterwards *at is behind
 * the last row that was read: a row that is being written comes with the next call. A file that is
 * shorter than *at is a new one, and is read from its beginning. A missing file has no rows. Skips
 * rows with another number of fields than the first line, and rows of more than 8 MB. Returns 0,
 * what on_row() returned, or a system error. */
int tm_table_rows_read(const struct tm_table_rows *t, int64_t *at, struct tm_err *err);

/* Cuts a field that is a name or a word, and returns it. */
const char *tm_table_name(char *field);

/* About how many rows the table has: its lines, whatever is in them. Negative: a system error. */
int64_t tm_table_rows_count(const char *path, struct tm_err *err);

/* Finds where to begin in a table whose rows are in some order, in a time that hardly depends on
 * its length. on_row() compares: -1, the row comes before what is wanted; 1, it does not; 0, it
 * cannot say. *at: the place before the first row for which it is 1, or the end. Returns 0 or a
 * system error. */
int tm_table_rows_find(const struct tm_table_rows *t, int64_t *at, struct tm_err *err);

#endif
