/* cut.h - the datasets of a step, cut into mini-batches: a stream, in the defined order, with memory for one mini-batch
 * and one folder per level.
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

/* stop: ends tm_cut_next() with -ECANCELED when it is raised, also while that waits; the caller's, or NULL.
 * on_warning: a loop of links, an unreadable folder that is skipped, ...; called from within tm_cut_next(). */
struct tm_cut *tm_cut_open(const struct tm_dataset *const *inputs, size_t inputs_len,
                           int64_t mini_batch_size, const struct tm_stop *stop,
                           void (*on_warning)(void *data, const char *text), void *data);
/* 1: `out` holds the next one. 0: the end. Negative: an unreadable folder, a manifest that is missing, ... A pattern or
 * path that matches nothing is no error here: *_found tells at the end. */
int tm_cut_next(struct tm_cut *cut, struct tm_mini_batch *out, struct tm_err *err);
void tm_cut_close(struct tm_cut *cut);
/* After the end without any item: the words of "no input", with the patterns and where they were looked for. */
int tm_cut_no_input(const struct tm_cut *cut, struct tm_err *err);

#endif
