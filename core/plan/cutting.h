/* cutting.h - how the inputs of a step are cut into mini-batches: mini_batch_size and partition_keys, which exclude each other,
 * against what the inputs are. Within plan.
 */
#ifndef TM_PLAN_CUTTING_H
#define TM_PLAN_CUTTING_H

#include "base/err.h"
#include "base/json.h"
#include "plan/config.h"
#include "plan/pipeline.h"

/* The default of mini_batch_size, to be freed; NULL: there is none beside partition_keys. `config` as it was defined. */
struct tm_json *tm_cutting_default(const struct tm_json *config, const struct tm_step *s);
/* Fills mini_batch_size, its unit and partition_keys of `c` from the settings. Words without a place. */
int tm_cutting_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *s,
                    struct tm_err *err);
/* TM_EUSAGE: a key that an input does not have. */
int tm_cutting_check(const struct tm_step *s, struct tm_err *err);
void tm_cutting_release(struct tm_config *c);

#endif
