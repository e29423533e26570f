/* copy.c - see copy.h. */
#include "outputs/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"

#define PIECE (1u << 20) /* bytes copied at a time */

/* A folder being copied. */
struct walk {
  const struct tm_copy *c;
  struct tm_err *err;
};

static bool is_stopped(const struct tm_copy *c)
{
  return c->stop && atomic_load(c->stop);
}

static int copy_bytes(const struct tm_copy *c, int in, int out, struct tm_err *err)
{
  char *piece = tm_xmalloc(PIECE);
  int64_t at = 0, n;
  int rc = 0;

  while ((n = tm_fs_read_at(c->fs, in, c->from, piece, PIECE, at, err)) > 0 && rc == 0) {
    rc = is_stopped(c) ? tm_err_system(err, -ECANCELED, "copying '%s'", c->from)
                       : tm_fs_write_at(c->fs, out, c->to, piece, (size_t)n, at, err);
    at += n;
  }
  free(piece);
  if (rc == 0 && n < 0)
    rc = (int)n;
  return rc < 0 ? rc : tm_fs_sync(c->fs, out, c->to, err);
}

static int copy_file(const struct tm_copy *c, uint32_t mode, struct tm_err *err)
{
  int in = tm_fs_open(c->fs, c->from, O_RDONLY, 0, err), out, rc;

  if (in < 0)
    return in;
  rc = out = tm_fs_open(c->fs, c->to, O_WRONLY | O_CREAT | O_EXCL, (int)(mode & 0777), err);
  if (out >= 0)
    rc = copy_bytes(c, in, out, err);
  if (out >= 0)
    tm_fs_close(c->fs, out);
  tm_fs_close(c->fs, in);
  return rc;
}

static int copy_link(const struct tm_copy *c, struct tm_err *err)
{
  char *leads_to;
  int rc = tm_fs_link_read(c->fs, c->from, &leads_to, err);

  if (rc < 0)
    return rc;
  rc = c->fs->symlink(c->fs->self, leads_to, c->to);
  free(leads_to);
  return rc < 0 ? tm_err_system(err, rc, "cannot make link '%s'", c->to) : 0;
}

static int on_name(void *data, const char *name, int type)
{
  const struct walk *w = data;
  struct tm_copy c = *w->c;
  char *from = tm_path_join(w->c->from, name), *to = tm_path_join(w->c->to, name);
  int rc = 0;

  c.from = from;
  c.to = to;
  if (is_stopped(&c))
    rc = tm_err_system(w->err, -ECANCELED, "copying '%s'", from);
  else if (!c.is_left_out || !c.is_left_out(w->c->from, name))
    rc = tm_copy_tree(&c, w->err);
  free(from);
  free(to);
  return rc;
}

static int copy_dir(const struct tm_copy *c, uint32_t mode, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  struct walk w = { .c = c, .err = &why };
  int rc = tm_fs_make_dirs(c->fs, c->to, (int)(mode & 0777) | 0700, err);

  if (rc < 0)
    return rc;
  rc = c->fs->dir_read(c->fs->self, c->from, on_name, &w);
  if (rc < 0 && why.code != 0 && err)
    *err = why;
  else if (rc < 0)
    tm_err_system(err, rc, "cannot read folder '%s'", c->from);
  return rc < 0 ? rc : tm_fs_sync_dir(c->fs, c->to, err);
}

int tm_copy_tree(const struct tm_copy *c, struct tm_err *err)
{
  tm_require(c->from && c->to && strcmp(c->from, c->to) != 0);
  struct tm_stat st;
  int rc = c->fs->stat(c->fs->self, c->from, false, &st);

  if (rc == -ENOENT)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", c->from);
  if (S_ISDIR(st.mode))
    return copy_dir(c, st.mode, err);
  if (S_ISLNK(st.mode))
    return copy_link(c, err);
  return S_ISREG(st.mode) ? copy_file(c, st.mode, err) : 0;
}
