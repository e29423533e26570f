/* parameters.h - the PipelineParameters of a pipeline, with their values at this submission. Within
 * plan, and for the Lua binding.
 *
 * Steps of a caller: tm_values_init() over the whole pipeline; the other functions while it is
 * read; tm_values_release().
 */
#ifndef TM_PLAN_PARAMETERS_H
#define TM_PLAN_PARAMETERS_H

#include "base/err.h"
#include "base/json.h"
#include "plan/given.h"

/* The PipelineParameters of a pipeline by name, with the values of this submission; and a default
 * that depends on the machine. */
struct tm_values {
  struct tm_json *by_name;   /* object: name -> value; never NULL after init */
  struct tm_json *origins;   /* of the given ones: name -> struct tm_param's origin */
  int64_t processes_default; /* process_count_per_node of this machine, if a config has none */
};

/* Collects the parameters of the tree `v`, and takes the given values. TM_EUSAGE: one name with two
 * defaults, a name that is not in the pipeline, a value of another type (given.h). `base_dir`: the
 * folder of the pipeline file. Release it in every case. */
int tm_values_init(struct tm_values *p, const struct tm_json *v, const struct tm_param *params,
                   size_t params_len, const char *base_dir, struct tm_err *err);
void tm_values_release(struct tm_values *p);
/* The value for the PipelineParameter `parameter`; memory of `p`. */
const struct tm_json *tm_values_find(const struct tm_values *p, const struct tm_json *parameter);
/* The tree `v` with PipelineParameters replaced by their values, to be freed; `p` NULL: by their
 * defaults. */
struct tm_json *tm_values_put(const struct tm_values *p, const struct tm_json *v);
/* {name: {value, origin}} of the parameters in the tree `v`, in their order, to be freed. */
struct tm_json *tm_values_used(const struct tm_values *p, const struct tm_json *v);

#endif
