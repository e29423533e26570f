/* table_look.h - shows a table to a user: its columns with their types, and its first rows.
 *
 * Caller: _init() with the inputs of a step; _cut_options() before tm_cut_open(); _next() instead
 * of tm_cut_next(), then _add() formats it; _release() in every case. For inputs that are not
 * tables, all of these do nothing.
 */
#ifndef TM_ENTRY_TABLE_LOOK_H
#define TM_ENTRY_TABLE_LOOK_H

#include "data/cut.h"
#include "data/table/table_load.h"
#include "plan/pipeline.h"

struct tm_table_look {
  bool is_table;
  struct tm_schemas schemas;
  struct tm_table_loader *loader;
  struct tm_data_frame frame; /* of the last loaded mini-batch */
  struct tm_err fault;        /* of the last file that _next() left out; code 0: none */
};

void tm_table_look_init(struct tm_table_look *l, const struct tm_step *step);
/* For a step of an existing job, with the inputs in the job's record. Does nothing if `bytes`, a
 * mini-batch, has no rows. */
void tm_table_look_open_job(struct tm_table_look *l, const struct tm_json *inputs,
                            const char *job_dir, const char *step, const struct tm_buf *bytes);
void tm_table_look_release(struct tm_table_look *l);
void tm_table_look_cut_options(struct tm_table_look *l, struct tm_cut_options *options);
/* Whether the mini-batch stands for a file of a table that cannot be read, for example because it
 * is damaged. A job counts it as one failed item. */
bool tm_table_look_is_unread(const struct tm_table_look *l, const struct tm_mini_batch *mb);
/* The next mini-batch, with its rows loaded: 1; 0: there are no more. Leaves out files that cannot
 * be read: the cut has warned of each. */
int tm_table_look_next(struct tm_table_look *l, struct tm_cut *cut, struct tm_mini_batch *mb,
                       struct tm_err *err);
/* Why the first _next() returned 0. Returns the code of `err`. */
int tm_table_look_no_input(const struct tm_table_look *l, const struct tm_cut *cut,
                           struct tm_err *err);
/* Loads the rows of a mini-batch into l->frame, until the next call. */
int tm_table_look_load(struct tm_table_look *l, const struct tm_mini_batch *mb, struct tm_err *err);
/* Passes the loaded rows to run(). `range` is memory for their position. */
struct tm_run_call;
void tm_table_look_give(struct tm_table_look *l, struct tm_run_call *call, struct tm_item *range);
/* Adds "columns: id long, ..." and up to `rows` of the loaded rows, each line after `indent`. */
void tm_table_look_add(struct tm_buf *out, const struct tm_table_look *l, int64_t rows,
                       const char *indent);

#endif
