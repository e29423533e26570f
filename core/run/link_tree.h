/* link_tree.h - a tree of files that has a second name: folders are made, files are hard links, or copies where the file system has
 * none. On the disk when it returns. Blocking. */
#ifndef TM_RUN_LINK_TREE_H
#define TM_RUN_LINK_TREE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"
#include "sys/fs.h"

struct tm_link_tree {
  const struct tm_fs *fs;
  const char *from, *to;                     /* folders; `to` is not there */
  bool (*is_left_out)(const char *relative); /* a path below `from`; or NULL */
  const atomic_bool *stop; /* set by another thread: it ends with -ECANCELED; or NULL */
};

/* Files keep their times, also as copies. Links are made again; what is no file, folder or link is left out. Nothing in it may be
 * written meanwhile. */
int tm_link_tree(const struct tm_link_tree *t, struct tm_err *err);

#endif
