/* removal.h - removing a job: its whole directory, or nothing of it.
 *
 *   <dir>                   the job. A rename takes it to
 *   <dir>.removed-<abcd>    a leftover: not a job any more, whatever it still holds. Its `lock` goes last.
 *
 * A process that is killed in between leaves a leftover, which tm_job_remove() takes as well. The four letters follow from `dir`, so
 * that the leftover of a job in any folder can be found again.
 */
#ifndef TM_RUN_REMOVAL_H
#define TM_RUN_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

/* Bytes of the files in a job's directory; what cannot be looked at counts as none. */
int64_t tm_job_size(const struct tm_fs *fs, const char *dir);

/* Why the directory `dir` (absolute) may not be removed as a job, to free(): "it holds 'notes.txt', ..."; NULL when it may. It
 * may when job.json is a whole record, `lock` is there, and nothing stands at its top that no job makes; or when there is no job.json
 * yet, and `lock` stands among nothing but what a job makes before. A leftover may always be removed. Of a link only the link goes. */
char *tm_job_refusal(const struct tm_fs *fs, const char *dir);

/* Whether `dir` is what an interrupted removal has left: by its name, and by what it holds. */
bool tm_job_is_leftover(const struct tm_fs *fs, const char *dir);
/* Where the leftover of the job `dir` would be, to free(). */
char *tm_job_leftover(const char *dir);

/* `dir`: absolute, of a job or a leftover. TM_EUSAGE: tm_job_refusal() says why. TM_EINUSE says who has the job (waited for up to
 * 5 s). Folders that its workers have left elsewhere (temp_dirs.h) go with it. */
int tm_job_remove(const struct tm_fs *fs, const char *dir, struct tm_err *err);

#endif
