/* table_load.h - loads the mini-batches of tables as data frames, in a worker before run().
 *
 * Nothing is read before the first load: a mini-batch is recorded only after its schema. A frame
 * lives until the next load. Used by one thread.
 */
#ifndef TM_DATA_TABLE_TABLE_LOAD_H
#define TM_DATA_TABLE_TABLE_LOAD_H

#include "data/dataset.h"
#include "data/frame/frame.h"
#include "data/item.h"
#include "data/rows/fault.h"
#include "data/table/schemas.h"
#include "sys/fs.h"
#include "sys/stop.h"

struct tm_table_loader;

/* The definitions as JSON (tm_dataset_tables()), and the files of the job; all copied. schema_file,
 * index_dir: or NULL. */
struct tm_table_loader *tm_table_loader_new(const struct tm_fs *fs, const char *tables,
                                            const char *schema_file, const char *index_dir);
void tm_table_loader_free(struct tm_table_loader *l); /* NULL: a no-op */
/* From now on compares only the sizes of files, not their times: tm_item_check(). */
void tm_table_loader_compare_sizes(struct tm_table_loader *l);
/* How long a file of the job may be missing or old, because a network disk shows changes late. */
void tm_table_loader_wait(struct tm_table_loader *l, int64_t patience_ns);
/* Uses these schemas instead of a file; copies them. */
int tm_table_loader_use(struct tm_table_loader *l, const struct tm_schemas *schemas,
                        struct tm_err *err);

/* For loading outside a worker: a limit of memory for the rows of one query, and a flag that stops
 * it, which must live as long as the loader. Ranges bound the rows of files. */
void tm_table_loader_bound(struct tm_table_loader *l, size_t max_bytes, const struct tm_stop *stop);
/* Whether a file that the job itself has written (schema.json, or grouped rows) was missing or
 * damaged: the job cannot continue. NULL: false. */
bool tm_table_loader_has_bad_state(const struct tm_table_loader *l);

/* Whether rows of a range of this input may be left out (table_ops.h). True if its definition has
 * not been read yet; NULL: true. */
bool tm_table_loader_leaves_out(const struct tm_table_loader *l, uint32_t dataset);

/* Rows of a mini-batch, counted from 0; count 0: all. */
struct tm_rows_part {
  int64_t first, count;
};
/* Loads the mini-batch `bytes` (item.h) of input number `dataset`. TM_ECHANGED: a file has another
 * size or time than when it was listed; TM_EDAMAGE, TM_EUSAGE, ... with a message that names file,
 * line and column. */
int tm_table_load(struct tm_table_loader *l, uint32_t dataset, const char *bytes, size_t len,
                  struct tm_rows_part part, struct tm_data_frame *out, struct tm_err *err);
/* Adds the warnings of the last load as a list (fault_list.h), one per kind with its first place;
 * nothing if there were none. */
void tm_table_load_faults(struct tm_table_loader *l, struct tm_buf *out);
/* The same as text. */
void tm_table_load_words(struct tm_table_loader *l, struct tm_buf *out);
/* The number of rows of a mini-batch, without loading it: known from the listing, or counted as row
 * ends, in pieces, of at most 1 GB of a file. Filters are not applied, and empty lines count.
 * Negative: rows of a query, of a larger mini-batch, or of an unreadable file are not counted. */
int64_t tm_table_count(struct tm_table_loader *l, uint32_t dataset, const char *bytes, size_t len,
                       struct tm_err *err);

#endif
