/* table_look.h - what a table looks like to who runs something over it: its columns with their types, and its first rows.
 *
 * Caller: _init() with the inputs of a step; _cut_options() before tm_cut_open(); _next() in place of tm_cut_next(), then _add()
 * writes it down; _release() in every case. Inputs that are not tables are cut, and otherwise left alone.
 */
#ifndef TM_LUA_TABLE_LOOK_H
#define TM_LUA_TABLE_LOOK_H

#include "data/cut.h"
#include "data/table_load.h"
#include "plan/pipeline.h"

struct tm_table_look {
  bool is_table;
  struct tm_schemas schemas;
  struct tm_table_loader *loader;
  struct tm_data_frame frame; /* of the mini-batch that was loaded last */
  struct tm_err fault; /* of the last file that _next() has left out; code 0: there was none */
};

void tm_table_look_init(struct tm_table_look *l, const struct tm_step *step);
/* For a job that is there: its inputs as its record has them, for one of its steps. Nothing where `bytes`, a
 * mini-batch, holds no rows. */
void tm_table_look_open_job(struct tm_table_look *l, const struct tm_json *inputs,
                            const char *job_dir, const char *step, const struct tm_buf *bytes);
void tm_table_look_release(struct tm_table_look *l);
void tm_table_look_cut_options(struct tm_table_look *l, struct tm_cut_options *options);
/* Whether the mini-batch stands for a file of a table that cannot be read, for example because it is damaged. A job counts it as
 * one failed item. */
bool tm_table_look_is_unread(const struct tm_table_look *l, const struct tm_mini_batch *mb);
/* The next mini-batch, with its rows loaded: 1; 0: there are no more. Files that cannot be read are left out: the cut has
 * warned of each. */
int tm_table_look_next(struct tm_table_look *l, struct tm_cut *cut, struct tm_mini_batch *mb,
                       struct tm_err *err);
/* Why the first _next() returned 0. Returns the code of `err`. */
int tm_table_look_no_input(const struct tm_table_look *l, const struct tm_cut *cut,
                           struct tm_err *err);
/* The rows of a mini-batch, in l->frame until the next call. */
int tm_table_look_load(struct tm_table_look *l, const struct tm_mini_batch *mb, struct tm_err *err);
/* The rows that were loaded, for run(): `range` is memory for where they are. */
struct tm_run_call;
void tm_table_look_give(struct tm_table_look *l, struct tm_run_call *call, struct tm_item *range);
/* "columns: id long, ..." and up to `rows` rows of what was loaded, each line behind `indent`. */
void tm_table_look_add(struct tm_buf *out, const struct tm_table_look *l, int64_t rows,
                       const char *indent);

#endif
