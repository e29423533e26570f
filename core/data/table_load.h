/* table_load.h - the mini-batches of tables as data frames: what a worker does with them before run().
 *
 * Nothing is read before the first load: the schema is on record when the first mini-batch is. A frame lives until the next
 * load. Used by one thread.
 */
#ifndef TM_DATA_TABLE_LOAD_H
#define TM_DATA_TABLE_LOAD_H

#include "data/dataset.h"
#include "data/frame.h"
#include "data/item.h"
#include "data/rows/fault.h"
#include "data/schemas.h"
#include "sys/fs.h"
#include "sys/stop.h"

struct tm_table_loader;

/* The definitions as JSON (tm_dataset_tables()), and the files of the job; all copied. schema_file, index_dir: or NULL. */
struct tm_table_loader *tm_table_loader_new(const struct tm_fs *fs, const char *tables,
                                            const char *schema_file, const char *index_dir);
void tm_table_loader_free(struct tm_table_loader *l); /* NULL: a no-op */
/* These schemas instead of a file; copied. */
int tm_table_loader_use(struct tm_table_loader *l, const struct tm_schemas *schemas,
                        struct tm_err *err);

/* For who loads rows outside a worker: the most memory that the rows of one query may take, and what stops them; the caller's,
 * as long as the loader. Rows of files are bounded by their ranges. */
void tm_table_loader_bound(struct tm_table_loader *l, size_t max_bytes, const struct tm_stop *stop);
/* Whether a file that the job itself has written, schema.json or one of grouped rows, was missing or damaged: the job cannot go
 * on. NULL: false. */
bool tm_table_loader_has_bad_state(const struct tm_table_loader *l);

/* Which rows of a mini-batch, counted from 0; count 0: all. */
struct tm_rows_part {
  int64_t first, count;
};
/* The mini-batch `bytes` (item.h) of input number `dataset`. TM_ECHANGED: a file has another size or time than when it was
 * listed; TM_EDAMAGE, TM_EUSAGE, ... with words that name file, line and column. */
int tm_table_load(struct tm_table_loader *l, uint32_t dataset, const char *bytes, size_t len,
                  struct tm_rows_part part, struct tm_data_frame *out, struct tm_err *err);
/* Warnings, a list (fault_list.h) with one of each kind: what was not as it should be in the last load, with the first place;
 * nothing when all was. */
void tm_table_load_faults(struct tm_table_loader *l, struct tm_buf *out);
/* The same as text. */
void tm_table_load_words(struct tm_table_loader *l, struct tm_buf *out);
/* How many rows the mini-batch has, without loading it: known from the listing, or the row ends of at most 1 GB of a file,
 * read in pieces. Filters are not applied, and empty lines count. Negative: the rows of a query, of a larger mini-batch, or of
 * a file that cannot be read are not counted. */
int64_t tm_table_count(struct tm_table_loader *l, uint32_t dataset, const char *bytes, size_t len,
                       struct tm_err *err);

/* "input 'x' changed since it was listed: size 3 -> 4": TM_ECHANGED; 0 when it is as it was, or was not looked at. */
int tm_item_check(const struct tm_fs *fs, const struct tm_item *item, struct tm_err *err);

#endif
