/* step_json.h - the model of a step as JSON. Pure. */
#ifndef TM_INSIGHT_STEP_JSON_H
#define TM_INSIGHT_STEP_JSON_H

#include "base/json.h"
#include "insight/step_model.h"

#define TM_STEP_JSON_WORKERS 1000 /* at most, the first ones */

/* Adds members to `out`, an object. `now_ns`: of a running step, or 0. All times are ns. */
void tm_step_model_add_json(struct tm_json *out, const struct tm_step_model *m, int64_t now_ns);

#endif
