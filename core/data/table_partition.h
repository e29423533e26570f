/* table_partition.h - the rows of a table, written into folders by the values of some of its columns: a new dataset.
 *
 * All rows are read once, with what the dataset's operations leave of them, sorted in a fixed amount of memory, and written
 * (table_folders.h) to a folder beside the target that gets the target's name when it is complete and on the disk: the target is
 * there whole or not at all. What it was made of is noted in it; when it is asked for again, and neither the table's files nor
 * those of the target have changed, nothing is read or written.
 *
 * Blocking; for a pipeline file that is loaded.
 */
#ifndef TM_DATA_TABLE_PARTITION_H
#define TM_DATA_TABLE_PARTITION_H

#include "data/dataset.h"
#include "sys/fs.h"

struct tm_table_partition {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset; /* a table */
  char *const *keys;                /* names of columns */
  size_t keys_len;
  const char *target; /* absolute: a folder, which need not be there */
  bool overwrite;     /* what it made of other rows is replaced */
};

/* The definition of the new dataset, as Dataset.Tabular.from_delimited_files makes it; to free. NULL: keys that are no columns
 * (TM_EUSAGE), a target that is not empty and not its own (TM_EUSAGE), no rows (TM_ENOINPUT), ... `notes`: what was not as it
 * should be in the rows; nothing where all was, or nothing was read. */
struct tm_json *tm_table_partition(const struct tm_table_partition *p, struct tm_buf *notes,
                                   struct tm_err *err);

#endif
