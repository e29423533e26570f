/* ranges.h - the files of a table, one after the other, as the ranges that mini-batches are made of: the lister's side.
 *
 * Steps: _new; for each file, in the order of the dataset, _begin and then _next until it answers 0. A mini-batch is one
 * range: it never crosses the border of a file. Blocking; used by one thread.
 *
 * With header = "all_files_same" the header of every file is compared with the columns of the job: a file with other ones
 * is an error, for its values would be taken for those of other columns.
 */
#ifndef TM_DATA_ROWS_RANGES_H
#define TM_DATA_ROWS_RANGES_H

#include "data/rows/borders.h"
#include "data/rows/open.h"
#include "data/rows/range_item.h"
#include "data/rows/reader.h"

struct tm_ranges_options {
  const struct tm_fs *fs;
  const struct tm_rows_options *rows; /* these are the caller's, and must outlive it */
  const struct tm_rows_pack *pack;
  const struct tm_schema *schema; /* of the job; NULL: headers are not compared */
  int64_t range_bytes;            /* about; or */
  int64_t range_rows; /* exactly so many rows but in the last range of a file; 0: by bytes */
  bool with_rows;     /* count rows, so that each range knows the number of its first one */
};

struct tm_ranges;

struct tm_ranges *tm_ranges_new(const struct tm_ranges_options *options);
void tm_ranges_free(struct tm_ranges *r);
/* The file of this number in its dataset, from 0; the path is absolute. Nothing but an error is said of the one before,
 * which ends. */
int tm_ranges_begin(struct tm_ranges *r, const char *path, uint32_t number, struct tm_err *err);
/* 1: the next range of the file; its path is valid until the next _begin. 0: the end of the file. Negative: it cannot be
 * read, is damaged, or has another header; words name the file. */
int tm_ranges_next(struct tm_ranges *r, struct tm_range_item *out, struct tm_err *err);

#endif
