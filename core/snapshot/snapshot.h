/* snapshot.h - the copy of an entry script, or of its whole source_directory, that the workers of a
 * job run.
 *
 * Copied: folders, regular files (contents, and whether they are executable) and links. A link
 * within the source is copied unchanged. A link that leads out of it is replaced by its target, a
 * file or a folder with its contents; a second link to something copied, also to a folder above,
 * becomes a link within the copy, and a dangling link keeps its target. Left out: ".git",
 * ".tidemill", job directories (a folder with job.json and lock), workspaces of other names (with
 * workspace.db and jobs), and what a source_directory's .tidemillignore names (ignore.h). Refused:
 * devices, sockets, pipes; more than the limits below.
 *
 * The hash is over names, contents and executability in the order of names: the same for the source
 * and for its copy, and on every machine. A workspace stores each snapshot once, packed, named by
 * its hash (pack.h). If a job's copy was changed, it is restored from there, whatever has happened
 * to the source.
 */
#ifndef TM_SNAPSHOT_SNAPSHOT_H
#define TM_SNAPSHOT_SNAPSHOT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "plan/config.h"
#include "sys/fs.h"

/* Within the copy, 1/, 2/, ...: the modules of each folder in module_paths, *.lua and *.so with the
 * libraries beside them. In a source, a folder of this name is left out. */
#define TM_SNAPSHOT_MODULES   ".tidemill-modules"
#define TM_SNAPSHOT_BYTES_MAX (INT64_C(300) << 20)
#define TM_SNAPSHOT_FILES_MAX INT64_C(10000) /* files, folders and links */

/* The environment of workers that run the copy in `dir`: that of config, but with the modules of
 * the copy, if it has any. NULL-ended; free it with tm_snapshot_free_environment(). */
char **tm_snapshot_environment(const struct tm_config *config, const char *dir);
void tm_snapshot_free_environment(char **environment);

struct tm_snapshot {
  char *dir;     /* the copy of source_directory; `to`; the script's `require` looks there first */
  char *script;  /* the copy of the entry script, within dir */
  char hash[17]; /* 16 hexadecimal digits */
  int64_t files; /* files, folders and links */
  int64_t bytes; /* of contents */
  /* a file that changed in each try, so that the copy may be inconsistent; NULL: it is of one
   * moment */
  char *changed;
};

/* Copies to the folder `to`, which exists afterwards if and only if the copy is complete; an old
 * one is replaced. "<to>.tmp" is used meanwhile. Files are not fsynced: after a power failure,
 * tm_snapshot_hash_dir() checks them. `job_dir` is left out if it is within the source; may be
 * NULL. On success `out` is filled, to be released. */
int tm_snapshot_take(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     const char *to, struct tm_snapshot *out, struct tm_err *err);
/* The path of the entry script of a copy in `dir`; to free(). */
char *tm_snapshot_script(const struct tm_config *config, const char *dir);
void tm_snapshot_release(struct tm_snapshot *s);

/* Checks, before anything is made, that .tidemillignore is valid and does not leave out the entry
 * script. TM_EUSAGE with file:line. */
int tm_snapshot_check(const struct tm_fs *fs, const struct tm_config *config, struct tm_err *err);
/* Whether two steps of a job copy the same source: the second may then be a link beside the first,
 * made now. `out` is filled. */
bool tm_snapshot_is_same(const struct tm_config *a, const struct tm_config *b);
int tm_snapshot_share(const struct tm_fs *fs, const struct tm_config *config,
                      const struct tm_snapshot *first, const char *to, struct tm_snapshot *out,
                      struct tm_err *err);

/* Packs a new copy as <store>/<hash>.tar.zst; does nothing if that exists. */
int tm_snapshot_keep(const struct tm_fs *fs, const struct tm_snapshot *s, const char *store,
                     struct tm_err *err);
/* Restores a stored copy to `to`, replacing an old one. -ENOENT: nothing is stored under that hash;
 * TM_EDAMAGE. */
int tm_snapshot_restore(const struct tm_fs *fs, const char *store, const char *hash, const char *to,
                        struct tm_err *err);

/* The hash that a copy made now would have; writes nothing. */
int tm_snapshot_hash(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     char out[17], struct tm_err *err);
/* Adds which files differ between the source now and the copy in `copy`: "'s.lua' has changed,
 * 'lib/a.lua' is new". Adds nothing if no file differs. */
int tm_snapshot_diff(struct tm_buf *out, const struct tm_fs *fs, const struct tm_config *config,
                     const char *job_dir, const char *copy, struct tm_err *err);
/* The hash of an existing copy. */
int tm_snapshot_hash_dir(const struct tm_fs *fs, const char *dir, char out[17], struct tm_err *err);

/* The sender of a copy to another machine (base/tree_bytes.h). */
struct tm_snapshot_pack {
  /* Takes the bytes, and empties the buffer or leaves them. A negative code, with a message, ends
   * the packing. */
  int (*on_bytes)(void *data, struct tm_buf *bytes, struct tm_err *err);
  void *data;
  struct tm_buf bytes; /* zeroed */
};
/* Reads the copy in `dir`, which may take long. The caller adds the end of the tree. `out`: the
 * hash of the tree. */
int tm_snapshot_pack(struct tm_snapshot_pack *p, const struct tm_fs *fs, const char *dir,
                     char out[17], struct tm_err *err);

#endif
