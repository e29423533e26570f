/* delimited.h - delimited text to the columns of a frame. Pure: bytes in, a frame out.
 *
 * Steps: _new once; then for each frame _begin, _add for each piece of text, _end. Bytes that _add
 * has not taken are the beginning of a row; pass them again before the next ones. Pass text of any
 * encoding except UTF-16 unchanged, and UTF-16 as UTF-8 (encoding.h). Do not pass a header or a
 * byte order mark.
 *
 * README.md of this folder says how irregular rows and values are handled.
 */
#ifndef TM_DATA_ROWS_DELIMITED_H
#define TM_DATA_ROWS_DELIMITED_H

#include "data/frame/arena.h"
#include "data/frame/frame.h"
#include "data/rows/dialect.h"
#include "data/rows/fault.h"
#include "data/rows/scan.h"
#include "data/rows/schema.h"

struct tm_delimited;

/* The origin of a frame's text. */
struct tm_delimited_source {
  int64_t at; /* offset of the first row in the file: for places in messages */
  /* fields[i] is the column of the schema for field i of a row, or -1. NULL: the columns that are
   * not of_file, in their order. */
  const int32_t *fields;
  size_t fields_len;
  /* by column of the schema, for columns that are of_file; NULL is null */
  const char *const *values;
};

/* Both arguments belong to the caller and must outlive it. */
struct tm_delimited *tm_delimited_new(const struct tm_dialect *dialect,
                                      const struct tm_schema *schema, enum tm_scan_kind kind);
void tm_delimited_free(struct tm_delimited *d);

/* Builds the frame in `arena`. `source` and everything it points to must stay valid until _end. */
void tm_delimited_begin(struct tm_delimited *d, struct tm_arena *arena,
                        const struct tm_delimited_source *source);
/* Takes whole rows, and returns how many bytes they are; with `is_last` all of them, the last row
 * with or without a line break. Negative: TM_EDAMAGE, with a message without the place, which
 * tm_delimited_fault() has. Then the frame is abandoned. */
int64_t tm_delimited_add(struct tm_delimited *d, const char *p, size_t n, bool is_last,
                         struct tm_err *err);
void tm_delimited_end(struct tm_delimited *d, struct tm_data_frame *out);

/* Of the current frame, until the next _begin. */
const struct tm_row_counts *tm_delimited_counts(const struct tm_delimited *d);
/* What ended the reading. */
const struct tm_fault *tm_delimited_fault(const struct tm_delimited *d);

#endif
