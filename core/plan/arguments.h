/* arguments.h - the runner's own arguments among those of a script. Within plan.
 *
 * `--error_threshold 5` or `--error_threshold=5` in `arguments` is a setting, and does not reach
 * the script. The table (TM_FIELD_ARGUMENT) lists these names, which must be exact: `--error_thres`
 * or `--error-threshold` goes to the script, and a note says so. `--` and everything after it go to
 * the script. Arguments of the original's runner that we do not support are removed with a note, or
 * refused (names.h).
 */
#ifndef TM_PLAN_ARGUMENTS_H
#define TM_PLAN_ARGUMENTS_H

#include "base/err.h"
#include "base/json.h"
#include "plan/pipeline.h"

/* Moves the runner's own arguments from s->arguments to s->runner_arguments, keeping the order of
 * both, and their values to `taken`, an object of strings by name; the last of two wins. TM_EUSAGE,
 * with the name, if a value is missing. */
int tm_arguments_take(struct tm_step *s, struct tm_json *taken, struct tm_err *err);
/* Puts the taken values into the settings, with the origin "argument", and computes the default of
 * progress_update_timeout. TM_EUSAGE if a value is not accepted. */
int tm_arguments_settle(struct tm_json *settings, const struct tm_json *taken, struct tm_err *err);

#endif
