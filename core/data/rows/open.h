/* open.h - a file of rows as a stream, whatever it is packed in.
 *
 * A gzip file is indexed while the lister reads it for its borders: check points go to a file in index_dir as they are
 * passed (gzip_index.h), and a worker that has to read from somewhere begins at the last one before it. So all workers
 * read one large file at once, while it is still being listed. The index stays for the next run; one of a file that has
 * changed since (size or mtime) is made anew. Without an index_dir, and for zstd, xz, bzip2 and lz4, a stream is read in
 * order.
 */
#ifndef TM_DATA_ROWS_OPEN_H
#define TM_DATA_ROWS_OPEN_H

#include "data/rows/stream.h"

#define TM_GZIP_SPACING (INT64_C(2) << 20)

struct tm_rows_pack {
  const char *index_dir; /* for indexes of gzip files, made when missing; or NULL */
  bool checks_name; /* a file whose name says that it is compressed, and which is not, is refused */
  int64_t spacing;  /* bytes of contents between check points; 0: TM_GZIP_SPACING */
  void (*on_warning)(void *data, const char *text); /* an index that cannot be written; or NULL */
  void *data;
};

/* For the lister (`is_lister`: it writes the index, where there is none) or for a worker (it uses what is there). A
 * stream is for one of the two, and is kept as long as ranges of its file are read. NULL, with words; TM_EDAMAGE: the name says
 * that the file is compressed, and it is not. */
struct tm_stream *tm_rows_open(const struct tm_fs *fs, const char *path,
                               const struct tm_rows_pack *pack, bool is_lister, struct tm_err *err);

#endif
