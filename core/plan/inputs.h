/* inputs.h - the inputs of a step: `inputs`, which are split for its workers, and `side_inputs`,
 * which every worker may read completely; and the places that as_mount() and as_download() give
 * them. Within plan.
 *
 *   as_direct     the files' own paths; the default
 *   as_mount      <step>/inputs/<name> in the job's directory is a link to the folder, or a folder
 *                 of links. If no path was given for an input, run() gets its own paths anyway,
 *                 because they already exist.
 *   as_download   the same with a copy instead of links
 *
 * A given path becomes a link to that place while the step runs. outputs/input_staging.c makes all
 * of this.
 */
#ifndef TM_PLAN_INPUTS_H
#define TM_PLAN_INPUTS_H

#include "plan/pipeline.h"
#include "plan/read_context.h"

/* Fills inputs, side_inputs, stagings, and their record. TM_EUSAGE with the place: datasets of two
 * types, two with one name, a side input that does not exist. */
int tm_inputs_read(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                   struct tm_err *err);
/* Adds a side input of files with no name and no place of its own; takes it over. */
void tm_inputs_add_side_input(struct tm_step *s, struct tm_dataset *d);
/* Side inputs that `step` writes now refer to its outputs in `job_dir`. */
void tm_inputs_settle(struct tm_step *s, const char *step, const char *job_dir);
/* Checks that no two steps put something at one path. */
int tm_inputs_check_paths(const struct tm_pipeline *p, struct tm_err *err);

/* A dataset of the definition; outputs become datasets over their future files. To free; NULL with
 * a message. */
struct tm_dataset *tm_inputs_dataset(const struct tm_json *v, const struct tm_plan_reader *r,
                                     struct tm_err *err);
/* The place of an equal dataset, or NULL. */
const struct tm_step_staging *tm_inputs_find(const struct tm_step *s, const struct tm_dataset *d);

#endif
