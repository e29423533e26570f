/* splitter.h - splits the datasets of a step into mini-batches: a stream, in the defined order.
 * Memory holds one mini-batch and one folder per level. With partition keys, the first mini-batch
 * of an input comes when all of it has been listed.
 *
 * Inputs come one after the other and are never mixed in a mini-batch. Used by one thread (the
 * lister); blocking.
 */
#ifndef TM_DATA_SPLITTER_H
#define TM_DATA_SPLITTER_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/dataset.h"
#include "data/item.h"
#include "data/table/schemas.h"
#include "sys/stop.h"

struct tm_splitter;

struct tm_mini_batch {
  uint32_t dataset; /* number of its input, from 0 */
  uint32_t items;
  struct tm_buf bytes; /* the items (item.h); the caller's, reused from call to call */
};

/* Everything it points to belongs to the caller, until close. */
struct tm_splitter_options {
  const struct tm_fs *fs; /* for files that are written; NULL: the machine's */
  const struct tm_dataset *const *inputs;
  size_t inputs_len;
  int64_t mini_batch_size; /* files; for tables bytes or, with counts_rows, rows */
  bool counts_rows;

  /* Instead of a size: each combination of their values is one mini-batch. Every input must have
   * them. */
  char *const *partition_keys;
  size_t partition_keys_len;
  /* folder for temporary files while items are grouped; not NULL with partition_keys */
  const char *spill_dir;

  /* For tables. */
  /* one for each input, filled as they are found; NULL if no input is a table */
  struct tm_schemas *schemas;
  const char *groups_dir;  /* where rows grouped by partition_keys are stored; NULL: in spill_dir */
  const char *schema_file; /* where the schemas are stored; or NULL */
  const char *index_dir;   /* for indexes of packed files; or NULL */

  /* Called with each file (or archive) of input number `input` when it is listed, before any of its
   * items is returned. NULL as the file: forget those of this input, they will be listed again.
   * Negative, with a message: the splitting ends. Or NULL. */
  int (*on_file)(void *data, uint32_t input, const struct tm_item *file, struct tm_err *err);

  /* when set, tm_splitter_next() ends with -ECANCELED, also while it waits; or NULL */
  const struct tm_stop *stop;
  void (*on_warning)(void *data, const char *text); /* called within tm_splitter_next(); or NULL */
  void *data;
};

struct tm_splitter *tm_splitter_open(const struct tm_splitter_options *options);
/* 1: `out` holds the next mini-batch. 0: the end. Negative: an unreadable folder, a missing
 * manifest, a path that does not fit the partition format (TM_EINPUT), ... A pattern or path that
 * matches nothing is not an error here: call tm_splitter_no_input() at the end. */
int tm_splitter_next(struct tm_splitter *splitter, struct tm_mini_batch *out, struct tm_err *err);
void tm_splitter_close(struct tm_splitter *splitter);
/* After an end without items: fills `err` with the patterns and where they were searched. */
int tm_splitter_no_input(const struct tm_splitter *splitter, struct tm_err *err);

#endif
