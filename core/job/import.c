/* import.c - see import.h. */
#include "job/import.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/mem.h"
#include "base/path.h"
#include "outputs/copy.h"
#include "record/job_record.h"
#include "store/jobs.h"

bool tm_import_is_asked(const struct tm_step *step)
{
  return step->config.resume_from != NULL;
}

/* Another session has no use for results on their way from workers, and for files of tries. */
static bool is_passing(const char *dir, const char *name)
{
  if (strncmp(name, TM_STAGING_PREFIX, strlen(TM_STAGING_PREFIX)) == 0)
    return true;
  return strcmp(tm_path_base(dir), "state") == 0 &&
         (strcmp(name, "spill") == 0 || strcmp(name, "staging") == 0);
}

/* One step. */

/* The folder that relative names of jobs refer to: that of the pipeline file, or the working
 * directory of the command. */
static char *base_of(const struct tm_definition *d, const struct tm_step *step)
{
  return step->working_dir ? tm_xstrdup(step->working_dir) : tm_path_dir(d->pipeline->file);
}

static char *find_job(const struct tm_definition *d, const struct tm_step *step, struct tm_err *err)
{
  char *base = base_of(d, step), *dir;

  dir = tm_jobs_find(d->fs, step->config.resume_from, getenv(TM_WORKSPACE_VARIABLE), base,
                     TM_TO_USE, err);
  if (dir && strcmp(dir, d->dir->path) == 0) {
    tm_err_set(err, TM_EUSAGE,
               "'%s' is this job's own directory; to resume a job: --resume, or tidemill "
               "resume JOB",
               dir);
    free(dir);
    dir = NULL;
  }
  free(base);
  return dir;
}

static int copy_part(const struct tm_definition *d, const char *from, const char *to,
                     const char *part, struct tm_err *err)
{
  char *part_from = tm_path_join(from, part), *part_to = tm_path_join(to, part);
  int rc = tm_copy_tree(
      &(struct tm_copy) {
          .fs = d->fs, .from = part_from, .to = part_to, .is_left_out = is_passing },
      err);

  free(part_from);
  free(part_to);
  return rc;
}

/* Copies the folders of all outputs: a kept mini-batch does not write its files again. */
static int copy_parts(const struct tm_definition *d, const struct tm_step *step, const char *dir,
                      struct tm_err *err)
{
  char *from = tm_path_join(dir, step->name),
       *to = tm_xprintf("%s/" TM_IMPORT_DIR "/%s", d->dir->path, step->name);
  int rc = tm_fs_make_dirs(d->fs, to, 0700, err);

  if (rc == 0)
    rc = copy_part(d, from, to, "state", err);
  for (size_t i = 0; i < step->outputs_len && rc == 0; i++)
    rc = copy_part(d, from, to, tm_path_base(step->outputs[i].folder), err);
  if (rc == 0)
    rc = tm_fs_sync_dir(d->fs, to, err);
  free(from);
  free(to);
  return rc;
}

/* Takes a step from a job that no process has open. */
static int take_over(const struct tm_definition *d, size_t i, const char *dir, struct tm_err *err)
{
  const char *name = d->pipeline->steps[i]->name;
  struct tm_json *record = tm_job_record_load(dir, err);
  int rc = record ? tm_definition_compare_step(d, i, record, dir, err) : err->code;

  tm_json_free(record);
  if (rc == 0)
    rc = copy_parts(d, d->pipeline->steps[i], dir, err);
  if (rc == 0)
    d->on_note(d->data, tm_xprintf("step '%s': what the job in '%s' has committed is taken over",
                                   name, dir));
  return rc;
}

static int copy_step(const struct tm_definition *d, size_t i, struct tm_err *err)
{
  const struct tm_step *step = d->pipeline->steps[i];
  struct tm_job_dir other = { .lock = -1 };
  char *dir;
  int rc;

  if (!tm_import_is_asked(step))
    return 0;
  dir = find_job(d, step, err);
  rc = dir ? tm_job_dir_hold(&other, d->fs, dir, err) : err->code;
  if (rc >= 0)
    rc = take_over(d, i, dir, err);
  tm_job_dir_close(&other);
  free(dir);
  return rc < 0
             ? tm_err_wrap(err, "step '%s': --resume_from %s", step->name, step->config.resume_from)
             : 0;
}

/* All steps. */

int tm_import_copy(const struct tm_definition *d, struct tm_err *err)
{
  char *all = tm_path_join(d->dir->path, TM_IMPORT_DIR);
  int rc = tm_fs_remove_tree(d->fs, all, err); /* copies of a session that was killed */

  for (size_t i = 0; i < d->pipeline->steps_len && rc == 0; i++)
    rc = copy_step(d, i, err);
  if (rc < 0)
    tm_fs_remove_tree(d->fs, all, NULL);
  free(all);
  return rc;
}

static int place_step(const struct tm_definition *d, const char *all, const char *name,
                      struct tm_err *err)
{
  char *from = tm_path_join(all, name), *to = tm_path_join(d->dir->path, name);
  int rc = d->fs->rename(d->fs->self, from, to);

  if (rc == -ENOENT) /* it is in its place, or nothing was asked for */
    rc = 0;
  else if (rc < 0)
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", from, to);
  free(from);
  free(to);
  return rc;
}

int tm_import_place(const struct tm_definition *d, struct tm_err *err)
{
  char *all = tm_path_join(d->dir->path, TM_IMPORT_DIR);
  bool is_there = tm_fs_exists(d->fs, all);
  int rc = 0;

  for (size_t i = 0; i < d->pipeline->steps_len && is_there && rc == 0; i++)
    rc = place_step(d, all, d->pipeline->steps[i]->name, err);
  if (is_there && rc == 0)
    rc = tm_fs_sync_dir(d->fs, d->dir->path, err);
  if (is_there && rc == 0)
    rc = tm_fs_remove_tree(d->fs, all, err);
  free(all);
  return rc;
}
