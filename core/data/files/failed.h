/* failed.h - a failed_items.jsonl, read as a list of paths: the items that failed in an earlier job.
 *
 * One JSON object a line (run/failed_lines.h says what stands in it): the path is `item`, or, byte by byte, `item_hex`; an
 * entry of an archive is all in `entry_hex`, as item.h has it. A line whose
 * item is null stands for `count` items of which it is not known which ones they are; they are counted, and not in the list.
 * Lines of other inputs than the one asked for are passed over; a line without `input` is of input 0. Keys that are not known
 * are nobody's business. Empty lines are skipped.
 *
 * The bytes may be anybody's. What is no such line ends the reading, with the line's number. Paths are not looked at. Memory: one
 * line, of at most TM_FAILED_LINE_MAX.
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

/* `path`: absolute, of a regular file. NULL with words; *is_missing: there is no such file (words all the same). */
struct tm_failed *tm_failed_open(const struct tm_fs *fs, const char *path, int64_t input,
                                 bool *is_missing, struct tm_err *err);
/* 1: `out`, a file of size -1 or an entry of an archive as it was; its path is valid until the next call. 0: the end. Negative: TM_EUSAGE, a line that is none; or an
 * error of the disk. */
int tm_failed_next(struct tm_failed *f, struct tm_item *out, struct tm_err *err);
/* Of what has been read: the input of the last item, and the items that are not named. */
int64_t tm_failed_input(const struct tm_failed *f);
int64_t tm_failed_unnamed(const struct tm_failed *f);
void tm_failed_close(struct tm_failed *f); /* NULL: a no-op */

#endif
