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

/* The default for this machine: the number of cores, or one with GPUs. It reads kernel files, so
 * call it once per pipeline. */
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
/* Makes the settings safe to show and store: absolute paths; for environment variables only the
 * names and one hash. */
void tm_settings_publish(struct tm_json *settings, const struct tm_config *c);

/* How data frames are written, from the settings of a step, {name: {value, origin}}: according to
 * append_row_separator and append_row_header, or append_row_dataframe_header among the arguments;
 * else by the name of the file. */
void tm_config_read_form(const struct tm_json *settings, char *separator, bool *has_header);
/* Whether run() may return any number of elements, of the same settings. `are_rows`: its items are
 * rows of a table. */
bool tm_config_returns_any(const struct tm_json *settings, bool are_rows);

#endif
