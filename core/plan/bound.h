/* bound.h - the parts of a step that depend on the job's directory: inputs that other steps write
 * or that have a place of their own, and such paths among the arguments.
 *
 * Caller: init with the job's directory; read; release.
 */
#ifndef TM_PLAN_BOUND_H
#define TM_PLAN_BOUND_H

#include "plan/pipeline.h"

struct tm_bound {
  struct tm_dataset **inputs; /* each with its base_dir */
  size_t inputs_len;
  char **arguments; /* for the script */
  size_t arguments_len;
};

/* `job_dir`: absolute. */
void tm_bound_init(struct tm_bound *b, const struct tm_step *s, const char *job_dir);
void tm_bound_release(struct tm_bound *b);

/* Removes a step that has run in another job, and whose outputs other steps read: its readers no
 * longer wait for it, and arguments that are paths of its outputs become absolute paths in
 * `job_dir`, where it has run. */
void tm_pipeline_drop_step(struct tm_pipeline *p, size_t at, const char *job_dir);

#endif
