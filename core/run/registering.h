/* registering.h - outputs of a job that become registered datasets when their step is Completed.
 *
 *  (1) Exactly one version for a step that is Completed, however often the job is killed and gone on with: before anything is
 *      registered, `<step>/registered` holds a word that no other step has; the registry makes one version for it, and one for it
 *      with the name of each further output.
 *      A step that is reused has the word of the one that was run: where the newest version of the name is of that one, it is this
 *      one, too; else a new version says that the data are the newest again.
 *      A step that was killed behind its registration and has committed more since does not make
 *      another version: the one that is there gets the files as they are now. It remembers from
 *      which outcomes of the journal it was made.
 *  (2) The job's result is written behind it: a job that has a result has registered its outputs.
 */
#ifndef TM_RUN_REGISTERING_H
#define TM_RUN_REGISTERING_H

#include "plan/pipeline.h"
#include "run/events.h"
#include "sys/fs.h"

/* Before anything starts: that the registry can be written. Nothing to register: 0. */
int tm_registering_check(const struct tm_fs *fs, const struct tm_pipeline *p, struct tm_err *err);
/* The outputs of the steps that are Completed; each is said to the listeners. */
int tm_registering_add(const struct tm_job_view *job, const struct tm_fs *fs,
                       const struct tm_pipeline *p, const struct tm_events *events,
                       struct tm_err *err);

#endif
