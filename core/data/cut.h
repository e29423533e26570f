/* cut.h - the datasets of a step, cut into mini-batches: a stream, in the defined order, with memory for one mini-batch
 * and one folder per level. With partition keys the first mini-batch of an input comes when all of it has been listed.
 *
 * Inputs come one after the other and are never mixed in a mini-batch. Used by one thread (the lister); blocking.
 */
#ifndef TM_DATA_CUT_H
#define TM_DATA_CUT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/dataset.h"
#include "data/item.h"
#include "data/schemas.h"
#include "sys/stop.h"

struct tm_cut;

struct tm_mini_batch {
  uint32_t dataset; /* number of the input it is of, from 0 */
  uint32_t items;
  struct tm_buf bytes; /* the items, item.h; the caller's, reused from call to call */
};

/* What it leads to is the caller's, until close. */
struct tm_cut_options {
  const struct tm_fs *fs; /* for what is written; NULL: the machine's */
  const struct tm_dataset *const *inputs;
  size_t inputs_len;
  int64_t mini_batch_size; /* files; of tables bytes or, with counts_rows, rows */
  bool counts_rows;

  /* Instead of a size: each combination of their values is one mini-batch. Every input has them. */
  char *const *partition_keys;
  size_t partition_keys_len;
  const char *
      spill_dir; /* where files may be made while items are grouped; not NULL with partition_keys */

  /* For tables. */
  struct tm_schemas
      *schemas; /* one for each input, filled as they are found; NULL where none is a table */
  const char *
      groups_dir; /* where the rows are kept that partition_keys have grouped; NULL: in spill_dir */
  const char *schema_file; /* where they are kept; or NULL */
  const char *index_dir;   /* for indexes of packed files; or NULL */

  /* Each file (of archives: each archive) of input number `input` as it is listed, before anything of it is handed out; NULL: those of this input so far
   * do not count, they come again. Negative, with words: nothing more is cut. Or NULL. */
  int (*on_file)(void *data, uint32_t input, const struct tm_item *file, struct tm_err *err);

  const struct tm_stop
      *stop; /* raised: tm_cut_next() ends with -ECANCELED, also while it waits; or NULL */
  void (*on_warning)(void *data, const char *text); /* from within tm_cut_next(); or NULL */
  void *data;
};

struct tm_cut *tm_cut_open(const struct tm_cut_options *options);
/* 1: `out` holds the next one. 0: the end. Negative: an unreadable folder, a manifest that is missing, a path that does not
 * fit the partition format (TM_EINPUT), ... A pattern or path that matches nothing is no error here: *_no_input tells at the
 * end. */
int tm_cut_next(struct tm_cut *cut, struct tm_mini_batch *out, struct tm_err *err);
void tm_cut_close(struct tm_cut *cut);
/* After the end without any item: the words of "no input", with the patterns and where they were looked for. */
int tm_cut_no_input(const struct tm_cut *cut, struct tm_err *err);

#endif
