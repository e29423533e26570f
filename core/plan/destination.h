/* destination.h - the destination of an output, in which {run-id} is the name of the job and
 * {output-name} that of the output, as in the original. Within plan, and for code that opens a job.
 */
#ifndef TM_PLAN_DESTINATION_H
#define TM_PLAN_DESTINATION_H

#include "base/err.h"
#include "plan/pipeline.h"

/* The absolute path, to be freed; still with {run-id}. NULL: TM_EUSAGE, another name is in
 * braces. */
char *tm_destination_new(const char *given, const char *output_name, const char *base_dir,
                         struct tm_err *err);

/* Replaces {run-id} by the name of the job, the last part of `job_dir`, in the destinations of all
 * steps and in their records. Call it once, before the job is opened: two jobs write to two
 * folders, and their records differ. */
void tm_destinations_bind(struct tm_pipeline *p, const char *job_dir);

#endif
