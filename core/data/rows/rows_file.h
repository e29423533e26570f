/* rows_file.h - what a file of rows is: its format, its limits, and how it is opened.
 *
 * Its beginning is read by sample.h, ranges of it by reader.h.
 */
#ifndef TM_DATA_ROWS_ROWS_FILE_H
#define TM_DATA_ROWS_ROWS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "data/rows/dialect.h"
#include "data/rows/json_lines.h"
#include "data/stream/stream.h"

enum tm_rows_format {
  TM_ROWS_DELIMITED,
  TM_ROWS_JSON_LINES,
  TM_ROWS_SQL, /* of a database: sql/query.h; not for readers */
};

struct tm_rows_options {
  enum tm_rows_format format;
  /* JSON lines use its encoding, misfit and limits, and the fields below */
  struct tm_dialect dialect;
  bool drop_invalid; /* of JSON lines */
  /* of JSON lines: extra keys that become columns, even if the first objects lack them; the
   * caller's */
  const char *const *columns;
  size_t columns_len;
};

/* The file of a range. */
struct tm_rows_file {
  const char *path;          /* for messages, and to recognise the file */
  struct tm_stream *stream;  /* the caller's */
  bool is_first;             /* of its dataset */
  const char *const *values; /* by column of the schema, for columns that are of_file; or NULL */
};

/* The options for readers of JSON lines. */
struct tm_json_lines_options tm_rows_json_options(const struct tm_rows_options *options);

#endif
