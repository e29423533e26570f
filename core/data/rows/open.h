/* open.h - a file of rows as a stream, whatever it is packed in.
 *
 * A gzip file is indexed while the lister reads it for its borders: check points go to <index_dir>/<name>.gzi as they are
 * passed (gzip_index.h), and a worker that has to read from somewhere begins at the last one before it. The index stays
 * for the next run. Without an index_dir, and for zstd, xz, bzip2 and lz4, a stream is read in order.
 */
#ifndef TM_DATA_ROWS_OPEN_H
#define TM_DATA_ROWS_OPEN_H

#include "data/rows/stream.h"

struct tm_rows_pack {
  const char *index_dir; /* for indexes of gzip files, made when missing; or NULL */
  int64_t spacing;       /* bytes of contents between check points; 0: 2 MB */
};

/* For the lister (`is_lister`: it may write an index) or for a worker (it uses what is there). NULL, with words. */
struct tm_stream *tm_rows_open(const struct tm_fs *fs, const char *path,
                               const struct tm_rows_pack *pack, bool is_lister, struct tm_err *err);

#endif
