/* inputs.h - what a step reads: `inputs`, which are cut for its workers, and `side_inputs`, which every worker may read whole; and the
 * places of their own that as_mount() and as_download() give them. Within plan.
 *
 *   as_direct     the files' own paths; the default
 *   as_mount      <step>/inputs/<name> in the job's directory is a link to the folder, or a folder of links; without a path it is an
 *                 input's own paths that run() is given all the same: they are there already
 *   as_download   that is a copy
 *
 * A path that was given is a link to that place while the step runs. run/intake.c makes all of it.
 */
#ifndef TM_PLAN_INPUTS_H
#define TM_PLAN_INPUTS_H

#include "plan/pipeline.h"
#include "plan/reader.h"

/* Fills inputs, side_inputs, intakes, and what the record says of them. TM_EUSAGE with the place: datasets of two types, two of one
 * name, a side input that is not there. */
int tm_inputs_read(struct tm_step *s, const struct tm_json *v, const struct tm_plan_reader *r,
                   struct tm_err *err);
/* Side inputs that `step` writes are what it has written in `job_dir`. */
void tm_inputs_settle(struct tm_step *s, const char *step, const char *job_dir);
void tm_inputs_free(struct tm_step *s);
/* No two steps have something at one path. */
int tm_inputs_check_paths(const struct tm_pipeline *p, struct tm_err *err);

/* A dataset of the definition: outputs become what they will be. To free; NULL with words. */
struct tm_dataset *tm_inputs_dataset(const struct tm_json *v, const struct tm_plan_reader *r,
                                     struct tm_err *err);
/* The place of a dataset that is the same as this one, or NULL. */
const struct tm_step_intake *tm_inputs_find(const struct tm_step *s, const struct tm_dataset *d);

#endif
