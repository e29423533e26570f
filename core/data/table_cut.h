/* table_cut.h - the files (or databases) of a table, one after the other, as ranges of rows; and the schema that they have. For cut.c.
 *
 * Steps: new; begin() a file; next() until 0; begin() the next file, ...; free.
 */
#ifndef TM_DATA_TABLE_CUT_H
#define TM_DATA_TABLE_CUT_H

#include "data/dataset.h"
#include "data/files/partition.h"
#include "data/item.h"
#include "data/rows/schema.h"
#include "sys/fs.h"

struct tm_table_cut_options {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset; /* a table */
  struct tm_partition *partition;   /* of its paths, or NULL */
  struct tm_schema *schema;         /* empty: found in the first file that has a row */
  const char *index_dir;            /* or NULL */
  int64_t size;                     /* of a range: bytes, or */
  bool counts_rows;                 /* rows */
  bool with_rows;                   /* the rows of each range are to be known */
  /* A compressed file that is damaged becomes an item with a fault, as an archive does: it fails alone, and the files behind it
   * are read. Only before any of its rows has been handed out, and only where no row has to be counted. Else it is an error. */
  bool fails_alone;
  void (*on_warning)(void *data, const char *text); /* of such a file; or NULL */
  void *data;
};

struct tm_table_cut;

struct tm_table_cut *tm_table_cut_new(const struct tm_table_cut_options *options);
void tm_table_cut_free(struct tm_table_cut *c); /* NULL: a no-op */
/* A file as it was listed: opened, and looked at for the schema where there is none yet. The path is copied. */
int tm_table_cut_begin(struct tm_table_cut *c, const struct tm_item *file, struct tm_err *err);
/* 1: the next range of the file, or the file itself with its fault; the path is the cut's own. 0: the end of the file. */
int tm_table_cut_next(struct tm_table_cut *c, struct tm_item *out, struct tm_err *err);
/* No further row is wanted (take). */
bool tm_table_cut_is_done(const struct tm_table_cut *c);
/* Adds the columns of one more file to the schema (headers that differ); all of them, before the first begin(). */
int tm_table_cut_look(struct tm_table_cut *c, const struct tm_item *file, struct tm_err *err);
/* All files have been looked at: the columns that are of files. */
int tm_table_cut_end_look(struct tm_table_cut *c, struct tm_err *err);

#endif
