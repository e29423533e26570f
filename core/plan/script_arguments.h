/* script_arguments.h - `arguments` of a step, for its script. Within plan.
 *
 * A PipelineParameter becomes its value; an output, or a dataset of one file or folder, its path; a
 * dataset with a place of its own (as_mount, as_download: inputs.h) that place. The runner's own
 * arguments are removed: arguments.h.
 */
#ifndef TM_PLAN_SCRIPT_ARGUMENTS_H
#define TM_PLAN_SCRIPT_ARGUMENTS_H

#include "plan/pipeline.h"
#include "plan/read_context.h"

/* Call it after tm_inputs_read(). The script's arguments stay in s->arguments; values of the
 * runner's go to `taken` (an object). */
int tm_script_arguments_read(struct tm_step *s, const struct tm_json *v,
                             const struct tm_plan_reader *r, struct tm_json *taken,
                             struct tm_err *err);
/* Whether the option is among them, alone or as "OPTION=VALUE". */
bool tm_script_arguments_have(const struct tm_step *s, const char *option);
/* Its value, the last one if it is there several times; NULL: it has none. */
const char *tm_script_arguments_value(const struct tm_step *s, const char *option);
/* Notes that the script may read this file or folder, an absolute path. */
void tm_script_arguments_reads(struct tm_step *s, const char *path);
/* Puts an option with a path before the arguments. TM_EUSAGE: they have the option already. */
int tm_script_arguments_put(struct tm_step *s, const char *option, const char *path,
                            struct tm_err *err);
/* Arguments that are places of `step` become paths in `job_dir`, where it has run. */
void tm_script_arguments_settle(struct tm_step *s, const char *step, const char *job_dir);

#endif
