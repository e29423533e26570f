/* datasets.h - datasets of a definition: the options of a table settled by the table of parameters, the rest by data/dataset.c.
 * Within plan, and for the binding, which checks a dataset where it is defined.
 */
#ifndef TM_PLAN_DATASETS_H
#define TM_PLAN_DATASETS_H

#include "base/err.h"
#include "base/json.h"
#include "data/dataset.h"

/* `v` as a constructor made it; base_dir for relative paths, unless it has one of its own. NULL and words with the place. */
struct tm_dataset *tm_plan_dataset(const struct tm_json *v, const char *base_dir,
                                   struct tm_err *err);
/* The same of a tree that is taken over. */
struct tm_dataset *tm_plan_dataset_of(struct tm_json *v, const char *base_dir, struct tm_err *err);

/* The tree of a TabularDataset over these paths. The ending of the first says what all are, in upper or lower case: .tsv; .jsonl,
 * .ndjson and .json are JSON lines; anything else is CSV. .gz and the like behind it do not count. To be freed. */
struct tm_json *tm_plan_table(const char *const *paths, size_t n);

#endif
