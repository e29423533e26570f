/* temp_dirs.h - the temporary folders of a job's workers, and their removal after any death.
 *
 *   /tmp/tidemill-<uid>-<8 hex>-<12 hex>/<step>-<worker>   below TMPDIR, or /tmp
 *   /tmp/tidemill-<uid>-<8 hex>-<12 hex>/source-<hash>     with ship_source, on other machines
 *   /dev/shm/tidemill-<uid>-<8 hex>-<12 hex>/...           for entries of archives, if memory
 *                                                          suits (data/archive/entry_memory.h)
 *   <job>/temp_dirs/tidemill-<uid>-<8 hex>-<12 hex>        the record: its text is the folder
 *                                                          that holds the temporary folder; of
 *                                                          another machine also NUL and the boot
 *                                                          id of its kernel
 *
 *  (1) Each keeper has folders of its own (node/temp.c). The last part of the name is random:
 *      nobody can take it first, and jobs of one path, in containers that share /tmp, have
 *      different folders. Nobody else can enter them, so the names within may be plain.
 *  (2) The record is written before the keeper makes the folder, and removed after the folder. If a
 *      process is killed in between, the next start of the job or its removal finds the folder.
 *  (3) The middle part is a hash of the job's directory. If the directory was removed together with
 *      its records and made again, the folder is found by its name. A folder that a keeper has
 *      locked is skipped.
 *  (4) Only a real folder of this user whose name has this form is removed.
 *  (5) When a folder is removed, every process that could write in it has ended. The keeper removes
 *      the folder of each worker at the worker's end, and the whole folder at its own end; this
 *      file removes what then remains. On another machine, the relay does that (relay/README.md).
 *      A removal that fails leaves the record.
 *
 *  (6) A node on another machine has its folders there. Nothing of that machine is looked at or
 *      removed from here: a path that is the same here is another folder, or, on a shared file
 *      system, one that the node may still use. The relay there removes them. Their record names
 *      the kernel, so that a session on that machine removes what a killed relay has left.
 *  (7) The records may be those of another job, which runs, if somebody has copied its directory.
 *      So a session that opens a job, or removes it, spares a folder that a keeper has locked, and
 *      forgets it.
 *
 * The caller holds the job's lock. It calls remove_left when it opens the job; record before it
 * starts a keeper, or when a node has reported its machine; remove_of when that keeper has ended;
 * and remove when all have. Records are not fsynced: a power cut may keep a folder in TMPDIR and
 * lose its record.
 */
#ifndef TM_RECORD_TEMP_DIRS_H
#define TM_RECORD_TEMP_DIRS_H

#include <stdbool.h>

#include "base/err.h"
#include "node/temp_left.h"
#include "sys/fs.h"

struct tm_temp_dirs {
  char *temp;
  /* Below TIDEMILL_MEMORY_DIR if that is set. Otherwise below /dev/shm, unless TMPDIR says where to
   * put files. "": there is none. */
  char *memory;
};

/* Where a node has its folders, as it reports (node/node_report.h). */
struct tm_temp_node {
  const char *temp;    /* absolute */
  const char *memory;  /* absolute; "": none */
  const char *boot_id; /* that of this machine: its folders are like ours; "": not known */
  uint32_t uid;        /* of its keeper: part of the names */
};

/* TM_EUSAGE: TMPDIR names a folder that does not exist. */
int tm_temp_dirs_check(const struct tm_fs *fs, struct tm_err *err);

/* Makes new names and records them; the keeper makes the folders. `fs`: for the records. `node`
 * NULL: of this machine, as the environment says. */
int tm_temp_dirs_record(struct tm_temp_dirs *d, const struct tm_fs *fs, const char *job_dir,
                        const struct tm_temp_node *node, bool wants_memory,
                        struct tm_err *err);       /* to tm_temp_dirs_release() */
void tm_temp_dirs_release(struct tm_temp_dirs *d); /* zeroed: a no-op */
/* The folders of one worker of a step, within `d`. `worker` NULL: what their paths begin with;
 * "-<worker>" follows. */
struct tm_temp_dirs tm_temp_dirs_of(const struct tm_temp_dirs *d, const char *step,
                                    const char *worker); /* to tm_temp_dirs_release() */

/* The folder for the copy of a script with this hash, within `d`; to free(). */
char *tm_temp_dirs_source(const struct tm_temp_dirs *d, const char *hash);

/* Removes the folders of one keeper, and their records; other keepers may still use theirs.
 * Negative: some remain; `err` describes the first. Released: a no-op. */
int tm_temp_dirs_remove_of(const struct tm_temp_dirs *d, const struct tm_fs *fs,
                           const char *job_dir, struct tm_err *err);
/* Likewise for all recorded folders. */
int tm_temp_dirs_remove(const struct tm_fs *fs, const char *job_dir, struct tm_err *err);
/* Removes what killed sessions left; kills their processes first. Also finds folders by their name
 * (3). */
int tm_temp_dirs_remove_left(const struct tm_fs *fs, const char *job_dir, struct tm_err *err);

#endif
