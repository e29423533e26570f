/* snapshot.h - the copy of an entry script, or of its whole source_directory, that the workers of a job run.
 *
 * Copied: folders, regular files (contents, and whether they may be executed) and links. A link that stays within the
 * source is copied as it is. One that leads out of it is replaced by what it names when that is a file; a link to a folder
 * outside, or to nothing, leads to the same place from the copy. Left out: ".git", ".tidemill", and job directories
 * (a folder with job.json and lock). Refused: devices, sockets, pipes; more than the caps below.
 *
 * The hash is over names, contents and executability in the order of names: the same for the source and for its copy, and on
 * every machine.
 */
#ifndef TM_PLAN_SNAPSHOT_H
#define TM_PLAN_SNAPSHOT_H

#include <stdint.h>

#include "base/err.h"
#include "plan/config.h"
#include "sys/fs.h"

#define TM_SNAPSHOT_BYTES_MAX (INT64_C(300) << 20)
#define TM_SNAPSHOT_FILES_MAX INT64_C(10000) /* files, folders and links */

struct tm_snapshot {
  char *dir;     /* the copy of source_directory; `to`; where the script's `require` looks first */
  char *script;  /* the copy of the entry script, within dir */
  char hash[17]; /* 16 hexadecimal digits */
  int64_t files; /* files, folders and links */
  int64_t bytes; /* of contents */
};

/* Copies to the folder `to`, which exists afterwards if and only if the copy is complete; one that was there is replaced.
 * "<to>.tmp" is used on the way. Files are not fsynced: after a power cut tm_snapshot_hash_dir() tells. `job_dir` is left
 * out where it lies within the source; may be NULL. `out` is filled on success, to be released. */
int tm_snapshot_take(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     const char *to, struct tm_snapshot *out, struct tm_err *err);
/* Where the entry script of a copy in `dir` is; to free(). */
char *tm_snapshot_script(const struct tm_config *config, const char *dir);
void tm_snapshot_release(struct tm_snapshot *s);

/* The hash that a copy made now would have; nothing is written. */
int tm_snapshot_hash(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     char out[17], struct tm_err *err);
/* The hash of a copy that is there. */
int tm_snapshot_hash_dir(const struct tm_fs *fs, const char *dir, char out[17], struct tm_err *err);

#endif
