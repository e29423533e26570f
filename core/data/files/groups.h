/* groups.h - groups the files of an input by the values of its partition keys: each combination of
 * values makes one mini-batch, wherever its files are in the listing. Items that cannot be read
 * (item.h) have null for each value: they fail together, and their names need not fit.
 *
 * All files are added, then the groups come in the order of their values (key.h), the files within
 * one in the order of the listing. Files beyond a fixed amount of memory go to the disk (sorter.h).
 * Steps: new, add ..., next until 0, free.
 */
#ifndef TM_DATA_FILES_GROUPS_H
#define TM_DATA_FILES_GROUPS_H

#include "data/files/partition.h"
#include "data/item.h"
#include "sys/fs.h"

struct tm_groups;

/* keys: n names, all of them keys of `partition`, which is the caller's. dir: for a temporary
 * file. */
struct tm_groups *tm_groups_new(const struct tm_fs *fs, const char *dir,
                                struct tm_partition *partition, char *const *keys, size_t n);
/* TM_EINPUT if the path does not fit. */
int tm_groups_add(struct tm_groups *g, const struct tm_item *item, struct tm_err *err);
/* 1: `bytes` (cleared before) holds the keys and the items of the next group; 0: the end;
 * negative. */
int tm_groups_next(struct tm_groups *g, uint32_t *items, struct tm_buf *bytes, struct tm_err *err);
void tm_groups_free(struct tm_groups *g); /* NULL: a no-op */

#endif
