/* table_folders.h - sorted rows as delimited files: a folder for each value of the first key, in it one for each of the second,
 * and so on, and in the last one "rows.csv", without the columns that are keys.
 *
 *   2026-01-31/north/rows.csv
 *
 * Names of folders are those of {key:%} (files/partition.h), and what is written reads back as it was. Nothing is fsynced.
 */
#ifndef TM_DATA_TABLE_FOLDERS_H
#define TM_DATA_TABLE_FOLDERS_H

#include "data/row_sorter.h"

#define TM_TABLE_FOLDERS_FILE "rows.csv"

struct tm_table_folders {
  int64_t rows, files, bytes;
  uint64_t
      names; /* a check sum of paths and sizes, whatever their order is; tm_table_folders_note() */
  bool has_line_breaks; /* in fields: to be read with support_multi_line */
};

/* Takes all rows of the sorter, whose keys these n are. `dir` is there, and empty. TM_EINPUT: a value that no folder can be
 * called; no column but keys; a null that one column alone cannot have in such a file. */
int tm_table_folders_write(const struct tm_fs *fs, const char *dir, struct tm_row_sorter *sorter,
                           char *const *keys, size_t n, struct tm_table_folders *out,
                           struct tm_err *err);
/* Counts a file, by its path below `dir`. */
void tm_table_folders_note(struct tm_table_folders *t, const char *below, size_t n, int64_t size);

#endif
