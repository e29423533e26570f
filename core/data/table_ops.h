/* table_ops.h - what is done with the rows of a table before run() gets them: which of them, and which columns.
 *
 * A definition has them as a list, in the order in which they were asked for:
 *
 *   {"op": "skip" | "take", "count": n}                 rows of the whole dataset, in its order
 *   {"op": "sample", "probability": p, "seed": s}       each row with this probability
 *   {"op": "split", "fraction": p, "seed": s, "part": 1 | 2}   the rows that are drawn, or all others
 *   {"op": "filter", "column": name, "is": "==" | "~=" | "<" | "<=" | ">" | ">=", "value": v}
 *   {"op": "keep" | "drop", "columns": [name, ...]}
 *
 * skip and take stand before what looks at rows: the lister applies them, which knows row numbers, not contents. A row is drawn
 * by its number in the dataset and the seed alone: not by how the dataset is cut, nor by which worker has it.
 */
#ifndef TM_DATA_TABLE_OPS_H
#define TM_DATA_TABLE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "data/arena.h"
#include "data/frame.h"
#include "data/rows/schema.h"

struct tm_table_op;

struct tm_table_ops {
  int64_t skip, take; /* rows of the dataset: passed over at its beginning; used then, -1: all */
  bool has_numbers;   /* rows are drawn by their number */
  struct tm_table_op *at;
  size_t len;
};

/* `list`: NULL or what is above. TM_EUSAGE with words. Release it in every case. */
int tm_table_ops_read(struct tm_table_ops *o, const struct tm_json *list, struct tm_err *err);
void tm_table_ops_release(struct tm_table_ops *o);
/* Whether the columns that are named are there, and of a type that goes with its value. TM_EUSAGE. */
int tm_table_ops_check(const struct tm_table_ops *o, const struct tm_schema *s, struct tm_err *err);
/* Which columns nobody asks for: those that are left out in the end and that no filter looks at. */
void tm_table_ops_mark(const struct tm_table_ops *o, struct tm_schema *s);
/* The rows and columns that are left, in memory of the arena; `number`: of the first row, in the dataset. */
int tm_table_ops_apply(const struct tm_table_ops *o, struct tm_arena *arena,
                       struct tm_data_frame *f, int64_t number, struct tm_err *err);

/* The rows of `f` with these numbers (n of them, from 0), in the arena. */
void tm_frame_take(struct tm_arena *arena, struct tm_data_frame *f, const int32_t *rows, int64_t n);

#endif
