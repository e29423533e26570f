/* delimited.h - delimited text to the columns of a frame. Pure: bytes in, a frame out.
 *
 * Steps: _new once; then for each frame _begin, _add for each piece of text, _end. What _add has not taken is the
 * beginning of a row, to be given again in front of what follows. Text of any encoding but UTF-16 is given as it is;
 * UTF-16 is given as UTF-8 (text.h). A header, and a byte order mark, are not given.
 *
 * What is done about rows and values that are not as they should be is in README.md of this folder.
 */
#ifndef TM_DATA_ROWS_DELIMITED_H
#define TM_DATA_ROWS_DELIMITED_H

#include "data/arena.h"
#include "data/frame.h"
#include "data/rows/dialect.h"
#include "data/rows/fault.h"
#include "data/rows/scan.h"
#include "data/rows/schema.h"

struct tm_delimited;

/* Where the text of a frame is from. */
struct tm_delimited_source {
  int64_t at; /* byte of the file where the first row begins: for places in messages */
  /* fields[i] is the column of the schema that field i of a row is, or -1: none. NULL: the columns that are not of_file, in
   * their order. */
  const int32_t *fields;
  size_t fields_len;
  const char *const *values; /* by column of the schema, for those that are of_file; NULL is null */
};

/* Both are the caller's, and must outlive it. */
struct tm_delimited *tm_delimited_new(const struct tm_dialect *dialect,
                                      const struct tm_schema *schema, enum tm_scan_kind kind);
void tm_delimited_free(struct tm_delimited *d);

/* The frame is built in `arena`; `source` and what it leads to are the caller's until _end. */
void tm_delimited_begin(struct tm_delimited *d, struct tm_arena *arena,
                        const struct tm_delimited_source *source);
/* Takes whole rows, and returns how many bytes they are; with `is_last` all of them, the last row with or without a line
 * break. Negative: TM_EDAMAGE, and `err` has the words without the place; tm_delimited_fault() tells the place. Then the
 * frame is given up. */
int64_t tm_delimited_add(struct tm_delimited *d, const char *p, size_t n, bool is_last,
                         struct tm_err *err);
void tm_delimited_end(struct tm_delimited *d, struct tm_data_frame *out);

/* Of the frame at hand, until the next _begin. */
const struct tm_row_counts *tm_delimited_counts(const struct tm_delimited *d);
/* What ended the reading. */
const struct tm_fault *tm_delimited_fault(const struct tm_delimited *d);

#endif
