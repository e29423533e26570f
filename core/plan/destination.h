/* destination.h - the destination of an output, in which {run-id} stands for the name of the job and {output-name} for
 * that of the output, as in the original. Within plan, and for what opens a job.
 */
#ifndef TM_PLAN_DESTINATION_H
#define TM_PLAN_DESTINATION_H

#include "base/err.h"
#include "plan/pipeline.h"

/* The absolute path, to be freed; {run-id} is still in it. NULL: TM_EUSAGE, other names are in braces. */
char *tm_destination_new(const char *given, const char *output_name, const char *base_dir,
                         struct tm_err *err);

/* Puts the name of the job, the last part of `job_dir`, into the destinations of all steps and into their records. Call
 * it once, before the job is opened: two jobs write to two folders, and their records differ. */
void tm_destinations_bind(struct tm_pipeline *p, const char *job_dir);

#endif
