/* own_folder.c - see own_folder.h. */
#include "outputs/own_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "snapshot/link_roots.h"

struct look {
  const struct tm_fs *fs;
  const struct tm_step_output *out;
  struct tm_stat st; /* of the current contents of the destination */
  bool is_there;
  struct tm_err *err;
};

/* Compares also through links. For a path that does not exist, its existing parents are checked. */
static bool is_held(const struct look *l, const char *path)
{
  char *at = tm_xstrdup(path), *above;
  bool is_same = tm_link_is_within(l->out->destination, path), is_top = false;
  struct tm_stat st;

  while (l->is_there && !is_same && !is_top) {
    is_same =
        l->fs->stat(l->fs->self, at, true, &st) == 0 && st.dev == l->st.dev && st.ino == l->st.ino;
    is_top = strcmp(at, "/") == 0;
    above = tm_path_dir(at);
    free(at);
    at = above;
  }
  free(at);
  return is_same;
}

static int check(const struct look *l, const char *what, const char *path)
{
  if (!path || !is_held(l, path))
    return 0;
  return tm_err_set(l->err, TM_EUSAGE,
                    "destination '%s' of output '%s' would be replaced as a whole, and %s '%s' is "
                    "in it; name a folder that nothing else is in",
                    l->out->destination, l->out->name, what, path);
}

/* The folder that contains all matches of a pattern, to free(); a plain path is returned itself. */
static char *folder_of(const char *path)
{
  size_t fixed = strcspn(path, "*?[{\\");

  if (!path[fixed])
    return tm_xstrdup(path);
  while (fixed > 0 && path[fixed - 1] != '/')
    fixed--;
  return tm_xstrndup(path, fixed);
}

/* The pipeline's own folder is literal, whatever its name. */
static int check_input(const struct look *l, const struct tm_dataset *d)
{
  int rc = 0;

  for (size_t i = 0; i < d->paths_len && d->base_dir && !d->step && rc == 0; i++) {
    char *below = folder_of(d->paths[i]), *folder = tm_path_absolute(d->base_dir, below);
    rc = check(l, "the input", folder);
    free(folder);
    free(below);
  }
  return rc;
}

static int check_step(const struct look *l, const struct tm_step *s)
{
  int rc = s->config.script_text ? 0 : check(l, "the script", s->config.entry_script);

  if (rc == 0)
    rc = check(l, "the source_directory", s->config.source_directory);
  for (size_t i = 0; i < s->inputs_len && rc == 0; i++)
    rc = check_input(l, s->inputs[i]);
  for (size_t i = 0; i < s->side_inputs_len && rc == 0; i++)
    rc = check_input(l, s->side_inputs[i]);
  return rc;
}

static int refuse_link(const struct look *l)
{
  return tm_err_set(l->err, TM_EUSAGE,
                    "destination '%s' of output '%s' is a link, which an upload cannot replace; "
                    "name the folder that it leads to, or remove it",
                    l->out->destination, l->out->name);
}

/* Whether the destination is a mount point; a rename cannot replace it. A mount of the same file
 * system is not noticed here, and the upload fails. */
static bool is_mount(const struct look *l)
{
  char *parent = tm_path_dir(l->out->destination);
  struct tm_stat st;
  bool yes = S_ISDIR(l->st.mode) && l->fs->stat(l->fs->self, parent, true, &st) == 0 &&
             st.dev != l->st.dev;

  free(parent);
  return yes;
}

static int refuse_mount(const struct look *l)
{
  return tm_err_set(l->err, TM_EUSAGE,
                    "destination '%s' of output '%s' is a mount point, which an upload cannot "
                    "replace; name a folder in it",
                    l->out->destination, l->out->name);
}

static int check_output(struct look *l, const struct tm_pipeline *p, const char *const dirs[2])
{
  int rc = 0;

  l->is_there = l->fs->stat(l->fs->self, l->out->destination, false, &l->st) == 0;
  if (l->is_there && S_ISLNK(l->st.mode))
    return refuse_link(l);
  if (l->is_there && is_mount(l))
    return refuse_mount(l);
  rc = check(l, "the pipeline file", p->file);
  for (size_t i = 0; i < p->steps_len && rc == 0; i++)
    rc = check_step(l, p->steps[i]);
  if (rc == 0)
    rc = check(l, "the workspace", dirs[0]);
  return rc == 0 ? check(l, "the job's directory", dirs[1]) : rc;
}

int tm_own_folder_check(const struct tm_fs *fs, const struct tm_pipeline *pipeline,
                        const struct tm_step *step, const char *const dirs[2], struct tm_err *err)
{
  struct look l = { .fs = fs, .err = err };
  int rc = 0;

  for (size_t i = 0; i < step->outputs_len && rc == 0; i++) {
    l.out = &step->outputs[i];
    if (l.out->destination && l.out->is_upload && !l.out->archive_format)
      rc = check_output(&l, pipeline, dirs);
  }
  if (rc < 0)
    return *step->where ? tm_err_wrap(err, "%s: step '%s'", step->where, step->name)
                        : tm_err_wrap(err, "step '%s'", step->name);
  return 0;
}
