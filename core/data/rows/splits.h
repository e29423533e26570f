/* splits.h - the files of a table, one after the other, as ranges for mini-batches: the lister's
 * side.
 *
 * Steps: _new; for each file, in the order of the dataset, _begin and then _next until it returns
 * 0. A mini-batch is one range, of one file. Blocking; used by one thread.
 *
 * With header = "all_files_same" the header of every file is compared with the columns of the job:
 * a different one is an error, because its values would go to wrong columns.
 */
#ifndef TM_DATA_ROWS_SPLITS_H
#define TM_DATA_ROWS_SPLITS_H

#include "data/rows/row_boundaries.h"
#include "data/rows/open.h"
#include "data/rows/range_item.h"
#include "data/rows/reader.h"

struct tm_splits_options {
  const struct tm_fs *fs;
  const struct tm_rows_options *rows; /* these belong to the caller and must outlive it */
  const struct tm_rows_pack *pack;
  const struct tm_schema *schema; /* of the job; NULL: headers are not compared */
  int64_t range_bytes;            /* approximate size; or */
  int64_t range_rows; /* exact number of rows, except in the last range of a file; 0: by bytes */
  bool with_rows;     /* counts rows, so that each range knows the number of its first one */
};

struct tm_splits;

struct tm_splits *tm_splits_new(const struct tm_splits_options *options);
void tm_splits_free(struct tm_splits *r);
/* Begins the file with this number in its dataset, from 0, and ends the one before; the path is
 * absolute. */
int tm_splits_begin(struct tm_splits *r, const char *path, uint32_t number, struct tm_err *err);
/* 1: the next range of the file; its path is valid until the next _begin. 0: the end of the file.
 * Negative: it cannot be read, is damaged, or has another header; the message names the file. */
int tm_splits_next(struct tm_splits *r, struct tm_range_item *out, struct tm_err *err);

#endif
