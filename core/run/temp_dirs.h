/* temp_dirs.h - where the temp_dir of each worker of a step is, and where it may extract to memory. The keeper makes the first, the
 * worker the second, and the keeper removes both; who finds that the keeper is no more removes them here: the supervisor, the
 * next session of the job, or who removes the job. */
#ifndef TM_RUN_TEMP_DIRS_H
#define TM_RUN_TEMP_DIRS_H

#include <stdint.h>

#define TM_ENV_MEMORY_DIR "TIDEMILL_MEMORY_DIR"

struct tm_temp_dirs {
  char *temp; /* below TMPDIR or /tmp */
  /* Below TIDEMILL_MEMORY_DIR; else below /dev/shm, where TMPDIR does not say where files are wanted; "": there is none. What must
   * hold of the folder is looked at by who uses it (data/entry_memory.h). */
  char *memory;
};

/* Of a worker; worker_name NULL: what their paths begin with, "-<worker name>" follows. A hash keeps jobs of one name apart. */
struct tm_temp_dirs tm_temp_dirs_of(const char *job_dir, const char *step_dir,
                                    const char *worker_name); /* to tm_temp_dirs_release() */
void tm_temp_dirs_release(struct tm_temp_dirs *d);
/* Those of one worker, with all that is in them; also in /dev/shm, where another session may have had it. */
void tm_temp_dirs_remove(const char *job_dir, const char *step_dir, const char *worker_name);
/* Those of all workers that a step has ever had: its log files tell. Nothing of it runs. Returns the number that no worker has
 * had yet. */
int64_t tm_temp_dirs_remove_all(const char *job_dir, const char *step_dir);

#endif
