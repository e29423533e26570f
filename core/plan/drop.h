/* drop.h - removes a step that has run in another job, and whose outputs other steps read. */
#ifndef TM_PLAN_DROP_H
#define TM_PLAN_DROP_H

#include "plan/pipeline.h"

/* Removes a step: its readers no longer wait for it, and arguments that are paths of its outputs
 * become absolute paths in `job_dir`, where it has run. */
void tm_pipeline_drop_step(struct tm_pipeline *p, size_t at, const char *job_dir);

#endif
