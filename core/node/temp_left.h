/* temp_left.h - the names of the folders that hold the temporary folders of a keeper's workers, and
 * the removal of such folders.
 *
 *   /tmp/tidemill-<uid>-<8 hex>-<12 hex>       below TMPDIR, or /tmp
 *   /dev/shm/tidemill-<uid>-<8 hex>-<12 hex>   for entries of archives, if memory suits
 *
 * record/temp_dirs.h explains the parts of the name. Only a real folder of this user whose name has
 * this form is removed.
 */
#ifndef TM_NODE_TEMP_LEFT_H
#define TM_NODE_TEMP_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TM_ENV_MEMORY_DIR  "TIDEMILL_MEMORY_DIR"
#define TM_TEMP_MEMORY_DIR "/dev/shm"

/* Where the folders of this machine go. */
struct tm_temp_places {
  const char *temp;
  const char *memory; /* NULL: there is none */
};
/* `tmpdir`, `memory_dir`: the values of TMPDIR and TIDEMILL_MEMORY_DIR; NULL: not set. A value that
 * is not an absolute path names no place. /dev/shm is used unless one of both is set. Pure; the
 * result points to the values. */
struct tm_temp_places tm_temp_places(const char *tmpdir, const char *memory_dir);

/* What the names of all folders of a job begin with. To free. */
char *tm_temp_name_begin(const char *job_dir);
/* The same for a keeper that runs as another user. */
char *tm_temp_name_begin_of(const char *job_dir, uint32_t uid);
/* Whether it is "tidemill-<number>-..."; *uid: the number. */
bool tm_temp_is_name(const char *name, unsigned long *uid);

/* Removes such a folder with all that is in it. Interrupted, it can be repeated. */
int tm_temp_remove_tree(const char *path, struct tm_err *err);
/* The same after checks. `uid`: of its name; -EPERM if it is not ours. If the path
 * leads to nothing of ours, that counts as removed: our folder no longer exists. */
int tm_temp_remove(const char *path, unsigned long uid, struct tm_err *err);
/* Whether a keeper has locked the folder. */
bool tm_temp_is_in_use(const char *path);
/* How many folders of the job, which no keeper has locked, are in `dir`. */
size_t tm_temp_count_left(const char *job_dir, const char *dir);
/* Removes them. The caller has ended every process that could write in them. */
void tm_temp_remove_left(const char *job_dir, const char *dir);

struct tm_temp_removed {
  size_t folders, processes;
};
/* Removes the folders of the job in `dir` that killed keepers of this machine have left, by their
 * `.keeper` (temp_owner.h), and first kills their processes; adds to *out. Other nodes of the job
 * may live: what belongs to them stays. */
void tm_temp_remove_dead(const char *job_dir, const char *dir, struct tm_temp_removed *out);

#endif
