/* table_groups.h - groups the rows of a table by the values of partition keys: each combination
 * makes one mini-batch.
 *
 * All rows are read once, sorted by their keys (sorter.h) and written to a file of the job, group
 * after group. A mini-batch is a range of that file. The file gets its name when it is complete:
 * after a kill, the resumed job either finds all of it or starts over. An existing file is used as
 * long as the files of the table have not changed.
 *
 *   head     0 "tm-rows" NUL   8 version u32   12 hash of the listing u64
 *            20 bytes32: the columns, as JSON (rows/schema.h)   check u64: hash of all before
 *   group    keys (key.h)   rows u64   bytes u64   check u64: hash of these   hash u64: of the rows
 *            then the bytes of the rows; a byte before each column's value is 0 for null:
 *            bool u8; long, double, datetime 8 bytes; string bytes32
 *
 * Steps: open() after all files have been hashed; if it returns 0, add() the frames of all ranges
 * and finish(); then next() until 0; close.
 */
#ifndef TM_DATA_TABLE_TABLE_GROUPS_H
#define TM_DATA_TABLE_TABLE_GROUPS_H

#include "data/frame/frame.h"
#include "data/item.h"
#include "data/rows/schema.h"
#include "sys/fs.h"

struct tm_table_groups;

/* path: of the file. spill_dir: for sorting. keys: n names, the caller's. */
struct tm_table_groups *tm_table_groups_new(const struct tm_fs *fs, const char *path,
                                            const char *spill_dir, char *const *keys, size_t n);
void tm_table_groups_close(struct tm_table_groups *g); /* NULL: a no-op */
/* Adds a listed file of the table to the hash. */
void tm_table_groups_note(struct tm_table_groups *g, const struct tm_item *file);
/* 1: a complete file exists. 0: none. TM_ECHANGED: it was made from other files. TM_EDAMAGE,
 * TM_EVERSION. */
int tm_table_groups_open(struct tm_table_groups *g, struct tm_err *err);
/* Adds rows. TM_EUSAGE: a key is not a column. */
int tm_table_groups_add(struct tm_table_groups *g, const struct tm_data_frame *f,
                        struct tm_err *err);
/* Writes the file. */
int tm_table_groups_finish(struct tm_table_groups *g, struct tm_err *err);
/* 1: adds the keys and the range of the next group to `bytes`. 0: the end. */
int tm_table_groups_next(struct tm_table_groups *g, uint32_t *items, struct tm_buf *bytes,
                         struct tm_err *err);

/* Reads a complete file and compares it with its check sums. TM_EDAMAGE sets `at` to the group that
 * is not as it was written; -1: the head. Also TM_EVERSION, or a system error. */
int tm_table_groups_check(const struct tm_fs *fs, const char *path, int64_t *at,
                          struct tm_err *err);

/* Loads the rows of a range of such a file as a frame in the arena. Hostile bytes: TM_EDAMAGE; a
 * missing file: -ENOENT. */
struct tm_arena;
int tm_table_groups_load(const struct tm_fs *fs, const struct tm_item *item, struct tm_arena *arena,
                         struct tm_data_frame *out, struct tm_err *err);

#endif
