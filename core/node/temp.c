/* temp.c - the keeper's own folders for the temporary folders of its workers: one in TMPDIR,
 * perhaps one in memory.
 *
 *  (1) A folder is made when a worker needs it, with mode 0700. Its name is unpredictable, so an
 *      existing one is ours; it is still checked, and a link or another user's folder is refused.
 *  (2) It has a shared lock while the keeper lives. Code that removes folders of killed keepers
 *      (record/temp_dirs.h) skips locked ones, and so do programs that remove old files from /tmp
 *      (tmpfiles.d(5)).
 *  (3) As soon as it is locked, it gets a file that names this keeper (temp_owner.h). Only such a
 *      folder is removed while other nodes of the job may live on this machine.
 *  (4) It is removed when no process is left that could write to it. A failure is recorded in the
 *      job directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/check.h"
#include "node/node_own.h"
#include "node/temp_left.h"
#include "node/temp_owner.h"
#include "sys/fs.h"

/* Another process may remove the folder while we open it. */
#define TRIES 3

static struct tm_keeper_base *find(struct tm_keeper *k, const char *path)
{
  for (size_t i = 0; i < k->bases.len; i++)
    if (strcmp(k->bases.at[i].path, path) == 0)
      return &k->bases.at[i];
  struct tm_keeper_base *new = TM_ARRAY_ADD(&k->bases);
  *new = (struct tm_keeper_base) { .path = tm_xstrdup(path), .fd = -1 };
  return new;
}

/* Whether the path still names the open folder. */
static bool is_at_path(const struct tm_keeper_base *b)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat held, there;
  return b->fd >= 0 && fs->fstat(fs->self, b->fd, &held) == 0 &&
         fs->stat(fs->self, b->path, false, &there) == 0 && held.ino == there.ino &&
         held.dev == there.dev;
}

/* Keeps (1), (2) and (3). */
static int make(struct tm_keeper_base *b, const struct tm_incarnation *i)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = fs->mkdir(fs->self, b->path, 0700);
  if (rc < 0 && rc != -EEXIST)
    return rc;
  if ((rc = fs->open(fs->self, b->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)) < 0)
    return rc;
  b->fd = rc;
  if ((rc = fs->fstat(fs->self, b->fd, &st)) < 0)
    return rc;
  if (st.uid != geteuid())
    return -EEXIST;
  if ((rc = tm_lock_take(b->fd, true)) == 0)
    tm_temp_own(b->path, i);
  return rc == -EWOULDBLOCK ? rc : 0; /* otherwise the file system may not support locks */
}

static void let_go(struct tm_keeper_base *b)
{
  tm_fs_close(tm_fs_real(), b->fd);
  b->fd = -1;
}

int tm_keeper_base_hold(struct tm_keeper *k, const struct tm_node_step *s, const char *below,
                        struct tm_err *err)
{
  char *path = tm_path_dir(below);
  struct tm_keeper_base *b = find(k, path);
  int rc = 0;
  for (int i = 0; i < TRIES && !is_at_path(b); i++) {
    let_go(b);
    if ((rc = make(b, &s->incarnation)) < 0)
      let_go(b);
  }
  if (rc == 0 && !is_at_path(b))
    rc = -ENOENT;
  if (rc < 0)
    tm_err_system(err, rc, "cannot make the folder '%s'", path);
  free(path);
  return rc;
}

void tm_keeper_bases_remove(struct tm_keeper *k)
{
  tm_require(k->workers.len == 0); /* they write there */
  for (size_t i = 0; i < k->bases.len; i++) {
    struct tm_keeper_base *b = &k->bases.at[i];
    if (is_at_path(b))                    /* otherwise it belongs to others, or is gone */
      tm_temp_remove_tree(b->path, NULL); /* keeps (4) */
    tm_fs_close(tm_fs_real(), b->fd);
    free(b->path);
  }
  TM_ARRAY_RELEASE(&k->bases);
}
