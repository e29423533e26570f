/* jobs.c - see jobs.h.
 *
 * The list costs one stat per folder and reads no file: a workspace may hold thousands of jobs. A
 * job's age is a key that sorts by bytes: the moment in its name, "YYYYMMDD-HHMMSS", or for other
 * names the mtime of its job.json.
 */
#include "store/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "store/workspace.h"

#define MOMENT 15 /* "YYYYMMDD-HHMMSS" */

struct found {
  char key[MOMENT + 1];
  int64_t record_ns; /* when job.json was written */
  char *dir;
};

struct listing {
  const struct tm_fs *fs;
  const char *jobs_dir;
  struct TM_ARRAY(struct found) list;
  struct tm_jobs *others; /* or NULL */
};

bool tm_jobs_is_removed(const char *name)
{
  size_t n = strlen(name), end = strlen(TM_JOBS_REMOVED) + TM_JOBS_REMOVED_LETTERS;
  if (n <= end || strncmp(name + n - end, TM_JOBS_REMOVED, strlen(TM_JOBS_REMOVED)) != 0)
    return false;
  for (size_t i = n - TM_JOBS_REMOVED_LETTERS; i < n; i++)
    if (name[i] < 'a' || name[i] > 'z')
      return false;
  return true;
}

/* Whether a folder has a job.json; *record_ns: when that was written. */
static bool is_job(const struct tm_fs *fs, const char *dir, int64_t *record_ns)
{
  struct tm_stat st;
  char *record = tm_path_join(dir, "job.json");
  int rc = fs->stat(fs->self, record, true, &st);
  *record_ns = st.mtime_ns;
  free(record);
  return rc == 0 && S_ISREG(st.mode);
}

static void set_key(struct found *f, const char *name)
{
  struct tm_buf moment = TM_BUF_NONE;
  const char *in_name = tm_workspace_moment(name);
  tm_time_compact(&moment, f->record_ns);
  memcpy(f->key, in_name ? in_name : moment.data, MOMENT);
  f->key[MOMENT] = '\0';
  tm_buf_release(&moment);
}

static int on_name(void *data, const char *name, int type)
{
  struct listing *l = data;
  struct found f = { .dir = tm_path_join(l->jobs_dir, name) };
  bool yes = !tm_jobs_is_removed(name) && is_job(l->fs, f.dir, &f.record_ns);
  if (!yes && l->others)
    *TM_ARRAY_ADD(l->others) = f.dir;
  else if (!yes)
    free(f.dir);
  if (!yes)
    return 0;
  set_key(&f, name);
  *TM_ARRAY_ADD(&l->list) = f;
  return 0;
}

static int compare_age(const void *a, const void *b)
{
  const struct found *x = a, *y = b;
  int by_key = strcmp(y->key, x->key);
  if (by_key != 0)
    return by_key;
  if (x->record_ns != y->record_ns)
    return x->record_ns < y->record_ns ? 1 : -1;
  return strcmp(x->dir, y->dir);
}

/* A missing folder: no jobs. */
static int read_names(struct listing *l, const char *workspace, struct tm_err *err)
{
  char *dir = tm_path_join(workspace, "jobs");
  l->jobs_dir = dir;
  int rc = l->fs->dir_read(l->fs->self, dir, on_name, l);
  if (rc < 0 && rc != -ENOENT)
    tm_err_system(err, rc, "cannot read the folder '%s'", dir);
  free(dir);
  return rc == -ENOENT ? 0 : rc;
}

int tm_jobs_list(struct tm_jobs *jobs, const struct tm_fs *fs, const char *workspace,
                 struct tm_err *err)
{
  struct listing l = { .fs = fs };
  int rc = read_names(&l, workspace, err);
  if (l.list.len > 0)
    qsort(l.list.at, l.list.len, sizeof(*l.list.at), compare_age);
  for (size_t i = 0; i < l.list.len; i++)
    *TM_ARRAY_ADD(jobs) = l.list.at[i].dir;
  TM_ARRAY_RELEASE(&l.list);
  return rc;
}

