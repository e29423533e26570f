/* jobs.h - finding a job by what people call it, and the list of those in a workspace.
 *
 * JOB on the command line is a job directory, the name of a job (of its folder in the workspace), or `latest`. A folder is a
 * job when job.json is in it. A job with a directory of its own (--job-dir) is in no workspace: it is named by that
 * directory, and is neither listed nor `latest`.
 */
#ifndef TM_STORE_JOBS_H
#define TM_STORE_JOBS_H

#include "base/err.h"
#include "base/mem.h"
#include "store/trust.h"
#include "sys/fs.h"

struct tm_jobs TM_ARRAY(char *); /* directories of jobs, absolute */

/* "<name>.removed-<4 letters>": a job that is being removed has this name, and is not a job any more (run/removal.h). */
#define TM_JOBS_REMOVED         ".removed-"
#define TM_JOBS_REMOVED_LETTERS 4
bool tm_jobs_is_removed(const char *name);

/* The jobs of a workspace, the newest first: by the moment in the name, for other names by when job.json was written; within
 * one second by the folder's mtime. A workspace without jobs has none. Release it in every case. */
int tm_jobs_list(struct tm_jobs *jobs, const struct tm_fs *fs, const char *workspace,
                 struct tm_err *err);
/* The folders, and links to folders, that stand among them and hold no job, unsorted: of jobs that are being removed, or have just
 * begun, or were killed at either. Release it in every case. */
int tm_jobs_list_others(struct tm_jobs *others, const struct tm_fs *fs, const char *workspace,
                        struct tm_err *err);
void tm_jobs_release(struct tm_jobs *jobs);

/* The directory of the job that is called `given`; absolute, to free(). The workspace is the one `named` (the variable's
 * value, or NULL), else the nearest in `cwd` or above. A folder goes before a name. With TM_TO_USE the workspace and the job
 * are judged (trust.h), except where a path named them: a job whose `given` has a slash, all jobs of a workspace that is
 * `named`. NULL with words: TM_EUSAGE says where it was looked for, and the nearest name; or why it is not trusted. */
char *tm_jobs_find(const struct tm_fs *fs, const char *given, const char *named, const char *cwd,
                   enum tm_use use, struct tm_err *err);

#endif
