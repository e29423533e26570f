/* temp_dirs.h - the temporary folders of a job's workers, and their removal after any death.
 *
 *   /tmp/tidemill-<uid>-<8 hex>-<12 hex>/<step>-<worker>   below TMPDIR, or /tmp
 *   /dev/shm/tidemill-<uid>-<8 hex>-<12 hex>/...           for entries of archives, where memory suits (data/entry_memory.h)
 *   <job>/temp_dirs/tidemill-<uid>-<8 hex>-<12 hex>        the record: its text is the folder in which that folder is
 *
 *  (1) Each keeper has folders of its own (node/temp.c). The last part of the name is random: nobody can take it first, and jobs
 *      of one path, in containers that share /tmp, have different folders. Nobody else can enter them, so the names within
 *      may be plain.
 *  (2) The record is written before the keeper makes the folder, and removed after the folder. Whoever is killed in
 *      between, the next start of the job or its removal finds the folder.
 *  (3) The middle part is a hash of the job's directory: where that was removed together with its records, and made anew, a
 *      folder is found by its name. It is passed over when a keeper has it locked.
 *  (4) What is removed is a real folder, of this user, whose name has this form.
 *  (5) Nothing that could write in it lives any more when it is removed. The keeper removes the folder of each worker at the
 *      worker's end, and the whole folder at its own; what then remains is removed here. A removal that fails leaves the record.
 *
 * Caller, who holds the job's lock: remove_left when the job is opened; record before a keeper is started; remove when the
 * keeper is closed. Records are not fsynced: a power cut may keep a folder in TMPDIR and lose its record.
 */
#ifndef TM_RUN_TEMP_DIRS_H
#define TM_RUN_TEMP_DIRS_H

#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

#define TM_ENV_MEMORY_DIR "TIDEMILL_MEMORY_DIR"

struct tm_temp_dirs {
  char *temp;
  /* Below TIDEMILL_MEMORY_DIR; else below /dev/shm, where TMPDIR does not say where files are wanted; "": there is none. */
  char *memory;
};

/* New names, which are recorded; the keeper makes the folders. `fs`: for the records. */
int tm_temp_dirs_record(struct tm_temp_dirs *d, const struct tm_fs *fs, const char *job_dir,
                        bool wants_memory, struct tm_err *err); /* to tm_temp_dirs_release() */
void tm_temp_dirs_release(struct tm_temp_dirs *d);              /* zeroed: a no-op */
/* Those of a worker of a step, within; worker NULL: what their paths begin with, "-<worker>" follows. */
struct tm_temp_dirs tm_temp_dirs_of(const struct tm_temp_dirs *d, const char *step,
                                    const char *worker); /* to tm_temp_dirs_release() */

/* Removes all that are recorded, and their records. Negative: some are left, with words for the first. */
int tm_temp_dirs_remove(const struct tm_fs *fs, const char *job_dir, struct tm_err *err);
/* Removes what sessions that were killed have left: their processes are killed first. Finds folders also by their name (3). */
int tm_temp_dirs_remove_left(const struct tm_fs *fs, const char *job_dir, struct tm_err *err);

#endif
