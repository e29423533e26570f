/* step_walk.h - the mini-batches of a step without a job, one after another, as run() gets them:
 * for `try`, hosts, a prompt, `head` and `--dry-run`.
 *
 * Caller: tm_step_walk_open(); _next() until it does not return 1, or tm_splitter_next() with `cut`
 * and `mini_batch`, and _load() for those to look at; _close() in every case.
 */
#ifndef TM_ENTRY_STEP_WALK_H
#define TM_ENTRY_STEP_WALK_H

#include "agent/item_loader.h"
#include "data/splitter.h"
#include "plan/pipeline.h"

struct tm_step_walk {
  const struct tm_step *step;
  struct tm_splitter *splitter;    /* NULL: not open */
  struct tm_mini_batch mini_batch; /* the last one */
  uint64_t index;                  /* of the next one */
  bool is_table;
  struct tm_schemas schemas;
  struct tm_item_loader loader; /* of rows */
  struct tm_err fault;          /* of the last file that _next() left out; code 0: none */
};

/* `options`: tm_step_splitting(), and what the caller adds. The step must outlive the walk. */
void tm_step_walk_open(struct tm_step_walk *w, const struct tm_step *step,
                       struct tm_splitter_options options);
/* The next mini-batch, with its rows loaded: 1. 0: there are no more. Leaves out files that cannot
 * be read, after the cut has warned of each. Negative: the first _next() also says so if there is
 * no mini-batch at all. */
int tm_step_walk_next(struct tm_step_walk *w, struct tm_run_call *call, struct tm_err *err);
/* Whether the last mini-batch stands for a file of a table that cannot be read, for example because
 * it is damaged. A job counts it as one failed item. */
bool tm_step_walk_is_unread(const struct tm_step_walk *w);
/* Fills the call of the last mini-batch, and loads its rows, until the next call. */
int tm_step_walk_load(struct tm_step_walk *w, struct tm_run_call *call, struct tm_err *err);
void tm_step_walk_close(struct tm_step_walk *w); /* zeroed: a no-op */

#endif
