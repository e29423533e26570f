/* link_tree.c - see link_tree.h. */
#include "outputs/link_tree.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "outputs/copy.h"

struct walk {
  const struct tm_link_tree *t;
  const char *relative; /* of the folder */
  struct tm_err *err;
};

static int link_folder(const struct tm_link_tree *t, const char *relative, struct tm_err *err);

static int link_file(const struct tm_link_tree *t, const char *from, const char *to,
                     const struct tm_stat *st, struct tm_err *err)
{
  int rc = tm_file_link(from, to);
  if (rc == -ENOENT || rc == -EEXIST || rc == -ENOSPC)
    return tm_err_system(err, rc, "cannot link '%s' to '%s'", to, from);
  if (rc < 0) { /* another file system, or one without links, or too many links */
    rc = tm_copy_tree(&(struct tm_copy) { .fs = t->fs, .from = from, .to = to, .stop = t->stop },
                      err);
    if (rc >= 0)
      (void)tm_file_set_mtime(to, st->mtime_ns);
  }
  return rc;
}

static int copy_link(const struct tm_link_tree *t, const char *from, const char *to,
                     struct tm_err *err)
{
  char *leads_to;
  int rc = tm_fs_link_read(t->fs, from, &leads_to, err);

  if (rc < 0)
    return rc;
  rc = t->fs->symlink(t->fs->self, leads_to, to);
  free(leads_to);
  return rc < 0 ? tm_err_system(err, rc, "cannot make link '%s'", to) : 0;
}

static int link_entry(const struct tm_link_tree *t, const char *relative, struct tm_err *err)
{
  char *from = tm_path_join(t->from, relative), *to = tm_path_join(t->to, relative);
  struct tm_stat st;
  int rc = t->fs->stat(t->fs->self, from, false, &st);
  if (t->stop && atomic_load(t->stop))
    rc = tm_err_system(err, -ECANCELED, "linking '%s'", from);
  else if (rc < 0)
    tm_err_system(err, rc, "cannot look at '%s'", from);
  else if (S_ISDIR(st.mode))
    rc = link_folder(t, relative, err);
  else if (S_ISLNK(st.mode))
    rc = copy_link(t, from, to, err);
  else if (S_ISREG(st.mode))
    rc = link_file(t, from, to, &st, err);
  free(from);
  free(to);
  return rc;
}

static int on_name(void *data, const char *name, int type)
{
  const struct walk *w = data;
  char *inner = *w->relative ? tm_path_join(w->relative, name) : tm_xstrdup(name);
  int rc = w->t->is_left_out && w->t->is_left_out(inner) ? 0 : link_entry(w->t, inner, w->err);
  free(inner);
  return rc;
}

static int link_folder(const struct tm_link_tree *t, const char *relative, struct tm_err *err)
{
  char *from = tm_path_join(t->from, relative), *to = tm_path_join(t->to, relative);
  struct tm_err why = TM_ERR_NONE;
  struct walk w = { .t = t, .relative = relative, .err = &why };
  int rc = t->fs->mkdir(t->fs->self, to, 0700);
  if (rc < 0)
    tm_err_system(err, rc, "cannot make folder '%s'", to);
  else if ((rc = t->fs->dir_read(t->fs->self, from, on_name, &w)) < 0 && why.code < 0)
    tm_err_set(err, why.code, "%s", why.text);
  else if (rc < 0)
    tm_err_system(err, rc, "cannot read folder '%s'", from);
  else
    rc = tm_fs_sync_dir(t->fs, to, err);
  free(from);
  free(to);
  return rc;
}

int tm_link_tree(const struct tm_link_tree *t, struct tm_err *err)
{
  return link_folder(t, "", err);
}