int tm_jobs_list_others(struct tm_jobs *others, const struct tm_fs *fs, const char *workspace,
                        struct tm_err *err)
{
  struct listing l = { .fs = fs, .others = others };
  int rc = read_names(&l, workspace, err);
  for (size_t i = 0; i < l.list.len; i++)
    free(l.list.at[i].dir);
  TM_ARRAY_RELEASE(&l.list);
  return rc;
}

void tm_jobs_release(struct tm_jobs *jobs)
{
  TM_ARRAY_RELEASE_EACH(jobs);
}

/* Finding one. */

/* Adds why there is no workspace, and how to name one. */
static void add_no_workspace(struct tm_buf *words, const char *named, const char *cwd)
{
  if (named && *named) {
    char *path = tm_path_absolute(cwd, named);
    tm_buf_printf(
        words, "the workspace '%s', which " TM_WORKSPACE_VARIABLE " names, does not exist", path);
    free(path);
  } else {
    tm_buf_printf(words,
                  "no workspace (" TM_WORKSPACE_NAME
                  ") is in '%s' or above it; name one in " TM_WORKSPACE_VARIABLE,
                  cwd);
  }
}

static char *find_latest(const struct tm_fs *fs, const char *workspace, const char *named,
                         const char *cwd, struct tm_err *err)
{
  struct tm_jobs jobs = { 0 };
  struct tm_buf words = TM_BUF_NONE;
  char *dir = NULL;
  if (!workspace) {
    add_no_workspace(&words, named, cwd);
    tm_err_set(err, TM_EUSAGE, "there is no job yet: %s, or name the job's directory", words.data);
    tm_buf_release(&words);
  } else if (tm_jobs_list(&jobs, fs, workspace, err) == 0 && jobs.len == 0)
    tm_err_set(err, TM_EUSAGE, "there is no job yet in the workspace '%s'", workspace);
  else if (jobs.len > 0)
    dir = tm_xstrdup(jobs.at[0]);
  tm_jobs_release(&jobs);
  return dir;
}

/* Adds "; did you mean '...'?" if a job has a similar name, or one that begins like it: the
 * newest. */
static void add_nearest(struct tm_buf *words, const struct tm_fs *fs, const char *workspace,
                        const char *given)
{
  struct tm_jobs jobs = { 0 };
  const char **names;
  const char *nearest = NULL;
  (void)tm_jobs_list(&jobs, fs, workspace, NULL);
  names = tm_xcalloc(jobs.len + 1, sizeof(*names));
  for (size_t i = 0; i < jobs.len; i++)
    names[i] = tm_path_base(jobs.at[i]);
  names[jobs.len] = "latest";
  nearest = tm_text_nearest(given, names, jobs.len + 1);
  for (size_t i = 0; i < jobs.len && !nearest && *given; i++)
    if (strncmp(names[i], given, strlen(given)) == 0)
      nearest = names[i];
  if (nearest)
    tm_buf_printf(words, "; did you mean '%s'?", nearest);
  free(names);
  tm_jobs_release(&jobs);
}

/* A folder that only its owner may look into may well be a job. */
static bool refuse_closed(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  char *record = tm_path_join(dir, "job.json");
  struct tm_stat of_dir, of_record;
  bool is_closed = fs->stat(fs->self, record, true, &of_record) == -EACCES &&
                   fs->stat(fs->self, dir, true, &of_dir) == 0;
  if (is_closed)
    tm_err_set(err, TM_EUSAGE,
               "cannot look into '%s': permission denied; it belongs to uid %" PRIu32
               ": run this command as that user",
               dir, of_dir.uid);
  free(record);
  return is_closed;
}

/* A folder with files of a job, but without its record. */
static bool refuse_unrecorded(const struct tm_fs *fs, const char *dir, struct tm_err *err)
{
  char *owner = tm_path_join(dir, "owner");
  struct tm_buf word = TM_BUF_NONE;
  bool is_job = tm_fs_exists(fs, owner);
  tm_text_shell(&word, dir);
  if (is_job)
    tm_err_set(err, TM_EUSAGE,
               "'%s/job.json' is missing; it is the record of the job, and no command can do "
               "without it: restore it, or start a new job; to remove this one: rm -r %s",
               dir, word.data);
  tm_buf_release(&word);
  free(owner);
  return is_job;
}

