/* temp.c - the keeper's own folders for the temporary folders of its workers: one in TMPDIR,
 * perhaps one in memory.
 *
 *  (1) A folder is made when a worker needs it (tm_temp_hold()). A relay may have made it earlier,
 *      for the copy of a script.
 *  (2) It is removed when no process is left that could write to it. A failure is recorded in the
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

static struct tm_keeper_base *find(struct tm_keeper *k, const char *path)
{
  for (size_t i = 0; i < k->bases.len; i++)
    if (strcmp(k->bases.at[i].path, path) == 0)
      return &k->bases.at[i];
  struct tm_keeper_base *new = TM_ARRAY_ADD(&k->bases);
  *new = (struct tm_keeper_base) { .path = tm_xstrdup(path), .fd = -1 };
  return new;
}

int tm_keeper_base_hold(struct tm_keeper *k, const struct tm_node_step *s, const char *below,
                        struct tm_err *err)
{
  char *path = tm_path_dir(below);
  int rc = tm_temp_hold(path, &find(k, path)->fd, &s->incarnation, err);

  if (rc < 0)
    tm_err_append(err, "; make room there, or set TMPDIR to a folder that can be written to");
  free(path);
  return rc;
}

void tm_keeper_bases_remove(struct tm_keeper *k)
{
  tm_require(k->workers.len == 0); /* they write there */
  for (size_t i = 0; i < k->bases.len; i++) {
    struct tm_keeper_base *b = &k->bases.at[i];
    if (tm_temp_is_held(b->path, b->fd))  /* otherwise it belongs to others, or is gone */
      tm_temp_remove_tree(b->path, NULL); /* keeps (2) */
    tm_fs_close(tm_fs_real(), b->fd);
    free(b->path);
  }
  TM_ARRAY_RELEASE(&k->bases);
}
