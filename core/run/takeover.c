/* takeover.c - see takeover.h. */
#include "run/takeover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "run/job_record.h"
#include "store/jobs.h"
#include "store/workspace.h"

#define PIECE (1u << 20) /* bytes copied at a time */

bool tm_takeover_is_asked(const struct tm_step *step)
{
  return step->config.resume_from != NULL;
}

/* Copying a tree. Nothing in it is written meanwhile, and what is no file, folder or link is nothing of a job. */

struct copy {
  const struct tm_fs *fs;
  const char *from, *to;
  struct tm_err *err;
};

static int copy_tree(const struct tm_fs *fs, const char *from, const char *to, struct tm_err *err);

static int copy_bytes(const struct tm_fs *fs, int in, const char *from, int out, const char *to,
                      struct tm_err *err)
{
  char *piece = tm_xmalloc(PIECE);
  int64_t at = 0, n;
  int rc = 0;

  while ((n = tm_fs_read_at(fs, in, from, piece, PIECE, at, err)) > 0 && rc == 0) {
    rc = tm_fs_write_at(fs, out, to, piece, (size_t)n, at, err);
    at += n;
  }
  free(piece);
  if (rc == 0 && n < 0)
    rc = (int)n;
  return rc < 0 ? rc : tm_fs_sync(fs, out, to, err);
}

static int copy_file(const struct tm_fs *fs, const char *from, const char *to, uint32_t mode,
                     struct tm_err *err)
{
  int in = tm_fs_open(fs, from, O_RDONLY, 0, err), out, rc;

  if (in < 0)
    return in;
  rc = out = tm_fs_open(fs, to, O_WRONLY | O_CREAT | O_EXCL, (int)(mode & 0777), err);
  if (out >= 0)
    rc = copy_bytes(fs, in, from, out, to, err);
  if (out >= 0)
    tm_fs_close(fs, out);
  tm_fs_close(fs, in);
  return rc;
}

static int copy_link(const struct tm_fs *fs, const char *from, const char *to, struct tm_err *err)
{
  char leads_to[PATH_MAX];
  ssize_t n = readlink(from, leads_to, sizeof(leads_to) - 1);
  int rc;

  if (n < 0)
    return tm_err_system(err, -errno, "cannot read link '%s'", from);
  leads_to[n] = '\0';
  rc = fs->symlink(fs->self, leads_to, to);
  return rc < 0 ? tm_err_system(err, rc, "cannot make link '%s'", to) : 0;
}

/* Results on their way from workers, and files of tries, are of no use to another session. */
static bool is_passing(const char *name)
{
  return strcmp(name, "spill") == 0 || strcmp(name, "staging") == 0;
}

static int on_name(void *data, const char *name, int type)
{
  struct copy *c = data;
  bool is_state = strcmp(tm_path_base(c->from), "state") == 0;
  char *from = tm_path_join(c->from, name), *to = tm_path_join(c->to, name);
  int rc = is_state && is_passing(name) ? 0 : copy_tree(c->fs, from, to, c->err);

  free(from);
  free(to);
  return rc;
}

static int copy_dir(const struct tm_fs *fs, const char *from, const char *to, uint32_t mode,
                    struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  struct copy c = { .fs = fs, .from = from, .to = to, .err = &why };
  int rc = tm_fs_make_dirs(fs, to, (int)(mode & 0777) | 0700, err);

  if (rc < 0)
    return rc;
  rc = tm_dir_read(from, on_name, &c);
  if (rc < 0 && why.code != 0 && err)
    *err = why;
  else if (rc < 0)
    tm_err_system(err, rc, "cannot read folder '%s'", from);
  return rc < 0 ? rc : tm_fs_sync_dir(fs, to, err);
}

/* What is not there is not copied. */
static int copy_tree(const struct tm_fs *fs, const char *from, const char *to, struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->stat(fs->self, from, false, &st);

  if (rc == -ENOENT)
    return 0;
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", from);
  if (S_ISDIR(st.mode))
    return copy_dir(fs, from, to, st.mode, err);
  if (S_ISLNK(st.mode))
    return copy_link(fs, from, to, err);
  return S_ISREG(st.mode) ? copy_file(fs, from, to, st.mode, err) : 0;
}

/* One step. */

/* What relative names of jobs are against: where the pipeline file is, or where the command was typed. */
static char *base_of(const struct tm_definition *d, const struct tm_step *step)
{
  return step->working_dir ? tm_xstrdup(step->working_dir) : tm_path_dir(d->pipeline->file);
}

static char *find_job(const struct tm_definition *d, const struct tm_step *step, struct tm_err *err)
{
  char *base = base_of(d, step), *dir;

  dir = tm_jobs_find(d->fs, step->config.resume_from, getenv(TM_WORKSPACE_VARIABLE), base, err);
  if (dir && strcmp(dir, d->dir->path) == 0) {
    tm_err_set(err, TM_EUSAGE,
               "'%s' is this job's own directory; to go on with a job: --resume, or tidemill "
               "resume JOB",
               dir);
    free(dir);
    dir = NULL;
  }
  free(base);
  return dir;
}

static int copy_parts(const struct tm_definition *d, const char *name, const char *dir,
                      struct tm_err *err)
{
  static const char *const parts[] = { "state", "output" };
  char *from = tm_path_join(dir, name),
       *to = tm_xprintf("%s/" TM_TAKEOVER_DIR "/%s", d->dir->path, name);
  int rc = tm_fs_make_dirs(d->fs, to, 0700, err);

  for (size_t i = 0; i < TM_COUNT_OF(parts) && rc == 0; i++) {
    char *part_from = tm_path_join(from, parts[i]), *part_to = tm_path_join(to, parts[i]);
    rc = copy_tree(d->fs, part_from, part_to, err);
    free(part_from);
    free(part_to);
  }
  if (rc == 0)
    rc = tm_fs_sync_dir(d->fs, to, err);
  free(from);
  free(to);
  return rc;
}

/* Of a job that nobody has open. */
static int take_over(const struct tm_definition *d, size_t i, const char *dir, struct tm_err *err)
{
  const char *name = d->pipeline->steps[i]->name;
  struct tm_json *record = tm_job_record_load(dir, err);
  int rc = record ? tm_definition_compare_step(d, i, record, dir, err) : err->code;

  tm_json_free(record);
  if (rc == 0)
    rc = copy_parts(d, name, dir, err);
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

  if (!tm_takeover_is_asked(step))
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

int tm_takeover_copy(const struct tm_definition *d, struct tm_err *err)
{
  char *all = tm_path_join(d->dir->path, TM_TAKEOVER_DIR);
  int rc = tm_tree_remove(all, err); /* of one that was killed */

  for (size_t i = 0; i < d->pipeline->steps_len && rc == 0; i++)
    rc = copy_step(d, i, err);
  if (rc < 0)
    tm_tree_remove(all, NULL);
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

int tm_takeover_place(const struct tm_definition *d, struct tm_err *err)
{
  char *all = tm_path_join(d->dir->path, TM_TAKEOVER_DIR);
  bool is_there = tm_fs_exists(d->fs, all);
  int rc = 0;

  for (size_t i = 0; i < d->pipeline->steps_len && is_there && rc == 0; i++)
    rc = place_step(d, all, d->pipeline->steps[i]->name, err);
  if (is_there && rc == 0)
    rc = tm_fs_sync_dir(d->fs, d->dir->path, err);
  if (is_there && rc == 0)
    rc = tm_tree_remove(all, err);
  free(all);
  return rc;
}
