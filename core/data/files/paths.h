/* paths.h - reads a file of paths, or standard input, as a stream: one path per line, or a NUL
 * after each. The paths are not looked at.
 *
 *  - A path ends at LF or CR LF (the CR is not part of it); the last one needs no end. With
 *    null_separated it ends at NUL, and every other byte is part of it.
 *  - Empty lines are skipped. A UTF-8 byte order mark at the beginning is skipped, except with
 *    null_separated.
 *  - Relative paths are relative to the folder of the file; for a file that is not regular (a FIFO,
 *    /dev/stdin), and for standard input, to base_dir. They are joined, not normalised.
 *  - A NUL in a line (a list that is NUL-separated), or a path longer than 4 * PATH_MAX, is an
 *    error with its number.
 *
 * Memory: one piece of 256 KB.
 */
#ifndef TM_DATA_FILES_PATHS_H
#define TM_DATA_FILES_PATHS_H

#include <stdbool.h>

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"
#include "sys/stop.h"

struct tm_paths;

/* Opens the list; a FIFO without waiting for a writer. NULL with a message. fs must outlive it, and
 * so must `stop`, which ends a wait for input (NULL: nothing does). `path` "-" takes over standard
 * input: descriptor 0 becomes /dev/null, so that a writer at the other end notices the close. */
struct tm_paths *tm_paths_open(const struct tm_fs *fs, const char *base_dir, const char *path,
                               bool null_separated, const struct tm_stop *stop, struct tm_err *err);
/* 1: `out`, of size -1; its path is valid until the next call. 0: the end. Negative: bad contents,
 * an error of the disk, or -ECANCELED: it was stopped while it waited. */
int tm_paths_next(struct tm_paths *p, struct tm_item *out, struct tm_err *err);
void tm_paths_close(struct tm_paths *p); /* NULL: a no-op */

#endif
