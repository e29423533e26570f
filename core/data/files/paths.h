/* paths.h - a file of paths, or standard input, read as it goes: one path a line, or NUL after each. The paths are not
 * looked at.
 *
 *  - A path ends at LF, or at CR LF (a CR before the LF is not part of it); the last one needs no end. With
 *    null_separated it ends at NUL, and every other byte is part of it.
 *  - Empty lines are skipped. A UTF-8 byte order mark at the beginning of lines is skipped.
 *  - Relative paths are taken against the folder of the file; where it is no regular file (a FIFO, /dev/stdin), and for
 *    standard input, against base_dir. They are joined, not normalised.
 *  - A NUL in a line (a list that is NUL-separated), or a path longer than 4 * PATH_MAX, is an error with its number.
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

/* Opens; of a FIFO without waiting for a writer. NULL, with words, when it cannot. fs must outlive it, and `stop`, which ends
 * a wait for what comes next (NULL: nothing does). `path` "-" takes standard input away from the process: descriptor 0 is
 * /dev/null from then on, so that a writer at the other end learns of the close. */
struct tm_paths *tm_paths_open(const struct tm_fs *fs, const char *base_dir, const char *path,
                               bool null_separated, const struct tm_stop *stop, struct tm_err *err);
/* 1: `out`, of size -1; its path is valid until the next call. 0: the end. Negative: bad contents, an error of the disk, or
 * -ECANCELED: it was stopped while it waited. */
int tm_paths_next(struct tm_paths *p, struct tm_item *out, struct tm_err *err);
void tm_paths_close(struct tm_paths *p); /* NULL: a no-op */

#endif
