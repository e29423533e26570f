/* stream.h - the bytes of a file of rows, compressed or not: a seam.
 *
 * Offsets count decompressed bytes. A plain file and an indexed gzip file can be read from
 * anywhere; any other compressed file in order, and again from its beginning if an earlier offset
 * is requested.
 */
#ifndef TM_DATA_STREAM_STREAM_H
#define TM_DATA_STREAM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_stream {
  /* Reads up to n bytes from `at`; fewer only at the end. Negative, with a message that names the
   * file. */
  int64_t (*read)(struct tm_stream *s, void *p, size_t n, int64_t at, struct tm_err *err);
  void (*close)(struct tm_stream *s);
  /* Announces that a row soon after `at` will be read from elsewhere: an index that is being
   * written should have a point shortly before it. Or NULL. */
  void (*expect)(struct tm_stream *s, int64_t at);
  /* of the part that can be read from anywhere now; -1: whoever searches boundaries must read it in
   * order */
  int64_t size;
  bool will_have_size; /* after it was read to its end, and in the next run */
  /* it can only be read in order: an earlier offset is unpacked again from the beginning */
  bool is_in_order;
  /* Set by the reader: a read that meets damage returns the bytes before it, fewer than n, and the
   * next one the error. */
  bool gives_before_damage;
};

enum tm_packing { TM_PACKED_NOT, TM_PACKED_GZIP, TM_PACKED_OTHER };

/* Detected by the first TM_PACKING_BYTES of a file, not by its name: zstd, xz, bzip2 and lz4 are
 * OTHER. */
#define TM_PACKING_BYTES 10
enum tm_packing tm_stream_packing(const char *p, size_t n);

/* A plain file. Takes over `fd`; copies path, for messages. */
struct tm_stream *tm_stream_of_file(const struct tm_fs *fs, int fd, const char *path, int64_t size);
/* Bytes in memory, which belong to the caller. */
struct tm_stream *tm_stream_of_bytes(const char *p, size_t n);
void tm_stream_close(struct tm_stream *s); /* NULL is a no-op */

/* For tm_row_boundaries_new(): data is the stream. */
int64_t tm_stream_read(void *data, void *p, size_t n, int64_t at, struct tm_err *err);
void tm_stream_expect(void *data, int64_t at);

#endif
