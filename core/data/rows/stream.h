/* stream.h - the bytes of a file of rows, whatever it is packed in: a seam.
 *
 * Places are bytes of what the file holds: of a compressed file, of its contents. A plain file and an indexed gzip file
 * are read from anywhere; any other compressed file in order, and from its beginning again when a place before the last
 * one is asked for.
 */
#ifndef TM_DATA_ROWS_STREAM_H
#define TM_DATA_ROWS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_stream {
  /* Up to n bytes from `at`; fewer only at the end. Negative: an error, with words that name the file. */
  int64_t (*read)(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err);
  void (*close)(struct tm_stream *s);
  /* A row that begins soon behind `at` will be read from elsewhere: an index that is being written had better have a point
   * close before it. Or NULL. */
  void (*expect)(struct tm_stream *s, int64_t at);
  int64_t
      size; /* of what can be read from anywhere by now; -1: it is to be read in order by whoever looks for borders */
  bool will_have_size; /* once it has been read to its end, and in the next run */
  bool
      is_in_order; /* it can be read in no other way: what is asked for again is unpacked from the beginning */
  /* Set by who reads it: a read that meets damage gives the bytes before it, fewer than n, and the next one the error. */
  bool gives_before_damage;
};

enum tm_packing { TM_PACKED_NOT, TM_PACKED_GZIP, TM_PACKED_OTHER };

/* By the first bytes of a file, of which TM_PACKING_BYTES are enough, not by its name: zstd, xz, bzip2 and lz4 are OTHER. */
#define TM_PACKING_BYTES 10
enum tm_packing tm_stream_packing(const char *p, size_t n);

/* A plain file. `fd` becomes the stream's; path is copied, for words. */
struct tm_stream *tm_stream_of_file(const struct tm_fs *fs, int fd, const char *path, int64_t size);
/* Bytes in memory, the caller's. */
struct tm_stream *tm_stream_of_bytes(const char *p, size_t n);
void tm_stream_close(struct tm_stream *s); /* NULL is a no-op */

/* For tm_borders_new(): data is the stream. */
int64_t tm_stream_read(void *data, void *p, size_t n, int64_t at, struct tm_err *err);
void tm_stream_expect(void *data, int64_t at);

#endif
