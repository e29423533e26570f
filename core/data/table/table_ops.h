/* table_ops.h - operations on the rows of a table before run() gets them: they select rows and
 * columns.
 *
 * A definition has a list of them, in the order of the calls:
 *
 *   {"op": "skip" | "take", "count": n}                 rows of the whole dataset, in its order
 *   {"op": "sample", "probability": p, "seed": s}       each row with this probability
 *   {"op": "split", "fraction": p, "seed": s, "part": 1 | 2}   the drawn rows, or the others
 *   {"op": "filter", "column": name, "is": "==" | "~=" | "<" | "<=" | ">" | ">=", "value": v}
 *   {"op": "keep" | "drop", "columns": [name, ...]}
 *
 * skip and take precede operations that look at rows: the lister applies them, and it knows row
 * numbers, not contents. Whether a row is drawn depends only on its number in the dataset and the
 * seed, not on the splits or the worker.
 */
#ifndef TM_DATA_TABLE_TABLE_OPS_H
#define TM_DATA_TABLE_TABLE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "data/frame/arena.h"
#include "data/frame/frame.h"
#include "data/rows/schema.h"

struct tm_table_op;

struct tm_table_ops {
  int64_t skip, take; /* rows to skip at the beginning, and to use after them; -1: all */
  bool has_numbers;   /* rows are drawn by their number */
  struct tm_table_op *at;
  size_t len;
};

/* `list`: NULL, or a list of the above. Checks each operation against the table of parameters.
 * TM_EUSAGE with a message. Release it in every case. */
int tm_table_ops_read(struct tm_table_ops *o, const struct tm_json *list, struct tm_err *err);
void tm_table_ops_release(struct tm_table_ops *o);
/* Checks that the named columns exist and that their types fit the values. TM_EUSAGE. */
int tm_table_ops_check(const struct tm_table_ops *o, const struct tm_schema *s, struct tm_err *err);
/* Whether they may leave out rows within a range: then the number of a row in its mini-batch does
 * not tell its place in the file. */
bool tm_table_ops_leave_out(const struct tm_table_ops *o);
/* Marks the columns that are not needed: those that are dropped in the end and that no filter
 * uses. */
void tm_table_ops_mark(const struct tm_table_ops *o, struct tm_schema *s);
/* Applies the operations, in memory of the arena; `number`: of the first row, in the dataset. */
int tm_table_ops_apply(const struct tm_table_ops *o, struct tm_arena *arena,
                       struct tm_data_frame *f, int64_t number, struct tm_err *err);

/* The columns that run() gets, as a frame without rows, in memory of the arena. TM_EUSAGE: the
 * operations do not fit the columns. */
int tm_table_ops_columns(const struct tm_table_ops *o, struct tm_arena *arena,
                         const struct tm_schema *s, struct tm_data_frame *out, struct tm_err *err);

/* Selects the rows of `f` with these numbers (n of them, from 0), in the arena. */
void tm_frame_take(struct tm_arena *arena, struct tm_data_frame *f, const int32_t *rows, int64_t n);

#endif
