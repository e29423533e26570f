/* failed.h - reads a failed_items.jsonl as a list of paths: the items that failed in an earlier
 * job.
 *
 * One JSON object per line (commit/failed_lines.h documents it): the path is `item`, or byte by
 * byte `item_hex`; an entry of an archive is completely in `entry_hex`, as in item.h. A line whose
 * item is null stands for `count` unknown items, which are counted, but not in the list. Lines of
 * other inputs than the requested one are skipped; a line without `input` is of input 0. Unknown
 * keys and empty lines are ignored.
 *
 * The bytes may be hostile. An invalid line ends the reading, with its number in the message. Paths
 * are not looked at. Memory: one line, of at most TM_FAILED_LINE_MAX.
 */
#ifndef TM_DATA_FILES_FAILED_H
#define TM_DATA_FILES_FAILED_H

#include <stdint.h>

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

#define TM_FAILED_LINE_MAX (64 << 20) /* bytes */
#define TM_FAILED_ANY      (-1)       /* items of every input */

struct tm_failed;

/* `path`: absolute, of a regular file. NULL with a message; *is_missing: the file does not exist
 * (also with a message). */
struct tm_failed *tm_failed_open(const struct tm_fs *fs, const char *path, int64_t input,
                                 bool *is_missing, struct tm_err *err);
/* 1: `out`, a file of size -1, or an entry of an archive as it was; its path is valid until the
 * next call. 0: the end. Negative: TM_EUSAGE for an invalid line; or an error of the disk. */
int tm_failed_next(struct tm_failed *f, struct tm_item *out, struct tm_err *err);
/* For a returned item: 0, or TM_EINPUT if it is an entry of an archive that has changed since. An
 * entry has its place in the archive as it was; in a mended archive another entry may be there. */
int tm_failed_check_archive(const struct tm_failed *f, const struct tm_item *item,
                            struct tm_err *err);
/* So far: the input of the last item, and the number of items without names. */
int64_t tm_failed_input(const struct tm_failed *f);
int64_t tm_failed_unnamed(const struct tm_failed *f);
void tm_failed_close(struct tm_failed *f); /* NULL: a no-op */

#endif
