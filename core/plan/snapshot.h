/* snapshot.h - the copy of an entry script, or of its whole source_directory, that the workers of a job run.
 *
 * Copied: folders, regular files (contents, and whether they may be executed) and links. A link that stays within the
 * source is copied as it is. One that leads out of it is replaced by what it names, a file or a folder with all that is in it; a
 * second link to what has been copied, also one back up, becomes a link within the copy, and one to nothing leads to the same
 * nothing. Left out: ".git", ".tidemill", job directories (a folder with job.json and lock), workspaces of other names
 * (with workspace.db and jobs), and of a source_directory what its .tidemillignore names (ignore.h). Refused: devices, sockets, pipes; more than the caps below.
 *
 * The hash is over names, contents and executability in the order of names: the same for the source and for its copy, and on
 * every machine. A workspace keeps each snapshot once, packed, under its hash (pack.h): a job whose copy is not what it was gets its
 * own again, whatever has become of the source.
 */
#ifndef TM_PLAN_SNAPSHOT_H
#define TM_PLAN_SNAPSHOT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "plan/config.h"
#include "sys/fs.h"

/* Within the copy, 1/, 2/, ...: of each folder of module_paths what require() may find there, *.lua and *.so with the libraries beside
 * it. Not in a source: a folder of this name is left out. */
#define TM_SNAPSHOT_MODULES   ".tidemill-modules"
#define TM_SNAPSHOT_BYTES_MAX (INT64_C(300) << 20)
#define TM_SNAPSHOT_FILES_MAX INT64_C(10000) /* files, folders and links */

/* The environment of workers that run the copy in `dir`: as config has it, but its modules are those of the copy, where that has
 * any. NULL-ended, each text and the list to be freed: tm_snapshot_free_environment(). */
char **tm_snapshot_environment(const struct tm_config *config, const char *dir);
void tm_snapshot_free_environment(char **environment);

struct tm_snapshot {
  char *dir;     /* the copy of source_directory; `to`; where the script's `require` looks first */
  char *script;  /* the copy of the entry script, within dir */
  char hash[17]; /* 16 hexadecimal digits */
  int64_t files; /* files, folders and links */
  int64_t bytes; /* of contents */
  char *
      changed; /* what was written each time that it was copied, so that the copy may be torn; NULL: it is of one moment */
};

/* Copies to the folder `to`, which exists afterwards if and only if the copy is complete; one that was there is replaced.
 * "<to>.tmp" is used on the way. Files are not fsynced: after a power cut tm_snapshot_hash_dir() tells. `job_dir` is left
 * out where it lies within the source; may be NULL. `out` is filled on success, to be released. */
int tm_snapshot_take(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     const char *to, struct tm_snapshot *out, struct tm_err *err);
/* Where the entry script of a copy in `dir` is; to free(). */
char *tm_snapshot_script(const struct tm_config *config, const char *dir);
void tm_snapshot_release(struct tm_snapshot *s);

/* Before anything is made: .tidemillignore can be read, and does not leave out the entry script. TM_EUSAGE with file:line. */
int tm_snapshot_check(const struct tm_fs *fs, const struct tm_config *config, struct tm_err *err);
/* Two steps of a job that are copies of one source: the second may be a link beside the first, made now. `out` is filled. */
bool tm_snapshot_is_same(const struct tm_config *a, const struct tm_config *b);
int tm_snapshot_share(const struct tm_fs *fs, const struct tm_config *config,
                      const struct tm_snapshot *first, const char *to, struct tm_snapshot *out,
                      struct tm_err *err);

/* Packs a copy that has just been taken, as <store>/<hash>.tar.zst; one that is there is left. */
int tm_snapshot_keep(const struct tm_fs *fs, const struct tm_snapshot *s, const char *store,
                     struct tm_err *err);
/* Puts what was kept at `to`, where a copy that was there is replaced. -ENOENT: nothing of that hash has been kept; TM_EDAMAGE. */
int tm_snapshot_restore(const struct tm_fs *fs, const char *store, const char *hash, const char *to,
                        struct tm_err *err);

/* The hash that a copy made now would have; nothing is written. */
int tm_snapshot_hash(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     char out[17], struct tm_err *err);
/* Which files differ between the source now and the copy in `copy`: "'s.lua' has changed, 'lib/a.lua' is new". Nothing is added when no
 * file does. */
int tm_snapshot_diff(struct tm_buf *out, const struct tm_fs *fs, const struct tm_config *config,
                     const char *job_dir, const char *copy, struct tm_err *err);
/* The hash of a copy that is there. */
int tm_snapshot_hash_dir(const struct tm_fs *fs, const char *dir, char out[17], struct tm_err *err);

#endif
