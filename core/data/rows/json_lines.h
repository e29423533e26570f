/* json_lines.h - lines of JSON objects to the columns of a frame. Pure: bytes in, a frame out.
 *
 * A key is the column of that name. If a line lacks the key of a column, or its value is null, the
 * column is null there. A value whose key is not a column is left out and counted. Line breaks are
 * LF or CR LF; empty lines are ignored. Columns accept these values:
 *
 *   column     accepts
 *   bool       true, false
 *   long       integers within 64 bits, also written as 3.0 or 3e2
 *   double     numbers
 *   string     strings; any other value as its JSON text
 *   datetime   strings in ISO 8601 or the column's formats; numbers: seconds since the epoch
 *
 * Any other value does not fit: null and counted, or an error, as for delimited text. Of equal keys
 * the last counts. A line that is not a JSON object, or is longer than the limit, is dropped and
 * counted, or an error.
 *
 * The steps are those of delimited.h. json_infer.h finds the columns.
 */
#ifndef TM_DATA_ROWS_JSON_LINES_H
#define TM_DATA_ROWS_JSON_LINES_H

#include "data/frame/arena.h"
#include "data/frame/frame.h"
#include "data/rows/dialect.h"
#include "data/rows/fault.h"
#include "data/rows/schema.h"

struct tm_json_lines_options {
  bool drop_invalid; /* invalid_lines = "drop" */
  enum tm_misfit misfit;
  /* of the file, for places in messages; the text itself is passed as UTF-8 */
  enum tm_encoding encoding;
  struct tm_row_limits limits;
};

struct tm_json_lines;

/* The schema belongs to the caller and must outlive it. */
struct tm_json_lines *tm_json_lines_new(const struct tm_json_lines_options *options,
                                        const struct tm_schema *schema);
void tm_json_lines_free(struct tm_json_lines *j);
/* values: by column of the schema, for columns that are of_file; must stay valid until _end; or
 * NULL. */
void tm_json_lines_begin(struct tm_json_lines *j, struct tm_arena *arena, int64_t at,
                         const char *const *values);
int64_t tm_json_lines_add(struct tm_json_lines *j, const char *p, size_t n, bool is_last,
                          struct tm_err *err);
void tm_json_lines_end(struct tm_json_lines *j, struct tm_data_frame *out);
const struct tm_row_counts *tm_json_lines_counts(const struct tm_json_lines *j);
const struct tm_fault *tm_json_lines_fault(const struct tm_json_lines *j);

#endif
