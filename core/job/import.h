/* import.h - a new job that continues from what another job has committed: --resume_from JOB in a
 * step's arguments.
 *
 * The step's files in the other job (manifest, journal and the other files of state/, the folders
 * of its outputs) are copied. From then on it is as if the step had been this job's, and its
 * session had ended where the other's did: commit.c opens and recovers it. The other job is not
 * changed; its locks are held while it is read.
 *
 * Order, so that a kill at any moment leaves a directory that starts again or resumes correctly:
 *
 *   <job>/resume_from/<step>/     the copies, fsynced
 *   <job>/job.json                renamed into place: from here on it is a job
 *   <job>/<step>                  each copy is renamed to be the step's folder
 *
 * A directory without job.json was killed before its definition was complete: the copies are
 * removed and made again. With job.json, opening the job does the remaining renames.
 */
#ifndef TM_JOB_IMPORT_H
#define TM_JOB_IMPORT_H

#include "record/definition.h"

#define TM_IMPORT_DIR "resume_from" /* not the name of a step: those have no '_' */

/* The step has --resume_from. */
bool tm_import_is_asked(const struct tm_step *step);
/* Makes copies for all steps that ask for it, and refuses as resuming a job does. TM_EUSAGE: there
 * is no job of this name; TM_ECHANGED; TM_EINUSE: it is running. */
int tm_import_copy(const struct tm_definition *d, struct tm_err *err);
/* Renames existing copies into their places. */
int tm_import_place(const struct tm_definition *d, struct tm_err *err);

#endif
