/* splitting.h - checks how the inputs of a step are split into mini-batches: mini_batch_size and
 * partition_keys, which exclude each other, against the types of inputs. Within plan.
 */
#ifndef TM_PLAN_SPLITTING_H
#define TM_PLAN_SPLITTING_H

#include "base/err.h"
#include "base/json.h"
#include "plan/config.h"
#include "plan/pipeline.h"

/* The default of mini_batch_size, to be freed; NULL with partition_keys. `config`: as defined. */
struct tm_json *tm_splitting_default(const struct tm_json *config, const struct tm_step *s);
/* Fills mini_batch_size, its unit and partition_keys of `c` from the settings. The message has no
 * file:line. */
int tm_splitting_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *s,
                      struct tm_err *err);
/* TM_EUSAGE: an input lacks a key. */
int tm_splitting_check(const struct tm_step *s, struct tm_err *err);

#endif
