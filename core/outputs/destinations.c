/* destinations.c - see destinations.h. upload.c does the upload. */
#include "outputs/destinations.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/path.h"
#include "outputs/upload.h"

static int on_first_name(void *data, const char *name, int type)
{
  *(bool *)data = true;
  return 1;
}

/* A parent of the path is not a folder: TM_EUSAGE names it. */
static int refuse_below(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  char *above = tm_path_dir(path);
  struct tm_stat st;

  while (strcmp(above, "/") != 0 && fs->stat(fs->self, above, true, &st) < 0) {
    char *next = tm_path_dir(above);
    free(above);
    above = next;
  }
  tm_err_set(err, TM_EUSAGE,
             "destination '%s' cannot be made: '%s' is not a folder; name another destination",
             path, above);
  free(above);
  return TM_EUSAGE;
}

static bool is_link(const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;

  return fs->stat(fs->self, path, false, &st) == 0 && S_ISLNK(st.mode);
}

/* 1: it is not empty, or is the file, or a link in its place; 0: it is missing, or an empty
 * folder. */
static int has_contents(const struct tm_fs *fs, const char *path, bool is_file, struct tm_err *err)
{
  struct tm_stat st;
  bool is_found = false;
  int rc = fs->stat(fs->self, path, true, &st);

  if (rc == -ENOENT)
    return is_file && is_link(fs, path);
  if (rc == -ENOTDIR)
    return refuse_below(fs, path, err);
  if (rc == 0 && is_file && !S_ISREG(st.mode))
    return tm_err_set(err, TM_EUSAGE,
                      "destination '%s' is not a file; move it away, or name another one", path);
  if (rc == 0 && is_file)
    return 1;
  if (rc == 0 && !S_ISDIR(st.mode))
    return tm_err_set(err, TM_EUSAGE,
                      "destination '%s' is not a folder; move it away, or name another one", path);
  if (rc == 0 && (rc = fs->dir_read(fs->self, path, on_first_name, &is_found)) > 0)
    rc = 0;
  return rc < 0 ? tm_err_system(err, rc, "cannot look at destination '%s'", path) : is_found;
}

/* 1: the contents of the destination belong to this job. */
static int is_own(const struct tm_fs *fs, const struct tm_step *step, size_t i, const char *job_dir,
                  struct tm_err *err)
{
  const struct tm_step_output *out = &step->outputs[i];
  char *folder = tm_path_join(job_dir, out->folder);
  int rc = out->is_upload ? tm_upload_is_own(fs, step, i, job_dir, err) : is_link(fs, folder);

  free(folder);
  return rc;
}

static int check_output(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                        const char *job_dir, struct tm_err *err)
{
  const struct tm_step_output *out = &step->outputs[i];
  int rc = job_dir ? is_own(fs, step, i, job_dir, err) : 0;

  if (rc != 0)
    return rc < 0 ? rc : 0;
  rc = has_contents(fs, out->destination, out->archive_format, err);
  if (rc <= 0 || step->config.overwrite)
    return rc < 0 ? rc : 0;
  return tm_err_set(
      err, TM_EUSAGE,
      "destination '%s' of output '%s' is %s, and its contents are not this job's; "
      "move it away, name another destination, or set overwrite = true in ParallelRunConfig",
      out->destination, out->name, out->archive_format ? "taken" : "not empty");
}

static int wrap(const struct tm_step *step, struct tm_err *err)
{
  return *step->where ? tm_err_wrap(err, "%s: step '%s'", step->where, step->name)
                      : tm_err_wrap(err, "step '%s'", step->name);
}

int tm_destinations_check(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                          struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < step->outputs_len && rc == 0; i++)
    if (step->outputs[i].destination)
      rc = check_output(fs, step, i, job_dir, err);
  return rc < 0 ? wrap(step, err) : 0;
}

