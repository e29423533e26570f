/* table_schema.h - the columns of a table before there is a job, from the first rows of its first
 * file that has some. */
#ifndef TM_DATA_TABLE_SCHEMA_H
#define TM_DATA_TABLE_SCHEMA_H

#include "data/dataset.h"
#include "data/rows/schema.h"
#include "sys/fs.h"

/* 1: `out` has the columns. 0: they are not known, because there are no rows yet, the files are
 * written by another step, or a query would have to run; or negative: whoever lists the table will
 * report the error. Reads little of a file, but all names of its folders at worst. Release `out`
 * in every case. */
int tm_table_schema_find(struct tm_schema *out, const struct tm_fs *fs, const struct tm_dataset *d);

#endif
