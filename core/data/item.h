/* item.h - what a mini-batch holds, as bytes: in the manifest, and on the way to a worker, unchanged.
 *
 * Records, one after the other. The top byte of the first u32 says what it is, the rest how long:
 *
 *   TM_ITEM_FILE   0 path length u32   4 size i64 (-1: not looked at)
 *                  12 mtime i64 (ns since the epoch; 0: not looked at)   20 path
 *   TM_ITEM_ROWS   the same, then   20 begin i64   28 end i64   36 first row i64 (-1: not known)
 *                  44 rows i64 (-1: not known)   52 number of the file in its dataset u32
 *                  56 number of the first row in the dataset i64 (-1: not known)   64 rows passed over i64   72 path
 *   TM_ITEM_GROUP  as TM_ITEM_ROWS: rows with the same keys, in a file of the job (table_groups.h)
 *   TM_ITEM_KEYS   at most one, and the first: key.h
 *
 * A file is one item; a range of a table's file is as many items as it has rows. The bytes are hostile when they are
 * read: they come from a file.
 */
#ifndef TM_DATA_ITEM_H
#define TM_DATA_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum {
  TM_ITEM_FILE = 0,
  TM_ITEM_KEYS = 1,
  TM_ITEM_ROWS = 2,
  TM_ITEM_GROUP = 3,
};

struct tm_item {
  const char *path; /* absolute; not NUL-ended; any byte but NUL */
  size_t path_len;
  int64_t size;       /* bytes, or -1: not looked at when it was listed */
  int64_t mtime_ns;   /* since the epoch; 0 when size is -1 */
  bool is_rows;       /* a range of a table's file, and what follows counts */
  bool is_group;      /* and the file is one of table_groups.h */
  int64_t begin, end; /* bytes, of what the file holds when it is decompressed */
  int64_t first_row;  /* number of its first row in the file, from 0; or -1 */
  int64_t rows;       /* or -1: only who reads them knows */
  uint32_t
      file; /* its number in the dataset, from 0: the first may be the only one with a header */
  int64_t number; /* of its first row that is used, among all of the dataset, from 0; or -1 */
  int64_t from;   /* rows at its beginning that are not used; `rows` are those behind them */
};

void tm_item_add(struct tm_buf *out, const struct tm_item *item);
/* The next file or range; keys are passed over. False at the end and on bad bytes (r->bad tells). The path points into the
 * bytes. */
bool tm_item_next(struct tm_reader *r, struct tm_item *out);

#endif
