/* unpack.h - what a file packed with zstd, xz, bzip2 or lz4 holds, as a stream (rows/stream.h), through libarchive.
 *
 * It is read in order; a place before the last one begins at the file's beginning again. No program is ever started for
 * it. Files of several such parts, one after the other, are read whole. */
#ifndef TM_DATA_FILES_UNPACK_H
#define TM_DATA_FILES_UNPACK_H

#include "data/rows/stream.h"

/* `fd` becomes the stream's. What is wrong with the file is said by the first read. */
struct tm_stream *tm_unpack_open(const struct tm_fs *fs, int fd, const char *path);

#endif
