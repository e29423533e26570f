/* open.h - a file of rows as a stream, compressed or not.
 *
 * The lister indexes a gzip file while it searches boundaries: it writes check points to a file in
 * index_dir (gzip_index.h), and a worker starts to read at the last point before its range. So all
 * workers read one large file at once, while it is still being listed. The next run reuses the
 * index; if the file has changed (size or mtime), the index is rebuilt. Without an index_dir, and
 * for zstd, xz, bzip2 and lz4, a stream is read in order.
 */
#ifndef TM_DATA_ROWS_OPEN_H
#define TM_DATA_ROWS_OPEN_H

#include "data/stream/stream.h"

#define TM_GZIP_SPACING (INT64_C(2) << 20)

struct tm_rows_pack {
  const char *index_dir; /* for indexes of gzip files, made if missing; or NULL */
  bool checks_name;      /* refuses an uncompressed file with the name of a compressed one */
  int64_t listed_ns;     /* for a worker: the file's time in its index; 0: the one that it has */
  int64_t spacing;       /* bytes of contents between check points; 0: TM_GZIP_SPACING */
  /* about an index that cannot be written; or NULL */
  void (*on_warning)(void *data, const char *text);
  void *data;
};

/* For the lister (`is_lister`: writes the index if there is none) or for a worker (uses the
 * existing one). Use a stream only for one of the two, and keep it while ranges of its file are
 * read. NULL with a message; TM_EDAMAGE: the name says that the file is compressed, but it is not.
 */
struct tm_stream *tm_rows_open(const struct tm_fs *fs, const char *path,
                               const struct tm_rows_pack *pack, bool is_lister, struct tm_err *err);

#endif
