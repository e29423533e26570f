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
#include "sys/stop.h"

struct tm_cut;

struct tm_mini_batch {
  uint32_t dataset; /* number of the input it is of, from 0 */
  uint32_t items;
  struct tm_buf bytes; /* the items, item.h; the caller's, reused from call to call */
};

struct tm_cut_options {
  const struct tm_dataset *const *inputs; /* the caller's, until close */
  size_t inputs_len;
  int64_t mini_batch_size; /* files; not with partition_keys */
  char *const *
      partition_keys; /* each distinct combination of their values is one mini-batch; every input has them */
  size_t partition_keys_len;
  const char *
      spill_dir; /* where files without a name may be made while items are grouped; not NULL with partition_keys */
  const struct tm_stop *
      stop; /* ends tm_cut_next() with -ECANCELED when it is raised, also while that waits; or NULL */
  void (*on_warning)(
      void *data, const char *text); /* a loop of links, ...; from within tm_cut_next(); or NULL */
  void *data;
};

struct tm_cut *tm_cut_open(const struct tm_cut_options *options);
/* 1: `out` holds the next one. 0: the end. Negative: an unreadable folder, a manifest that is missing, a path that does not
 * fit the partition format (TM_EINPUT), ... A pattern or
 * path that matches nothing is no error here: *_found tells at the end. */
int tm_cut_next(struct tm_cut *cut, struct tm_mini_batch *out, struct tm_err *err);
void tm_cut_close(struct tm_cut *cut);
/* After the end without any item: the words of "no input", with the patterns and where they were looked for. */
int tm_cut_no_input(const struct tm_cut *cut, struct tm_err *err);

#endif
