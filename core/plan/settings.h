/* settings.h - the settings of a step, each with its value and its origin, before they become a
 * struct tm_config. Within plan.
 *
 * Steps of a caller: tm_values_init() over the whole pipeline; tm_settings_make() for each
 * ParallelRunConfig; tm_config_fill(); tm_settings_publish() for the record.
 */
#ifndef TM_PLAN_SETTINGS_H
#define TM_PLAN_SETTINGS_H

#include "base/err.h"
#include "base/json.h"
#include "plan/config.h"
#include "plan/pipeline.h"

/* The PipelineParameters of a pipeline by name, with the values of this submission; and a default
 * that depends on the machine. */
struct tm_values {
  struct tm_json *by_name;   /* object: name -> value; never NULL after init */
  struct tm_json *origins;   /* of the given ones: name -> struct tm_param's origin */
  int64_t processes_default; /* process_count_per_node, if a config has none */
};

/* The default for this machine: the number of cores, or one with GPUs. It reads kernel files, so
 * call it once per pipeline. */
int64_t tm_settings_processes_default(void);

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

/* {name: {value, origin}} for every parameter that has a value; to be freed. `origin` applies to
 * values in `config`; some defaults depend on the inputs of the step. NULL with a message that has
 * the place. */
struct tm_json *tm_settings_make(const struct tm_json *config, const struct tm_step *step,
                                 const struct tm_values *params, const char *origin,
                                 struct tm_err *err);
/* The variables of both settings as one object, to be freed; either may be NULL. */
struct tm_json *tm_environment_variables(const struct tm_json *environment,
                                         const struct tm_json *variables);
/* Adds LUA_PATH and LUA_CPATH for its module_paths, relative to base_dir. TM_EUSAGE: a folder does
 * not exist. */
int tm_environment_add_paths(struct tm_json *out, const struct tm_json *environment,
                             const char *base_dir, struct tm_err *err);
/* Fills `c` (zeroed before); on failure it may be partly filled: release it. Paths are made
 * absolute relative to base_dir, and checked. The message has no file:line. */
int tm_config_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *step,
                   const char *base_dir, struct tm_err *err);
void tm_config_release(struct tm_config *c);
/* Makes the settings safe to show and store: absolute paths; for environment variables only the
 * names and one hash. */
void tm_settings_publish(struct tm_json *settings, const struct tm_config *c);

#endif
