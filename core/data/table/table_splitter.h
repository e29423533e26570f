/* table_splitter.h - the files (or databases) of a table, one after the other, as ranges of rows;
 * and their schema. For splitter.c.
 *
 * Steps: new; begin() a file; next() until 0; begin() the next file, ...; free.
 */
#ifndef TM_DATA_TABLE_TABLE_SPLITTER_H
#define TM_DATA_TABLE_TABLE_SPLITTER_H

#include "data/dataset.h"
#include "data/files/partition.h"
#include "data/item.h"
#include "data/rows/schema.h"
#include "sys/fs.h"

struct tm_table_splitter_options {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset; /* a table */
  struct tm_partition *partition;   /* of its paths, or NULL */
  struct tm_schema *schema;         /* empty: inferred from the first file that has a row */
  const char *index_dir;            /* or NULL */
  int64_t size;                     /* of a range: bytes, or with counts_rows rows */
  bool counts_rows;
  bool with_rows; /* the number of rows of each range must be known */
  /* A damaged compressed file becomes an item with a fault, like an archive: it fails alone, and
   * later files are read. Only before any of its rows was returned, and only if no rows must be
   * counted. Else it is an error, TM_EINPUT. */
  bool fails_alone;
  void (*on_warning)(void *data, const char *text); /* about such a file; or NULL */
  void *data;
};

struct tm_table_splitter;

struct tm_table_splitter *tm_table_splitter_new(const struct tm_table_splitter_options *options);
void tm_table_splitter_free(struct tm_table_splitter *c); /* NULL: a no-op */
/* Opens a listed file, and infers the schema if there is none yet. Copies the path. */
int tm_table_splitter_begin(struct tm_table_splitter *c, const struct tm_item *file,
                            struct tm_err *err);
/* 1: the next range of the file, or the file itself with its fault; the path belongs to the
 * splitter. 0: the end of the file. */
int tm_table_splitter_next(struct tm_table_splitter *c, struct tm_item *out, struct tm_err *err);
/* Whether no further row is wanted (take). */
bool tm_table_splitter_is_done(const struct tm_table_splitter *c);
/* Adds the columns of one more file to the schema (headers that differ). Call it for all files
 * before the first begin(). */
int tm_table_splitter_look(struct tm_table_splitter *c, const struct tm_item *file,
                           struct tm_err *err);
/* After the last tm_table_splitter_look(): adds the columns that are the same for a whole file. */
int tm_table_splitter_end_look(struct tm_table_splitter *c, struct tm_err *err);

#endif
