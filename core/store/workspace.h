/* workspace.h - the folder `.tidemill/`, which holds the jobs that have no directory of their own.
 *
 *   .tidemill/jobs/<pipeline>-<YYYYMMDD-HHMMSS>-<4 letters>/
 *
 * Nothing is kept in memory between calls.
 */
#ifndef TM_STORE_WORKSPACE_H
#define TM_STORE_WORKSPACE_H

#include <stdint.h>

#include "base/err.h"
#include "store/trust.h"
#include "sys/fs.h"

#define TM_WORKSPACE_NAME ".tidemill"

/* The workspace for a file (absolute): `named` (the variable's value; NULL or "" for none; relative
 * to `cwd`), else the nearest `.tidemill` in the file's folder or above, else a new one beside the
 * file. It exists when this returns, with mode 0700 if it was made. Absolute, to free(). NULL with
 * a message: it cannot be made, or it is not trusted (trust.h). A refused one ends the search: no
 * other is used instead. */
char *tm_workspace_find(const struct tm_fs *fs, const char *file, const char *named,
                        const char *cwd, struct tm_err *err);
/* The workspace that `path` (absolute) means in a pipeline file; to free(). It may be the workspace
 * itself: its name is `.tidemill`, it is the folder in the variable (`named`, as above), or it has
 * been used as one. Otherwise it is the folder that holds the workspace, as a project does. */
char *tm_workspace_meant(const struct tm_fs *fs, const char *path, const char *named,
                         const char *cwd);
/* Finds the workspace of the folder `cwd` in the same way, but makes none. *out: absolute, to
 * free(); NULL with 0: there is none, also if `named` does not exist. Negative: it is not trusted,
 * and `use` is TM_TO_USE. */
int tm_workspace_look(char **out, const struct tm_fs *fs, const char *named, const char *cwd,
                      enum tm_use use, struct tm_err *err);
/* "YYYYMMDD-HHMMSS..." within the name of a job's folder, or NULL if the name has another form. */
const char *tm_workspace_moment(const char *job_name);
/* A path for a new job directory, which does not exist yet (`jobs/` does); absolute, to free().
 * NULL with a message. The moment is UTC. */
char *tm_workspace_new_job(const struct tm_fs *fs, const char *workspace, const char *pipeline,
                           int64_t wall_ns, struct tm_err *err);
/* The newest job of a pipeline whose result does not say Completed (an interrupted or running job
 * has no result); absolute, to free(). NULL if there is none. `file`: of the pipeline, absolute; ""
 * for none. A job of that name that another file defines, which still exists, is not the
 * pipeline's: *other gets the newest of these, to free(), or NULL. */
char *tm_workspace_find_open_job(const struct tm_fs *fs, const char *workspace,
                                 const char *pipeline, const char *file, char **other);

/* Where indexes of packed files are stored for later jobs: <workspace>/index for a job in a
 * workspace, else <step>/state/index. To free(). */
char *tm_workspace_index_dir(const char *job_dir, const char *step);
/* Where prepared models (model/prepared.h) are stored, likewise: <workspace>/models, or
 * <step>/state/models. */
char *tm_workspace_models_dir(const char *job_dir, const char *step);
#define TM_WORKSPACE_MODELS "models"

#endif
