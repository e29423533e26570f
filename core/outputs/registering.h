/* registering.h - registers outputs of a job as datasets when their step is Completed.
 *
 *  (1) A Completed step makes exactly one version, however often the job is killed and resumed.
 *      Before anything is registered, `<step>/registered` holds a word that no other step has. The
 *      registry makes one version for that word, and one for the word with the name of each further
 *      output. A reused step has the word of the step that ran. If the newest version of the name
 *      belongs to that step, the reused step keeps it; otherwise a new version makes these data the
 *      newest again. A step that was killed after its registration and has committed more since
 *      makes no second version: the existing one gets the files as they are now. It remembers the
 *      journal outcomes from which it was made.
 *  (2) The job's result is written afterwards: a job that has a result has registered its outputs.
 */
#ifndef TM_OUTPUTS_REGISTERING_H
#define TM_OUTPUTS_REGISTERING_H

#include "plan/pipeline.h"
#include "record/events.h"
#include "sys/fs.h"

/* The first name under which an output will be registered, or NULL. */
const char *tm_registering_name(const struct tm_pipeline *p);
/* Before anything starts: checks that the registry of the workspace can be written. 0 if nothing is
 * to be registered. `workspace` NULL: there is none, which is an error if an output has a name. */
int tm_registering_check(const char *workspace, const struct tm_pipeline *p, struct tm_err *err);
/* Registers the outputs of the Completed steps, and reports each to the listeners. */
int tm_registering_add(const struct tm_job_view *job, const struct tm_fs *fs, const char *workspace,
                       const struct tm_pipeline *p, const struct tm_events *events,
                       struct tm_err *err);

#endif
