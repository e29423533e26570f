/* copy.h - a tree of files, copied and on the disk when it returns. Blocking. */
#ifndef TM_RUN_COPY_H
#define TM_RUN_COPY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_copy {
  const struct tm_fs *fs;
  const char *from, *to;
  bool (*is_left_out)(const char *dir, const char *name); /* or NULL */
  const atomic_bool *stop; /* set by another thread: it ends with -ECANCELED; or NULL */
};

/* Files, folders and links; what is something else is left out, and what is not there. Nothing in it may be written meanwhile.
 * Folders that are there already are added to; a file that is there is an error. */
int tm_copy_tree(const struct tm_copy *c, struct tm_err *err);

#endif