/* Locks the destination if it exists. If a file system has no locks, nobody is waited for. */
static int hold(const struct tm_fs *fs, const char *destination, int *held, struct tm_err *err)
{
  tm_require(destination[0] == '/');
  int rc;

  if (*held >= 0)
    return 0;
  if ((rc = tm_fs_open_found(held, fs, destination, O_RDONLY | O_DIRECTORY, err)) < 0 || *held < 0)
    return rc;
  rc = tm_lock_take(*held, false);
  if (rc != -EWOULDBLOCK)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "destination '%s' is being written to by another job; wait until that has "
                    "ended, or name another destination",
                    destination);
}

void tm_destinations_leave(const struct tm_fs *fs, struct tm_destinations_held *held)
{
  for (size_t i = 0; i < held->len; i++)
    if (held->at[i] >= 0) {
      tm_lock_release(held->at[i]);
      tm_fs_close(fs, held->at[i]);
    }
  TM_ARRAY_RELEASE(held);
}

static bool is_mount(const struct tm_step_output *out)
{
  return out->destination && !out->is_upload;
}

int tm_destinations_hold(const struct tm_fs *fs, const struct tm_step *step,
                         struct tm_destinations_held *held, struct tm_err *err)
{
  int rc = 0;

  tm_require(held->len == 0 || held->len == step->outputs_len);
  while (held->len < step->outputs_len)
    *TM_ARRAY_ADD(held) = -1;
  for (size_t i = 0; i < step->outputs_len && rc == 0; i++)
    if (is_mount(&step->outputs[i]))
      rc = hold(fs, step->outputs[i].destination, &held->at[i], err);
  return rc < 0 ? wrap(step, err) : 0;
}

static int open_link(const struct tm_fs *fs, const char *folder, const char *destination,
                     struct tm_err *err)
{
  char *parent = tm_path_dir(folder);
  int rc = tm_fs_make_dirs(fs, parent, 0700, err);

  if (rc >= 0 && !is_link(fs, folder)) {
    rc = fs->symlink(fs->self, destination, folder);
    rc = rc < 0 ? tm_err_system(err, rc, "cannot make link '%s' to '%s'", folder, destination)
                : tm_fs_sync_dir(fs, parent, err);
  }
  free(parent);
  return rc < 0 ? rc : 0;
}

/* The link is made when the folder is ours; only a later session finds it. */
static int open_mount(const struct tm_fs *fs, const struct tm_step *step, size_t i,
                      const char *job_dir, int *held, struct tm_err *err)
{
  const char *destination = step->outputs[i].destination;
  char *folder = tm_path_join(job_dir, step->outputs[i].folder);
  int rc = tm_fs_make_dirs(fs, destination, 0777, err);

  if (rc >= 0)
    rc = hold(fs, destination, held, err);
  if (rc >= 0)
    rc = check_output(fs, step, i, job_dir, err);
  if (rc >= 0)
    rc = open_link(fs, folder, destination, err);
  free(folder);
  return rc < 0 ? wrap(step, err) : 0;
}

int tm_destinations_open(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                         struct tm_destinations_held *held, struct tm_err *err)
{
  int rc = tm_destinations_hold(fs, step, held, err);

  for (size_t i = 0; i < step->outputs_len && rc >= 0; i++) {
    const struct tm_step_output *out = &step->outputs[i];
    char *folder = tm_path_join(job_dir, out->folder);
    rc = is_mount(out) ? open_mount(fs, step, i, job_dir, &held->at[i], err)
                       : tm_fs_make_dirs(fs, folder, 0700, err);
    if (rc >= 0 && out->is_upload)
      rc = tm_upload_mend(fs, step, i, job_dir, err);
    free(folder);
  }
  return rc < 0 ? rc : 0;
}

bool tm_destinations_has_upload(const struct tm_step *step)
{
  for (size_t i = 0; i < step->outputs_len; i++)
    if (step->outputs[i].is_upload)
      return true;
  return false;
}
