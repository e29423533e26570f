/* job_dir.h - a job directory: who may use it, and whether it holds a job (core/README.md:
 * invariants 6 and 7).
 *
 *   job.json         renamed into place before anything starts: with it the directory holds a job
 *   lock             held by the one supervisor (flock)
 *   owner            who that is, with a random epoch, read again before each group commit
 *   resume_from      copies from another job, on the way to their places (takeover.h)
 *   node.lock        held shared by keepers while anything lives beneath them
 *   job_result.json  written last
 *   cancel           a request to cancel the job, left by another process (cancel_request.h)
 */
#ifndef TM_RUN_JOB_DIR_H
#define TM_RUN_JOB_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

enum tm_job_dir_state {
  TM_JOB_DIR_NEW, /* missing or empty */
  /* a job was killed here before its definition was complete: nothing had started */
  TM_JOB_DIR_INCOMPLETE,
  TM_JOB_DIR_JOB,     /* holds a job */
  TM_JOB_DIR_FOREIGN, /* holds something else */
  TM_JOB_DIR_UNKNOWN, /* it cannot be read, or is a file */
};

/* Who may end the wait for another process: asked every few milliseconds. */
struct tm_job_wait {
  bool (*is_stopped)(void *data); /* or NULL */
  void *data;
};

struct tm_job_dir {
  const struct tm_fs *fs;
  char *path, *owner_file, *definition_file, *result_file, *script_dir;
  int lock; /* descriptor, or -1 */
  uint64_t epoch;
};

/* Looks, changes nothing. Words for TM_JOB_DIR_UNKNOWN. */
enum tm_job_dir_state tm_job_dir_look(const char *path, struct tm_err *err);

/* For a new job where another one is: TM_EUSAGE, or TM_EINUSE where that runs. */
int tm_job_dir_refuse_job(const char *path, struct tm_err *err);

/* Whether a job makes a file or folder of this name at the top of its directory; its steps' folders
 * aside. */
bool tm_job_dir_is_own_name(const char *name);

/* Makes the directory (mode 0700) where it is missing, takes the lock, and writes `owner`. Waits up
 * to 1 s for an earlier supervisor to end, and up to 5 s for its keeper; then TM_EINUSE says who
 * has it. `wait` may be NULL; stopped by it: -ECANCELED. */
int tm_job_dir_open(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    const struct tm_job_wait *wait, struct tm_err *err);
/* The locks of a directory that is read and stays as it is: nobody else runs the job meanwhile.
 * Waits as open does. */
int tm_job_dir_hold(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
/* The locks of a directory that is about to be removed: alone, and `owner` stays as it was. A
 * missing `lock` is -ENOENT. Waits as open does. */
int tm_job_dir_lock(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
/* For an error that a missing file has caused (-ENOENT): if one of these files and folders of the
 * job, the outermost first, is not there any more, the words say so. NULLs among them are passed
 * over. */
void tm_job_dir_explain(const struct tm_fs *fs, const char *const *paths, size_t len,
                        struct tm_err *err);
/* Whether `owner_file` still names the session with this epoch: 0, or TM_EINUSE. */
int tm_job_dir_check_owner(const struct tm_fs *fs, const char *owner_file, uint64_t epoch,
                           struct tm_err *err);
/* Removes it with all that is in it; one that was there as an empty folder stays. It is open, and
 * is closed afterwards. */
void tm_job_dir_discard(const struct tm_job_dir *d, bool was_there);
void tm_job_dir_close(struct tm_job_dir *d); /* zeroed or closed: a no-op */

#endif
