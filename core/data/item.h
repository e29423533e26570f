/* item.h - one item of a FileDataset as bytes: in the manifest, and on the way to a worker, unchanged.
 *
 *   0 path length u32   4 size i64 (-1: not looked at)   12 mtime i64 (ns since the epoch; 0: not looked at)   20 path
 *
 * The bytes are hostile when they are read: they come from a file.
 */
#ifndef TM_DATA_ITEM_H
#define TM_DATA_ITEM_H

#include <stdint.h>

#include "base/buf.h"

struct tm_item {
  const char *path; /* absolute; not NUL-ended; any byte but NUL */
  size_t path_len;
  int64_t size;     /* bytes, or -1: not looked at when it was listed */
  int64_t mtime_ns; /* since the epoch; 0 when size is -1 */
};

void tm_item_add(struct tm_buf *out, const struct tm_item *item);
/* False at the end and on bad bytes (r->bad tells). The path points into the bytes. */
bool tm_item_next(struct tm_reader *r, struct tm_item *out);

#endif
