/* datasets.h - datasets of a definition: the table of parameters normalizes the options of a table,
 * data/dataset.c the rest. Within plan, and for the Lua binding, which checks a dataset when it is
 * defined.
 */
#ifndef TM_PLAN_DATASETS_H
#define TM_PLAN_DATASETS_H

#include "base/err.h"
#include "base/json.h"
#include "data/dataset.h"

/* `v`: from a constructor; base_dir: for relative paths, unless `v` has one. NULL with a message
 * that has the place. */
struct tm_dataset *tm_plan_dataset(const struct tm_json *v, const char *base_dir,
                                   struct tm_err *err);
/* The same, but takes ownership of the tree. */
struct tm_dataset *tm_plan_dataset_of(struct tm_json *v, const char *base_dir, struct tm_err *err);

/* The tree of a TabularDataset over these paths. The suffix of the first path, in upper or lower
 * case, is the format of all: .tsv; .jsonl, .ndjson and .json are JSON lines; anything else is CSV.
 * .gz and the like after it are ignored. To be freed. */
struct tm_json *tm_plan_table(const char *const *paths, size_t n);

#endif
