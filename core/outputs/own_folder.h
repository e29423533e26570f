/* own_folder.h - the destination of an upload is a folder that is replaced as a whole (upload.h):
 * with `overwrite` its old contents are removed. They must not be anything that the pipeline needs.
 */
#ifndef TM_OUTPUTS_OWN_FOLDER_H
#define TM_OUTPUTS_OWN_FOLDER_H

#include "plan/pipeline.h"
#include "sys/fs.h"

/* Only checks. TM_EUSAGE: a destination of `step` is a link or a mount point, or it is or contains
 * the pipeline file, a script or an input of a step, or one of `dirs`: the workspace, the job's
 * directory (absolute; NULL: there is none). */
int tm_own_folder_check(const struct tm_fs *fs, const struct tm_pipeline *pipeline,
                        const struct tm_step *step, const char *const dirs[2], struct tm_err *err);

#endif