static void refuse(const struct tm_fs *fs, const char *given, const char *as_folder,
                   const char *as_name, const char *workspace, const char *named, const char *cwd,
                   struct tm_err *err)
{
  struct tm_buf words = TM_BUF_NONE;
  struct tm_stat st;
  bool is_there = fs->stat(fs->self, as_folder, true, &st) == 0;
  if (refuse_closed(fs, as_folder, err) || refuse_unrecorded(fs, as_folder, err) ||
      (as_name && refuse_unrecorded(fs, as_name, err)))
    return;
  tm_buf_printf(&words, "there is no job '%s': '%s' %s", given, as_folder,
                is_there ? "contains none (no job.json)" : "does not exist");
  if (as_name)
    tm_buf_printf(&words, ", nor does '%s'", as_name);
  else if (!workspace && !strchr(given, '/')) {
    tm_buf_add_str(&words, ", and ");
    add_no_workspace(&words, named, cwd);
  }
  if (workspace && as_name)
    add_nearest(&words, fs, workspace, given);
  tm_buf_add_str(&words, "; a job is named by its directory, its name, or 'latest'; "
                         "'tidemill jobs' lists those of the workspace");
  tm_err_set(err, TM_EUSAGE, "%s", words.data);
  tm_buf_release(&words);
}

/* The folder of this name, else the job of this name in the workspace. */
static char *find_in(const struct tm_fs *fs, const char *given, const char *workspace,
                     const char *named, const char *cwd, struct tm_err *err)
{
  char *as_folder = tm_path_absolute(cwd, given), *as_name = NULL, *found = NULL;
  int64_t ignored;
  if (workspace && *given && !strchr(given, '/')) {
    char *jobs_dir = tm_path_join(workspace, "jobs");
    as_name = tm_path_join(jobs_dir, given);
    free(jobs_dir);
  }
  if (*given && is_job(fs, as_folder, &ignored))
    found = tm_xstrdup(as_folder);
  else if (strcmp(given, "latest") == 0)
    found = find_latest(fs, workspace, named, cwd, err);
  else if (as_name && is_job(fs, as_name, &ignored))
    found = tm_xstrdup(as_name);
  else
    refuse(fs, given, as_folder, as_name, workspace, named, cwd, err);
  free(as_folder);
  free(as_name);
  return found;
}

/* A word without a slash may match a folder that somebody else has put here, so it does not count
 * as naming a path. */
static bool is_consent(const char *given, const char *named, const char *cwd, const char *found)
{
  char *workspace, *jobs;
  bool is_within;
  if (strchr(given, '/'))
    return true;
  if (!named || !*named)
    return false;
  workspace = tm_path_absolute(cwd, named);
  jobs = tm_path_dir(found);
  is_within = strncmp(jobs, workspace, strlen(workspace)) == 0 &&
              strcmp(jobs + strlen(workspace), "/jobs") == 0;
  free(workspace);
  free(jobs);
  return is_within;
}

char *tm_jobs_find(const struct tm_fs *fs, const char *given, const char *named, const char *cwd,
                   enum tm_use use, struct tm_err *err)
{
  tm_require(given);
  char *workspace = NULL, *found = NULL;
  /* A path is found without a workspace, so it does not matter whether the workspace is trusted. */
  if (tm_workspace_look(&workspace, fs, named, cwd, strchr(given, '/') ? TM_TO_READ : use, err) ==
      0)
    found = find_in(fs, given, workspace, named, cwd, err);
  if (found && use == TM_TO_USE && !is_consent(given, named, cwd, found) &&
      tm_trust_job(fs, found, err) < 0) {
    free(found);
    found = NULL;
  }
  free(workspace);
  return found;
}
