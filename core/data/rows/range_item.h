/* range_item.h - one item of a TabularDataset as bytes: a range of the rows of a file, in the
 * manifest and, unchanged, on the way to a worker.
 *
 *   0 path length u32   4 size i64   12 mtime i64 (ns since the epoch)
 *   20 number of the file in its dataset u32   24 begin i64   32 end i64
 *   40 first row i64 (-1: unknown)   48 rows i64 (likewise)   56 path
 *
 * The bytes are hostile when they are read: they come from a file.
 */
#ifndef TM_DATA_ROWS_RANGE_ITEM_H
#define TM_DATA_ROWS_RANGE_ITEM_H

#include <stdint.h>

#include "base/buf.h"
#include "data/rows/row_boundaries.h"

struct tm_range_item {
  const char *path; /* absolute; not NUL-ended; any byte except NUL */
  size_t path_len;
  int64_t size; /* of the file on the disk, bytes */
  int64_t mtime_ns;
  uint32_t file; /* its number in the dataset, from 0: tells whether it has a header */
  struct tm_range range;
};

void tm_range_item_add(struct tm_buf *out, const struct tm_range_item *item);
/* False at the end and on bad bytes (see r->bad). The path points into the bytes. */
bool tm_range_item_next(struct tm_reader *r, struct tm_range_item *out);

#endif
