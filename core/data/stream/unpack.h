/* unpack.h - a file packed with zstd, xz, bzip2 or lz4 as a stream (stream.h), through
 * libarchive.
 *
 * It is read in order; reading an earlier position starts over at the file's beginning. It never
 * starts a program. Files of several concatenated parts are read completely. */
#ifndef TM_DATA_STREAM_UNPACK_H
#define TM_DATA_STREAM_UNPACK_H

#include "data/stream/stream.h"

/* Takes over `fd`. The first read reports what is wrong with the file. */
struct tm_stream *tm_unpack_open(const struct tm_fs *fs, int fd, const char *path);

#endif
