/* upload.h - one output at its destination. For place.c, and what it does on a thread.
 *
 *  (1) The copy, or the archive of it, is made beside the destination, as <destination>.tidemill-<job>, and all of it is on the
 *      disk before it is renamed.
 *  (2) Before that <step>/state/upload.<n> says which folder or file it is: device, inode and time of its last change, which a rename
 *      leaves as they are. Whoever is killed in between knows by that whether the destination is its own.
 */
#ifndef TM_RUN_UPLOAD_H
#define TM_RUN_UPLOAD_H

#include <stdatomic.h>

#include "plan/pipeline.h"
#include "sys/fs.h"

/* What is at the destination of outputs[i] is the copy that this job has put there, and nothing was added to it. */
bool tm_upload_is_done(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                       const char *job_dir);
/* Puts it there, unless it is. -ECANCELED when `stop` was set before the rename. */
int tm_upload_output(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                     const char *job_dir, const atomic_bool *stop, struct tm_err *err);

#endif
