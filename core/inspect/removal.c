/* removal.c - see removal.h.
 *
 *  (1) One rename decides: before it the job is whole, after it only a leftover exists.
 *  (2) A leftover can be recognized until its last file is removed: every job has `lock` from its
 *      start on, and `lock` is removed last, when the folder is otherwise empty.
 *  (3) Only what a job makes is removed: the record names the steps. One foreign name at the top
 *      makes the removal refuse everything.
 *
 * Nothing is fsynced. After a power cut a job may be back, whole or as a leftover; the next removal
 * removes it.
 */
#include "inspect/removal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "record/job_dir.h"
#include "record/job_record.h"
#include "record/temp_dirs.h"
#include "store/jobs.h"
#include "store/workspace.h"
#include "sys/process.h"

struct sum {
  const struct tm_fs *fs;
  const char *dir;
  int64_t bytes;
};

static int add_size(void *data, const char *name, int type)
{
  struct sum *s = data;
  char *path = tm_path_join(s->dir, name);
  struct tm_stat st;
  if (type == DT_DIR)
    s->bytes += tm_job_size(s->fs, path);
  else if (s->fs->stat(s->fs->self, path, false, &st) == 0)
    s->bytes += S_ISDIR(st.mode) ? tm_job_size(s->fs, path) : st.size;
  free(path);
  return 0;
}

int64_t tm_job_size(const struct tm_fs *fs, const char *dir)
{
  struct sum s = { .fs = fs, .dir = dir };
  (void)tm_dir_read(dir, add_size, &s);
  return s.bytes;
}

static bool is_link(const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;
  return fs->stat(fs->self, path, false, &st) == 0 && S_ISLNK(st.mode);
}

/* The names at the top of the folder. */

struct top {
  struct TM_ARRAY(char *) names;
};

static int add_name(void *data, const char *name, int type)
{
  struct top *t = data;
  *TM_ARRAY_ADD(&t->names) = tm_xstrdup(name);
  return 0;
}

static void top_release(struct top *t)
{
  TM_ARRAY_RELEASE_EACH(&t->names);
}

static bool top_has(const struct top *t, const char *name)
{
  for (size_t i = 0; i < t->names.len; i++)
    if (strcmp(t->names.at[i], name) == 0)
      return true;
  return false;
}

/* A step's folder, or a step that is being copied from another job. */
static bool is_of_step(const struct tm_json *record, const char *name)
{
  static const char suffix[] = ".reuse";
  size_t n = strlen(name), end = sizeof(suffix) - 1;
  if (tm_job_record_step(record, name))
    return true;
  if (n <= end || strcmp(name + n - end, suffix) != 0)
    return false;
  char *step = tm_xstrndup(name, n - end);
  bool yes = tm_job_record_step(record, step) != NULL;
  free(step);
  return yes;
}

/* The first name that a job does not make, or NULL. */
static const char *foreign_name(const struct top *t, const struct tm_json *record)
{
  for (size_t i = 0; i < t->names.len; i++)
    if (!tm_job_dir_is_own_name(t->names.at[i]) && !is_of_step(record, t->names.at[i]))
      return t->names.at[i];
  return NULL;
}

static char *refuse_foreign(const char *name)
{
  return tm_xprintf("it holds '%s', which no job has made; move that elsewhere, then remove the "
                    "job again",
                    name);
}

/* Checks the members that every record has had since the first version. */
static bool is_whole(const struct tm_json *record)
{
  const struct tm_json *steps = tm_json_get(record, "steps");
  if (!tm_json_str(record, "tidemill", NULL) || !tm_json_str(record, "name", NULL) ||
      !tm_json_str(record, "submitted", NULL) || !steps || steps->type != TM_JSON_ARRAY ||
      steps->list.len == 0)
    return false;
  for (size_t i = 0; i < steps->list.len; i++)
    if (!tm_json_str(steps->list.at[i], "name", NULL) ||
        !tm_json_get(steps->list.at[i], "definition"))
      return false;
  return true;
}

static char *refusal_of_job(const char *dir, const struct top *t)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *record = tm_job_record_load(dir, &err);
  const char *foreign = record && is_whole(record) ? foreign_name(t, record) : NULL;
  char *reason = NULL;
  if (!record)
    reason = tm_xstrdup(err.text);
  else if (!is_whole(record))
    reason =
        tm_xstrdup("its job.json is not the record of a job: it lacks the version of tidemill, "
                   "a name, the time of submission, or steps; remove the folder yourself");
  else if (!top_has(t, "lock"))
    reason = tm_xstrdup("it has no file 'lock', as each job has; remove the folder yourself");
  else if (foreign)
    reason = refuse_foreign(foreign);
  tm_json_free(record);
  return reason;
}

char *tm_job_refusal(const struct tm_fs *fs, const char *dir)
{
  struct top t = { 0 };
  char *reason = NULL;
  if (is_link(fs, dir) || tm_job_is_leftover(fs, dir))
    return NULL;
  int rc = fs->dir_read(fs->self, dir, add_name, &t);
  if (rc < 0) {
    struct tm_err err = TM_ERR_NONE;
    tm_err_system(&err, rc, "cannot look into it");
    reason = tm_xstrdup(err.text);
  } else if (top_has(&t, "job.json")) {
    reason = refusal_of_job(dir, &t);
  } else if (tm_job_dir_look(dir, NULL) != TM_JOB_DIR_INCOMPLETE || !top_has(&t, "lock")) {
    reason = tm_xstrdup("it holds no job");
  }
  top_release(&t);
  return reason;
}

/* Leftovers. */

