/* reader.h - ranges of files as frames: what a worker does with its mini-batches.
 *
 * Steps: tm_rows_reader_new() once, with what the definition says and the schema of the job; then for each range
 * tm_rows_reader_read(), with a stream of its file. A frame lives in the caller's arena. Memory besides: one piece of
 * 1 MB, or the longest row, which the dialect limits. Used by one thread.
 */
#ifndef TM_DATA_ROWS_READER_H
#define TM_DATA_ROWS_READER_H

#include "data/arena.h"
#include "data/frame.h"
#include "data/rows/borders.h"
#include "data/rows/dialect.h"
#include "data/rows/fault.h"
#include "data/rows/json_lines.h"
#include "data/rows/schema.h"
#include "data/rows/stream.h"

enum tm_rows_format {
  TM_ROWS_DELIMITED,
  TM_ROWS_JSON_LINES,
  TM_ROWS_SQL, /* of a database: sql/query.h; not for readers */
};

struct tm_rows_options {
  enum tm_rows_format format;
  struct tm_dialect
      dialect;       /* of JSON lines: encoding, misfit and limits count, and what follows */
  bool drop_invalid; /* of JSON lines */
  const char *const *
      columns; /* of JSON lines: keys that are columns also where the first objects lack them; the caller's */
  size_t columns_len;
};

/* The file that a range is of. */
struct tm_rows_file {
  const char *path;          /* for words, and to know it again */
  struct tm_stream *stream;  /* the caller's */
  bool is_first;             /* of its dataset */
  const char *const *values; /* by column of the schema, for those that are of_file; or NULL */
};

/* What its readers of JSON lines take of it. */
struct tm_json_lines_options tm_rows_json_options(const struct tm_rows_options *options);

struct tm_rows_reader;

/* The schema is the caller's, and must outlive it; the options are copied. */
struct tm_rows_reader *tm_rows_reader_new(const struct tm_rows_options *options,
                                          const struct tm_schema *schema);
void tm_rows_reader_free(struct tm_rows_reader *r);
/* 0, or a negative code and words that name file, line, byte and column. A range that goes beyond the end of the file
 * (it has become shorter) is TM_EDAMAGE. */
int tm_rows_reader_read(struct tm_rows_reader *r, const struct tm_rows_file *file,
                        const struct tm_range *range, struct tm_arena *arena,
                        struct tm_data_frame *out, struct tm_err *err);
/* Of the last read. */
const struct tm_row_counts *tm_rows_reader_counts(const struct tm_rows_reader *r);
/* Warnings, a list (../fault_list.h) with one of each kind: what was wrong in the last read, how often, and where first. Reads the file
 * up to there where it must, to say the line (lines.h). Nothing is added when nothing was wrong. */
void tm_rows_reader_faults(struct tm_rows_reader *r, const struct tm_rows_file *file,
                           struct tm_buf *out);

#endif
