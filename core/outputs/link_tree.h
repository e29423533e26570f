/* link_tree.h - makes a second tree of the same files: folders are made, files are hard links, or
 * copies if the file system has no links. On the disk when it returns. Blocking. */
#ifndef TM_OUTPUTS_LINK_TREE_H
#define TM_OUTPUTS_LINK_TREE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_link_tree {
  const struct tm_fs *fs;
  const char *from, *to;                     /* folders; `to` must not exist */
  bool (*is_left_out)(const char *relative); /* a path below `from`; or NULL */
  const atomic_bool *stop; /* set by another thread: ends with -ECANCELED; or NULL */
};

/* Files keep their times, also as copies. Links are made again; other types are left out. Nothing
 * in it may be written meanwhile. */
int tm_link_tree(const struct tm_link_tree *t, struct tm_err *err);

#endif
