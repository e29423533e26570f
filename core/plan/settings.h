/* settings.h - the settings of a step, each with its value and its origin, on the way to a struct tm_config. Within plan.
 *
 * Steps of a caller: tm_values_init() over the whole pipeline; tm_settings_make() for each ParallelRunConfig;
 * tm_config_fill(); tm_settings_publish() for the record.
 */
#ifndef TM_PLAN_SETTINGS_H
#define TM_PLAN_SETTINGS_H

#include "base/err.h"
#include "base/json.h"
#include "plan/config.h"
#include "plan/pipeline.h"

/* The PipelineParameters of a pipeline by name, with the values of this submission; and what its machine says. */
struct tm_values {
  struct tm_json *by_name;   /* object: name -> value; never NULL after init */
  struct tm_json *origins;   /* of those that were given: name -> struct tm_param's origin */
  int64_t processes_default; /* process_count_per_node where a config gives none */
};

/* That number, of this machine: as many as cores, or one beside GPUs. It reads files of the kernel's: once for a pipeline is enough. */
int64_t tm_settings_processes_default(void);

/* Collects the parameters of the tree `v`, and takes the values given. TM_EUSAGE: one name with two defaults, a name that
 * is not in the pipeline, a value of another type (given.h). `base_dir` is the folder of the pipeline file. Release it in every case. */
int tm_values_init(struct tm_values *p, const struct tm_json *v, const struct tm_param *params,
                   size_t params_len, const char *base_dir, struct tm_err *err);
void tm_values_release(struct tm_values *p);
/* The value for the PipelineParameter `parameter`; memory of `p`. */
const struct tm_json *tm_values_find(const struct tm_values *p, const struct tm_json *parameter);
/* The tree `v` with values in the place of PipelineParameters, to be freed; `p` NULL: their defaults. */
struct tm_json *tm_values_put(const struct tm_values *p, const struct tm_json *v);
/* {name: {value, origin}} of the parameters in the tree `v`, in their order, to be freed. */
struct tm_json *tm_values_used(const struct tm_values *p, const struct tm_json *v);

/* {name: {value, origin}} for every parameter that has a value; to be freed. `origin` is that of what `config` gives; some
 * defaults depend on the inputs of the step. NULL and words with the place. */
struct tm_json *tm_settings_make(const struct tm_json *config, const struct tm_step *step,
                                 const struct tm_values *params, const char *origin,
                                 struct tm_err *err);
/* The variables of both settings as one object, to be freed; either may be NULL. */
struct tm_json *tm_environment_variables(const struct tm_json *environment,
                                         const struct tm_json *variables);
/* Adds LUA_PATH and LUA_CPATH for its module_paths, against base_dir. TM_EUSAGE: there is no such folder. */
int tm_environment_add_paths(struct tm_json *out, const struct tm_json *environment,
                             const char *base_dir, struct tm_err *err);
/* Fills `c` (zeroed before), also partly on failure: release it. Paths are made absolute against base_dir and looked at.
 * Words without a place. */
int tm_config_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *step,
                   const char *base_dir, struct tm_err *err);
void tm_config_release(struct tm_config *c);
/* Makes them what may be shown and kept: absolute paths; of environment variables the names and one hash. */
void tm_settings_publish(struct tm_json *settings, const struct tm_config *c);

#endif
