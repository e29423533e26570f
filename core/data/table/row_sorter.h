/* row_sorter.h - sorts the rows of frames by the values of some of their columns, in a fixed amount
 * of memory.
 *
 * Rows with equal values come in the order in which they were added. Blocking; used by one thread.
 *
 * Steps: new, add the frames of a table, next until 0, free. Nothing may be added after the first
 * next.
 */
#ifndef TM_DATA_TABLE_ROW_SORTER_H
#define TM_DATA_TABLE_ROW_SORTER_H

#include <stdbool.h>

#include "data/frame/frame.h"
#include "data/rows/schema.h"
#include "sys/fs.h"

struct tm_row_sorter;

/* dir: folder for a temporary file without a name. keys: n names of columns, the caller's. what:
 * the parameter that names them, for messages. */
struct tm_row_sorter *tm_row_sorter_new(const struct tm_fs *fs, const char *dir, const char *what,
                                        char *const *keys, size_t n);
void tm_row_sorter_free(struct tm_row_sorter *s); /* NULL: a no-op */
/* TM_EUSAGE: a key is not a column. TM_EINPUT: a value of a key is too long. */
int tm_row_sorter_add(struct tm_row_sorter *s, const struct tm_data_frame *f, struct tm_err *err);
/* The columns of the rows; empty before the first frame. */
const struct tm_schema *tm_row_sorter_columns(const struct tm_row_sorter *s);

struct tm_sorted_row {
  const char *keys, *row; /* key.h; row_code.h, of all columns. Valid until the next call */
  size_t keys_len, row_len;
  bool is_first; /* with these keys */
};
/* 1, 0 at the end, or a negative code. */
int tm_row_sorter_next(struct tm_row_sorter *s, struct tm_sorted_row *out, struct tm_err *err);

#endif
