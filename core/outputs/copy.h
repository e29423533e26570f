/* copy.h - copies a tree of files; the copy is on the disk when it returns. Blocking. */
#ifndef TM_OUTPUTS_COPY_H
#define TM_OUTPUTS_COPY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_copy {
  const struct tm_fs *fs;
  const char *from, *to;
  bool (*is_left_out)(const char *dir, const char *name); /* or NULL */
  const atomic_bool *stop; /* set by another thread: ends with -ECANCELED; or NULL */
};

/* Copies files, folders and links; other types and vanished entries are left out. Nothing in it may
 * be written meanwhile. Existing folders are added to; an existing file is an error. */
int tm_copy_tree(const struct tm_copy *c, struct tm_err *err);

#endif
