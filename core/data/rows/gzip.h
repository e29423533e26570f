/* gzip.h - what a gzip file holds, as a stream: all of its members, one after the other.
 *
 * Read in order, every check sum is verified, and check points are added to the index, where one is given to write: one
 * for each `spacing`, and one close before each place that is expected to be read from. Read from elsewhere, decoding begins
 * at the last point of the index before that place, or at the file's beginning. With a whole index the stream has a size.
 *
 * A file that ends too early, whose data are damaged or whose check sums are wrong, or that has bytes behind its last member
 * which begin no other one (zeros excepted), is TM_EDAMAGE. So is a part that has changed since the index was made.
 *
 * ISA-L inflates, three times as fast as zlib. A check point is the border of a block: a place to the bit, and 32 KB of
 * contents, which can be read from a file that anybody may have written; the state of a decoder within a block is its
 * memory. Blocks whose heads are shorter than a few bytes (stored ones, and those with the fixed code) seldom have one.
 */
#ifndef TM_DATA_ROWS_GZIP_H
#define TM_DATA_ROWS_GZIP_H

#include "data/rows/gzip_index.h"
#include "data/rows/stream.h"

struct tm_gzip_options {
  struct tm_gzip_index *index; /* becomes the stream's; or NULL */
  bool is_writer;              /* points are added to it */
  int64_t spacing;             /* at most about so many bytes of contents between them */
  void (*on_warning)(void *data,
                     const char *text); /* an index that cannot be written is said once; or NULL */
  void *data;
};

/* `fd` becomes the stream's. */
struct tm_stream *tm_gzip_open(const struct tm_fs *fs, int fd, const char *path, int64_t size,
                               const struct tm_gzip_options *options);

#endif
