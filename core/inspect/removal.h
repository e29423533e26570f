/* removal.h - removes a job: its whole directory, or nothing of it.
 *
 *   <dir>                   the job. A rename turns it into
 *   <dir>.removed-<abcd>    a leftover: no longer a job, whatever it still holds. Its `lock` is
 *                           removed last.
 *
 * A process that is killed in between leaves a leftover, which tm_job_remove() also removes. The
 * four letters follow from `dir`, so that the leftover of a job in any folder can be found again.
 */
#ifndef TM_INSPECT_REMOVAL_H
#define TM_INSPECT_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

/* Bytes of the files in a job's directory; files that cannot be read count as 0. */
int64_t tm_job_size(const struct tm_fs *fs, const char *dir);

/* Why the directory `dir` (absolute) may not be removed as a job, to free(): "it holds 'notes.txt',
 * ..."; NULL if it may. It may if job.json is a whole record, `lock` exists, and every name at its
 * top is one that jobs make. It also may if there is no job.json yet, and beside `lock` there is
 * only what a job makes before job.json. A leftover may always be removed. If `dir` is a link, only
 * the link is removed. */
char *tm_job_refusal(const struct tm_fs *fs, const char *dir);

/* Whether an interrupted removal has left `dir`: judged by its name and by its contents. */
bool tm_job_is_leftover(const struct tm_fs *fs, const char *dir);
/* Where the leftover of the job `dir` would be, to free(). */
char *tm_job_leftover(const char *dir);

/* `dir`: absolute, of a job or a leftover. TM_EUSAGE: tm_job_refusal() says why. TM_EINUSE names
 * the process that has the job open (after a wait of up to 5 s). Also removes folders that its
 * workers left elsewhere (temp_dirs.h). */
int tm_job_remove(const struct tm_fs *fs, const char *dir, struct tm_err *err);

#endif
