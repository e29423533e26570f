/* table_folders.h - writes sorted rows as delimited files: a folder for each value of the first
 * key, in it one for each value of the second, and so on; the last one has "rows.csv", without the
 * key columns.
 *
 *   2026-01-31/north/rows.csv
 *
 * The names of folders are those of {key:%} (files/partition.h), and the files read back as the
 * same rows. Nothing is fsynced.
 */
#ifndef TM_DATA_TABLE_TABLE_FOLDERS_H
#define TM_DATA_TABLE_TABLE_FOLDERS_H

#include "data/table/row_sorter.h"

#define TM_TABLE_FOLDERS_FILE "rows.csv"

struct tm_table_folders {
  int64_t rows, files, bytes;
  uint64_t names;       /* a check sum of paths and sizes, in any order; tm_table_folders_note() */
  bool has_line_breaks; /* in fields: they must be read with support_multi_line */
};

/* Writes all rows of the sorter, which sorts by these n keys. `dir` exists and is empty. TM_EINPUT:
 * a value cannot be the name of a folder; there are only key columns; a null cannot be written
 * because the file has one column. */
int tm_table_folders_write(const struct tm_fs *fs, const char *dir, struct tm_row_sorter *sorter,
                           char *const *keys, size_t n, struct tm_table_folders *out,
                           struct tm_err *err);
/* Counts a file, by its path below `dir`. */
void tm_table_folders_note(struct tm_table_folders *t, const char *below, size_t n, int64_t size);

#endif
