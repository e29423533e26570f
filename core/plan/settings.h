/* settings.h - the settings of a step, each with its value and its origin, before they become a
 * struct tm_config. Within plan, and for code that reads the settings of a job's record.
 *
 * Steps of a caller: tm_settings_make() for each ParallelRunConfig; tm_config_fill();
 * tm_settings_publish() for the record.
 */
#ifndef TM_PLAN_SETTINGS_H
#define TM_PLAN_SETTINGS_H

#include "base/err.h"
#include "base/json.h"
#include "plan/config.h"
#include "plan/parameters.h"
#include "plan/pipeline.h"

/* process_count_per_node of this machine if it is not given: the number of cores, or one with GPUs.
 * It reads kernel files, so call it once per pipeline. */
int64_t tm_settings_processes_default(void);

/* {name: {value, origin}} for every parameter that has a value; to be freed. `origin` applies to
 * values in `config`; some defaults depend on the inputs of the step. NULL with a message that has
 * the place. */
struct tm_json *tm_settings_make(const struct tm_json *config, const struct tm_step *step,
                                 const struct tm_values *params, const char *origin,
                                 struct tm_err *err);
/* Fills `c` (zeroed before); on failure it may be partly filled: release it. Paths are made
 * absolute relative to base_dir, and checked. The message has no file:line. */
int tm_config_fill(struct tm_config *c, const struct tm_json *settings, const struct tm_step *step,
                   const char *base_dir, struct tm_err *err);
/* Fills only what needs neither files nor inputs nor variables: for the settings in the record of a
 * job. A setting that is missing there, or has a wrong type, is 0 or the plainest choice. */
void tm_config_read(struct tm_config *c, const struct tm_json *settings);
/* Sets one setting, with its origin; owns `value`. */
void tm_settings_add(struct tm_json *settings, const char *name, struct tm_json *value,
                     const char *origin);
/* Makes the settings safe to show and store: absolute paths; for environment variables only the
 * names and one hash. */
void tm_settings_publish(struct tm_json *settings, const struct tm_config *c);

#endif
