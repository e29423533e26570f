/* job_dir.h - a job directory: who may use it, and whether it holds a job (core/README.md:
 * invariants 6 and 7).
 *
 *   job.json         renamed into place before anything starts: with it the directory holds a job
 *   lock             the one supervisor holds it (flock)
 *   owner            names the supervisor, with a random epoch; read before each group commit
 *   resume_from      copies from another job, on the way to their places (import.h)
 *   node.lock        the keepers of the supervisor's machine share it while any of their processes
 *                    lives
 *   job_result.json  written last
 *   nodes            what the commands that started nodes wrote to stderr (core/job/README.md)
 *   cancel           a request to cancel the job, from another process (cancel_request.h)
 */
#ifndef TM_RECORD_JOB_DIR_H
#define TM_RECORD_JOB_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/fs.h"

enum tm_job_dir_state {
  TM_JOB_DIR_NEW, /* missing or empty */
  /* a job was killed here before its definition was complete: it had started nothing */
  TM_JOB_DIR_INCOMPLETE,
  TM_JOB_DIR_JOB,     /* holds a job */
  TM_JOB_DIR_FOREIGN, /* holds something else */
  TM_JOB_DIR_UNKNOWN, /* it cannot be read, or is a file */
};

/* Lets a caller end the wait for another process: asked every few milliseconds. */
struct tm_job_wait {
  bool (*is_stopped)(void *data); /* or NULL */
  void *data;
};

struct tm_job_dir {
  const struct tm_fs *fs;
  char *path, *owner_file, *definition_file, *result_file, *script_dir;
  int lock;          /* descriptor, or -1 */
  bool has_no_locks; /* its file system has none: `owner` alone guards the directory */
  uint64_t epoch;
  char *owner_before; /* the text of `owner` before this session, or NULL */
};

/* Looks, and changes nothing. `err` has a message for TM_JOB_DIR_UNKNOWN. */
enum tm_job_dir_state tm_job_dir_look(const char *path, struct tm_err *err);

/* Refuses a new job where another job is: TM_EUSAGE, or TM_EINUSE if that one runs. */
int tm_job_dir_refuse_job(const char *path, struct tm_err *err);

/* Whether a job makes a file or folder of this name at the top of its directory. Folders of steps
 * do not count. */
bool tm_job_dir_is_own_name(const char *name);

/* Makes the directory (mode 0700) if it does not exist, takes the lock, and writes `owner`. Waits
 * up to 1 s for an earlier supervisor to end and then, as the owner, up to 10 s for its keeper;
 * then TM_EINUSE says who has the lock. `wait` may be NULL; if it ends the wait: -ECANCELED.
 *
 * If the file system has no locks, it sets `has_no_locks`. It refuses as above if the owner is a
 * living process of this machine. An owner on another machine, which may live, notices the new
 * `owner` within a second of its next row: opening waits for 2 s. */
int tm_job_dir_open(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    const struct tm_job_wait *wait, struct tm_err *err);
/* Takes the locks of a directory that is only read, so that no other process runs the job then.
 * Waits as open does. */
int tm_job_dir_hold(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
/* Takes the locks of a directory that will be removed: alone, and `owner` stays as it is. -ENOENT:
 * there is no `lock`. Waits as open does. Fails if the file system has no locks: another machine
 * may run the job. */
int tm_job_dir_lock(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    struct tm_err *err);
/* For an error from a missing file (-ENOENT): if one of these files and folders of the job, the
 * outermost first, no longer exists, the message names it. NULLs among them are skipped. */
void tm_job_dir_explain(const struct tm_fs *fs, const char *const *paths, size_t len,
                        struct tm_err *err);
/* Whether `owner_file` still names the session with this epoch: 0, or TM_EINUSE. */
int tm_job_dir_check_owner(const struct tm_fs *fs, const char *owner_file, uint64_t epoch,
                           struct tm_err *err);
/* Removes an open directory with everything in it; close it afterwards. `was_there`: it was an
 * empty folder before, and stays as one. */
void tm_job_dir_discard(const struct tm_job_dir *d, bool was_there);
/* For a refused resume, which ran nothing: `owner` names the earlier session again,
 * unless another one has taken the directory meanwhile. */
void tm_job_dir_give_back(const struct tm_job_dir *d);
void tm_job_dir_close(struct tm_job_dir *d); /* zeroed or closed: a no-op */

#endif
