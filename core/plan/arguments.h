/* arguments.h - the runner's own arguments among those of a script. Within plan.
 *
 * `--error_threshold 5` or `--error_threshold=5` in `arguments` is a setting, and does not reach the script. Which names are
 * taken says the table (TM_FIELD_ARGUMENT), exactly: `--error_thres`, or `--error-threshold`, is the script's, and a note says
 * so. What follows `--` is the script's, with it. Arguments of the original's runner that this one lacks are taken out
 * with a note, or refused (names.h).
 */
#ifndef TM_PLAN_ARGUMENTS_H
#define TM_PLAN_ARGUMENTS_H

#include "base/err.h"
#include "base/json.h"
#include "plan/pipeline.h"

/* Moves the runner's own from s->arguments to s->runner_arguments, both in their order, and their values to `taken`, an object
 * of strings by name; of two the last counts. TM_EUSAGE, with the name, when a value is missing. */
int tm_arguments_take(struct tm_step *s, struct tm_json *taken, struct tm_err *err);
/* Puts what was taken into the settings, with the origin "argument", and what follows from other settings: the default of
 * progress_update_timeout. TM_EUSAGE when a value is not accepted. */
int tm_arguments_settle(struct tm_json *settings, const struct tm_json *taken, struct tm_err *err);

#endif
