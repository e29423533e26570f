/* jobs.h - finding a job by what people call it, and listing the jobs of a workspace.
 *
 * JOB on the command line is a job directory, the name of a job (its folder in the workspace), or
 * `latest`. A folder is a job if it contains job.json. A job with a directory of its own
 * (--job-dir) is in no workspace: only its directory names it, and it is neither listed nor
 * `latest`.
 */
#ifndef TM_STORE_JOBS_H
#define TM_STORE_JOBS_H

#include "base/err.h"
#include "base/mem.h"
#include "store/trust.h"
#include "sys/fs.h"

struct tm_jobs TM_ARRAY(char *); /* directories of jobs, absolute */

/* "<name>.removed-<4 letters>": a job that is being removed gets this name, and is no longer a job
 * (inspect/removal.h). */
#define TM_JOBS_REMOVED         ".removed-"
#define TM_JOBS_REMOVED_LETTERS 4
bool tm_jobs_is_removed(const char *name);

/* The jobs of a workspace, the newest first: by the moment in the name, for other names by the
 * mtime of job.json; within one second by the folder's mtime. A workspace may have none. Release it
 * in every case. */
int tm_jobs_list(struct tm_jobs *jobs, const struct tm_fs *fs, const char *workspace,
                 struct tm_err *err);
/* Folders (and links to folders) in `jobs/` without a job.json or with the name of a leftover,
 * unsorted: their jobs are being removed, have just begun, or were killed during either. Release it
 * in every case. */
int tm_jobs_list_others(struct tm_jobs *others, const struct tm_fs *fs, const char *workspace,
                        struct tm_err *err);
void tm_jobs_release(struct tm_jobs *jobs);

/* The directory of the job called `given`; absolute, to free(). The workspace is `named` (the
 * variable's value, or NULL), else the nearest in `cwd` or above. A folder wins over a name. With
 * TM_TO_USE, the trust in workspace and job is checked (trust.h), unless a path named them: a job
 * whose `given` has a slash, or any job of a workspace that is `named`. NULL with a message:
 * TM_EUSAGE says where it was searched, and the nearest name; or why it is not trusted. */
char *tm_jobs_find(const struct tm_fs *fs, const char *given, const char *named, const char *cwd,
                   enum tm_use use, struct tm_err *err);

#endif
