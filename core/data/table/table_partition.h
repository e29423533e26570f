/* table_partition.h - writes the rows of a table into folders by the values of some columns: a new
 * dataset.
 *
 * All rows that the dataset's operations leave are read once, sorted in a fixed amount of memory,
 * and written (table_folders.h) to a folder beside the target. It gets the target's name when it is
 * complete and on the disk, so the target exists completely or not at all. A note in it says what
 * it was made from; if it is requested again and neither the table's files nor those of the target
 * have changed, nothing is read or written.
 *
 * Blocking; for a pipeline file that is loaded.
 */
#ifndef TM_DATA_TABLE_TABLE_PARTITION_H
#define TM_DATA_TABLE_TABLE_PARTITION_H

#include "data/dataset.h"
#include "sys/fs.h"

struct tm_table_partition {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset; /* a table */
  char *const *keys;                /* names of columns */
  size_t keys_len;
  const char *target; /* absolute: a folder, which need not exist */
  bool overwrite;     /* replaces a target that it made from other rows */
};

/* The definition of the new dataset, as Dataset.Tabular.from_delimited_files makes it; free it.
 * NULL: keys that are not columns (TM_EUSAGE), a target that is not empty and not its own
 * (TM_EUSAGE), no rows (TM_ENOINPUT), ... Adds warnings about the rows to `notes`. */
struct tm_json *tm_table_partition(const struct tm_table_partition *p, struct tm_buf *notes,
                                   struct tm_err *err);

#endif
