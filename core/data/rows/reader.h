/* reader.h - ranges of files as frames: used by workers for their mini-batches.
 *
 * Steps: tm_rows_reader_new() once, with the definition's options and the schema of the job; then
 * for each range tm_rows_reader_read(), with a stream of its file. A frame lives in the caller's
 * arena. Other memory: one piece of 1 MB, or the longest row, which the dialect limits. Used by one
 * thread.
 */
#ifndef TM_DATA_ROWS_READER_H
#define TM_DATA_ROWS_READER_H

#include "data/frame/arena.h"
#include "data/frame/frame.h"
#include "data/rows/row_boundaries.h"
#include "data/rows/fault.h"
#include "data/rows/rows_file.h"
#include "data/rows/schema.h"

struct tm_rows_reader;

/* The schema belongs to the caller and must outlive it; the options are copied. */
struct tm_rows_reader *tm_rows_reader_new(const struct tm_rows_options *options,
                                          const struct tm_schema *schema);
void tm_rows_reader_free(struct tm_rows_reader *r);
/* 0, or a negative code with a message that names file, line, byte and column. TM_EDAMAGE: the
 * range extends beyond the end of the file, which has become shorter. */
int tm_rows_reader_read(struct tm_rows_reader *r, const struct tm_rows_file *file,
                        const struct tm_range *range, struct tm_arena *arena,
                        struct tm_data_frame *out, struct tm_err *err);
/* Of the last read. */
const struct tm_row_counts *tm_rows_reader_counts(const struct tm_rows_reader *r);
/* Adds a list of warnings (../fault_list.h), one per kind: what was wrong in the last read, how
 * often, and where first. May read the file up to there to get the line (lines.h). Adds nothing if
 * nothing was wrong. */
void tm_rows_reader_faults(struct tm_rows_reader *r, const struct tm_rows_file *file,
                           struct tm_buf *out);

#endif
