/* snapshot_own.h - what the files of snapshot.h share, and nobody else:
 *
 *   snapshot.c       the walk that copies and hashes
 *   snapshot_diff.c  which files differ between a source and its copy
 *   snapshot_store.c what a workspace keeps
 */
#ifndef TM_SNAPSHOT_SNAPSHOT_OWN_H
#define TM_SNAPSHOT_SNAPSHOT_OWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/config.h"
#include "sys/fs.h"

/* The files and links of a snapshot. */
struct tm_snapshot_entry {
  char *name;    /* within the copy */
  uint64_t hash; /* of all that the hash of a snapshot covers, but for the name */
};

struct tm_snapshot_list {
  struct tm_snapshot_entry *at;
  size_t len, cap;
};

/* The entries of an existing copy. `copy` NULL: the entries that a copy of `config` would have now.
 * Release `out` in every case. */
int tm_snapshot_list(struct tm_snapshot_list *out, const struct tm_fs *fs,
                     const struct tm_config *config, const char *job_dir, const char *copy,
                     struct tm_err *err);
void tm_snapshot_list_add(struct tm_snapshot_list *l, char kind, const char *name, const void *p,
                          size_t n);
void tm_snapshot_list_release(struct tm_snapshot_list *l);

/* Puts the complete copy in its place, where one that was there is replaced. */
int tm_snapshot_place(const struct tm_fs *fs, const char *temporary, const char *to,
                      struct tm_err *err);

#endif