static char *leftover_name(const char *dir, uint64_t n)
{
  return tm_xprintf("%s" TM_JOBS_REMOVED "%c%c%c%c", dir, 'a' + (int)(n % 26),
                    'a' + (int)(n / 26 % 26), 'a' + (int)(n / 676 % 26),
                    'a' + (int)(n / 17576 % 26));
}

char *tm_job_leftover(const char *dir)
{
  return leftover_name(dir, tm_hash64(dir, strlen(dir)));
}

/* Whether the name carries a moment, so that a workspace has given it to the job. */
static bool has_moment(const char *dir)
{
  const char *base = tm_path_base(dir);
  char *job = tm_xstrndup(base, strlen(base) - strlen(TM_JOBS_REMOVED) - TM_JOBS_REMOVED_LETTERS);
  bool yes = tm_workspace_moment(job) != NULL;
  free(job);
  return yes;
}

/* Keeps (2). */
bool tm_job_is_leftover(const struct tm_fs *fs, const char *dir)
{
  struct top t = { 0 };
  if (!tm_jobs_is_removed(tm_path_base(dir)) || is_link(fs, dir) ||
      fs->dir_read(fs->self, dir, add_name, &t) < 0)
    return false;
  bool yes = t.names.len == 0 || top_has(&t, "lock") || has_moment(dir);
  top_release(&t);
  return yes;
}

static int remove_name(const struct tm_fs *fs, const char *dir, const char *name,
                       struct tm_err *err)
{
  char *path = tm_path_join(dir, name);
  int rc = fs->tree_remove(fs->self, path, err);
  free(path);
  return rc;
}

/* Keeps (2). */
static int remove_leftover(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  struct top t = { 0 };
  int rc = fs->dir_read(fs->self, dir, add_name, &t);
  if (rc < 0 && rc != -ENOENT)
    tm_err_system(err, rc, "cannot look into '%s'", dir);
  for (size_t i = 0; i < t.names.len && rc >= 0; i++)
    if (strcmp(t.names.at[i], "lock") != 0)
      rc = remove_name(fs, dir, t.names.at[i], err);
  if (rc >= 0 && top_has(&t, "lock"))
    rc = remove_name(fs, dir, "lock", err);
  top_release(&t);
  if (rc < 0)
    return rc == -ENOENT ? 0 : rc; /* another process has finished it */
  rc = fs->unlink(fs->self, dir);
  return rc == 0 || rc == -ENOENT ? 0 : tm_err_system(err, rc, "cannot remove '%s'", dir);
}

/* Removes the leftover of an earlier removal of this job, then returns a free name beside it; to
 * free(), or NULL and an error. */
static char *clear_leftover(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  char *name = tm_job_leftover(dir);
  if (tm_job_is_leftover(fs, name) && remove_leftover(fs, name, err) < 0) {
    free(name);
    return NULL;
  }
  while (tm_fs_exists(fs, name) || is_link(fs, name)) { /* somebody else's */
    free(name);
    name = leftover_name(dir, tm_process_random());
  }
  return name;
}

/* Jobs. */

/* Removes files that workers left in destinations. */
static int remove_staging(void *data, const char *name, int type)
{
  char *step_dir = tm_path_join(data, name);
  if (type == DT_DIR || type == DT_UNKNOWN) { /* a file needs nothing */
    char *output = tm_path_join(step_dir, "output");
    char *staging = tm_path_join(step_dir, "state/staging");
    tm_staging_remove_all(tm_fs_real(), output, staging);
    free(staging);
    free(output);
  }
  free(step_dir);
  return 0;
}

/* Keeps (1). The caller holds the locks. */
static int remove_job(const struct tm_fs *fs, char *dir, struct tm_err *err)
{
  char *name = clear_leftover(fs, dir, err);
  if (!name)
    return err->code;
  int rc = tm_temp_dirs_remove_left(fs, dir, err); /* without the job nobody would find them */
  if (rc == 0)
    (void)tm_dir_read(dir, remove_staging, dir);
  if (rc == 0 && (rc = fs->rename(fs->self, dir, name)) < 0)
    tm_err_system(err, rc, "cannot rename '%s'", dir);
  if (rc == 0)
    rc = remove_leftover(fs, name, err);
  free(name);
  return rc;
}

static int remove_link(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  int rc = fs->unlink(fs->self, path);
  return rc < 0 ? tm_err_system(err, rc, "cannot remove the link '%s'", path) : 0;
}

/* TM_EUSAGE with the reason, or 0. */
static int refuse(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  char *reason = tm_job_refusal(fs, dir);
  if (reason)
    tm_err_set(err, TM_EUSAGE, "'%s' stays: %s", dir, reason);
  free(reason);
  return reason ? TM_EUSAGE : 0;
}

static int remove_held(struct tm_job_dir *held, struct tm_err *err)
{
  if (is_link(held->fs, held->path))
    return remove_link(held->fs, held->path, err);
  int rc = refuse(held->fs, held->path, err); /* keeps (3) */
  return rc < 0 ? rc : remove_job(held->fs, held->path, err);
}

int tm_job_remove(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  tm_require(dir[0]);
  struct tm_job_dir held;
  struct tm_stat st;
  err = TM_ERR_OWN(err);
  int rc = fs->stat(fs->self, dir, true, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot remove the job '%s'", dir);
  if (tm_job_is_leftover(fs, dir))
    return remove_leftover(fs, dir, err);
  if ((rc = tm_job_dir_lock(&held, fs, dir, err)) == -ENOENT && refuse(fs, dir, err) < 0)
    return err->code;
  if (rc < 0)
    return rc;
  rc = remove_held(&held, err);
  tm_job_dir_close(&held);
  return rc;
}
