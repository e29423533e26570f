/* removal.h - removing a job: its whole directory, or nothing of it. */
#ifndef TM_RUN_REMOVAL_H
#define TM_RUN_REMOVAL_H

#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

/* Bytes of the files in a job's directory; what cannot be looked at counts as none. */
int64_t tm_job_size(const struct tm_fs *fs, const char *dir);
/* `dir`: absolute, of a job. Nobody else has it meanwhile: TM_EINUSE says who does (waited for up to 5 s). The directory gets
 * another name first: who is killed in between leaves `<dir>.removed-<4 letters>`, which is no job any more once its job.json is
 * gone, and never half a job under the old name. Folders that its workers have left elsewhere (temp_dirs.h) go with it. */
int tm_job_remove(const struct tm_fs *fs, const char *dir, struct tm_err *err);

#endif
