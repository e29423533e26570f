/* gzip.h - the contents of a gzip file as a stream: all of its members, one after the other.
 *
 * Read in order, every check sum is verified, and check points are added to a writable index: one
 * for each `spacing`, and one shortly before each expected position. A read elsewhere begins to
 * decode at the last point of the index before that position, or at the file's beginning. With a
 * complete index the stream has a size.
 *
 * TM_EDAMAGE: the file ends too early, its data are damaged, a check sum is wrong, or bytes other
 * than zeros or another member follow its last member; also a part that has changed since the index
 * was made.
 *
 * ISA-L inflates, three times as fast as zlib. A check point is the boundary of a block: a position
 * to the bit, and 32 KB of contents, which are safe to read from a file that anybody may have
 * written; the state of a decoder within a block would be raw memory. Blocks whose heads are
 * shorter than a few bytes (stored ones, and those with the fixed code) seldom have one.
 */
#ifndef TM_DATA_STREAM_GZIP_H
#define TM_DATA_STREAM_GZIP_H

#include "data/stream/gzip_index.h"
#include "data/stream/stream.h"

struct tm_gzip_options {
  struct tm_gzip_index *index; /* taken over by the stream; or NULL */
  bool is_writer;              /* adds points to it */
  int64_t spacing;             /* approximate maximum of contents between points, bytes */
  /* reports once an index that cannot be written; or NULL */
  void (*on_warning)(void *data, const char *text);
  void *data;
};

/* Takes over `fd`. */
struct tm_stream *tm_gzip_open(const struct tm_fs *fs, int fd, const char *path, int64_t size,
                               const struct tm_gzip_options *options);

#endif
