/* workspace.c - see workspace.h.
 *
 * The name of a job's folder says its pipeline, its moment, and letters that tell jobs of one
 * second apart. Names sort by age, so the search for the newest job reads names, and only the
 * results of candidates.
 */
#include "store/workspace.h"

#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "store/db.h"
#include "sys/process.h"

#define LETTERS    4
#define TAIL       (1 + 8 + 1 + 6 + 1 + LETTERS) /* "-YYYYMMDD-HHMMSS-abcd" */
#define RESULT_MAX (64u << 20)                   /* bytes of a job_result.json */

static bool is_folder(const struct tm_fs *fs, const char *path)
{
  struct tm_stat st;
  return fs->stat(fs->self, path, true, &st) == 0 && S_ISDIR(st.mode);
}

/* The nearest workspace in the file's folder or above; *beside: where a new one would be. */
static char *look_upwards(const struct tm_fs *fs, const char *file, char **beside)
{
  char *dir = tm_path_dir(file);
  *beside = tm_path_join(dir, TM_WORKSPACE_NAME);
  for (;;) {
    char *found = tm_path_join(dir, TM_WORKSPACE_NAME);
    char *up;
    if (is_folder(fs, found)) {
      free(dir);
      return found;
    }
    free(found);
    up = tm_path_dir(dir);
    if (strcmp(up, dir) == 0) {
      free(up);
      free(dir);
      return NULL;
    }
    free(dir);
    dir = up;
  }
}

static int make(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  struct tm_stat st;
  int rc;
  if (fs->stat(fs->self, path, true, &st) == 0 && !S_ISDIR(st.mode))
    return tm_err_set(err, TM_EUSAGE,
                      "the workspace '%s' is not a folder; name a folder in " TM_WORKSPACE_VARIABLE
                      ", or move the file away",
                      path);
  rc = tm_fs_make_dirs(fs, path, 0700, &why);
  if (rc == 0)
    rc = tm_fs_sync_name(fs, path, &why);
  if (rc < 0)
    tm_err_set(err, rc,
               "cannot make the workspace: %s; name another folder in " TM_WORKSPACE_VARIABLE
               ", or name a directory for the job: `dir`",
               why.text);
  return rc;
}

/* Makes git ignore a `.tidemill`. A folder of another name may hold more than a workspace. */
static void hide_from_git(const struct tm_fs *fs, const char *path)
{
  static const char all[] = "*\n";
  char *file = tm_path_join(path, ".gitignore");
  if (strcmp(tm_path_base(path), TM_WORKSPACE_NAME) == 0 && !tm_fs_exists(fs, file))
    (void)tm_fs_write_file(fs, file, all, strlen(all), 0600, NULL);
  free(file);
}

char *tm_workspace_find(const struct tm_fs *fs, const char *file, const char *named,
                        const char *cwd, struct tm_err *err)
{
  bool is_named = named && *named;
  char *beside = NULL;
  char *found = is_named ? tm_path_absolute(cwd, named) : look_upwards(fs, file, &beside);
  if (!found) {
    found = beside;
    beside = NULL;
  }
  free(beside);
  /* Checked once it exists: another user may have made it meanwhile. */
  if (make(fs, found, err) < 0 || (!is_named && tm_trust_workspace(fs, found, err) < 0)) {
    free(found);
    return NULL;
  }
  hide_from_git(fs, found);
  return found;
}

/* Whether a workspace is in the folder itself, whatever its name. */
static bool has_been_used(const struct tm_fs *fs, const char *path)
{
  char *db = tm_path_join(path, TM_DB_NAME), *jobs = tm_path_join(path, "jobs");
  char *within = tm_path_join(path, TM_WORKSPACE_NAME);
  bool is_used = !is_folder(fs, within) && (tm_fs_exists(fs, db) || is_folder(fs, jobs));
  free(within);
  free(jobs);
  free(db);
  return is_used;
}

char *tm_workspace_meant(const struct tm_fs *fs, const char *path, const char *named,
                         const char *cwd)
{
  char *other = named && *named ? tm_path_absolute(cwd, named) : NULL;
  bool is_itself = strcmp(tm_path_base(path), TM_WORKSPACE_NAME) == 0 ||
                   (other && strcmp(other, path) == 0) || has_been_used(fs, path);
  free(other);
  return is_itself ? tm_xstrdup(path) : tm_path_join(path, TM_WORKSPACE_NAME);
}

int tm_workspace_look(char **out, const struct tm_fs *fs, const char *named, const char *cwd,
                      enum tm_use use, struct tm_err *err)
{
  char *within, *beside = NULL, *found;
  int rc = 0;
  *out = NULL;
  if (named && *named) {
    found = tm_path_absolute(cwd, named);
    if (is_folder(fs, found))
      *out = found;
    else
      free(found);
    return 0;
  }
  within = tm_path_join(cwd, "file");
  found = look_upwards(fs, within, &beside);
  free(within);
  free(beside);
  if (found && use == TM_TO_USE)
    rc = tm_trust_workspace(fs, found, err);
  if (rc == 0)
    *out = found;
  else
    free(found);
  return rc;
}

static void add_letters(struct tm_buf *out)
{
  uint64_t random = tm_process_random();
  for (int i = 0; i < LETTERS; i++, random /= 26)
    tm_buf_add_char(out, (char)('a' + random % 26));
}

char *tm_workspace_new_job(const struct tm_fs *fs, const char *workspace, const char *pipeline,
                           int64_t wall_ns, struct tm_err *err)
{
  tm_require(workspace[0] == '/' && pipeline[0]);
  char *jobs = tm_path_join(workspace, "jobs");
  struct tm_buf name = TM_BUF_NONE;
  char *path = NULL;
  if (make(fs, jobs, err) < 0)
    goto fail;
  do {
    free(path);
    tm_buf_clear(&name);
    tm_buf_printf(&name, "%s-", pipeline);
    tm_time_compact(&name, wall_ns);
    tm_buf_add_char(&name, '-');
    add_letters(&name);
    path = tm_path_join(jobs, name.data);
  } while (tm_fs_exists(fs, path));
fail:
  tm_buf_release(&name);
  free(jobs);
  return path;
}

/* Finding. */

struct newest {
  char *name;       /* or NULL */
  int64_t mtime_ns; /* tells jobs of one second apart */
};

struct search {
  const struct tm_fs *fs;
  const char *jobs, *pipeline, *file;
  struct newest own, other; /* so far */
};

/* Whether it has the form "-YYYYMMDD-HHMMSS-abcd". */
static bool is_tail(const char *tail)
{
  static const char form[] = "-########-######-....";
  if (strlen(tail) != TAIL)
    return false;
  for (size_t i = 0; i < TAIL; i++) {
    char c = tail[i];
    bool ok = form[i] == '#'   ? c >= '0' && c <= '9'
              : form[i] == '.' ? c >= 'a' && c <= 'z'
                               : c == '-';
    if (!ok)
      return false;
  }
  return true;
}

/* The part after "<pipeline>" in the name of one of its jobs, or NULL. */
static const char *tail_of(const char *name, const char *pipeline)
{
  size_t n = strlen(pipeline);
  return strncmp(name, pipeline, n) == 0 && is_tail(name + n) ? name + n : NULL;
}

const char *tm_workspace_moment(const char *job_name)
{
  size_t n = strlen(job_name);
  return n > TAIL && is_tail(job_name + n - TAIL) ? job_name + n - TAIL + 1 : NULL;
}

static struct tm_json *read_member(const struct tm_fs *fs, const char *job, const char *name)
{
  char *path = tm_path_join(job, name);
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  if (tm_fs_read_file(fs, path, RESULT_MAX, &text, NULL) >= 0)
    v = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  tm_buf_release(&text);
  free(path);
  return v;
}

static bool is_completed(const struct tm_fs *fs, const char *job)
{
  struct tm_json *result = read_member(fs, job, "job_result.json");
  bool yes = strcmp(tm_json_str(result, "status", ""), "Completed") == 0;
  tm_json_free(result);
  return yes;
}

/* Whether the file defines the job. If the job's own file is gone, it may have been moved. */
static bool is_of_file(const struct search *s, const char *job)
{
  struct tm_json *record = read_member(s->fs, job, "job.json");
  const char *file = tm_json_str(record, "pipeline", "");
  struct tm_stat own, given;
  bool is_there = *file && s->fs->stat(s->fs->self, file, true, &own) == 0;
  bool is_same = is_there && *s->file && s->fs->stat(s->fs->self, s->file, true, &given) == 0 &&
                 own.dev == given.dev && own.ino == given.ino;
  bool yes = !is_there || is_same;
  tm_json_free(record);
  return yes;
}

static bool is_newer(const struct search *s, const struct newest *than, const char *name,
                     int64_t mtime_ns)
{
  int newer = 1; /* by the moment in the name; 0: the same second */
  if (than->name)
    newer = strncmp(tail_of(name, s->pipeline), tail_of(than->name, s->pipeline), TAIL - LETTERS);
  return newer > 0 || (newer == 0 && mtime_ns > than->mtime_ns);
}

static int on_name(void *data, const char *name, int type)
{
  struct search *s = data;
  struct tm_stat st;
  char *path = tail_of(name, s->pipeline) ? tm_path_join(s->jobs, name) : NULL;
  if (path && s->fs->stat(s->fs->self, path, true, &st) == 0 && S_ISDIR(st.mode) &&
      is_newer(s, &s->own, name, st.mtime_ns) && !is_completed(s->fs, path)) {
    struct newest *to = is_of_file(s, path) ? &s->own : &s->other;
    if (is_newer(s, to, name, st.mtime_ns)) {
      free(to->name);
      *to = (struct newest) { tm_xstrdup(name), st.mtime_ns };
    }
  }
  free(path);
  return 0;
}

char *tm_workspace_find_open_job(const struct tm_fs *fs, const char *workspace,
                                 const char *pipeline, const char *file, char **other)
{
  tm_require(pipeline[0]);
  char *jobs = tm_path_join(workspace, "jobs");
  struct search s = { .fs = fs, .jobs = jobs, .pipeline = pipeline, .file = file };
  (void)tm_dir_read(jobs, on_name, &s);
  char *path = s.own.name ? tm_path_join(jobs, s.own.name) : NULL;
  *other = s.other.name ? tm_path_join(jobs, s.other.name) : NULL;
  free(s.own.name);
  free(s.other.name);
  free(jobs);
  return path;
}

static char *cache_dir(const char *job_dir, const char *step, const char *name)
{
  tm_require(step[0]);
  char *jobs = tm_path_dir(job_dir), *workspace = tm_path_dir(jobs);
  bool is_in_workspace = strcmp(tm_path_base(jobs), "jobs") == 0;
  char *dir = is_in_workspace ? tm_path_join(workspace, name)
                              : tm_xprintf("%s/%s/state/%s", job_dir, step, name);
  free(jobs);
  free(workspace);
  return dir;
}

char *tm_workspace_index_dir(const char *job_dir, const char *step)
{
  return cache_dir(job_dir, step, "index");
}

char *tm_workspace_models_dir(const char *job_dir, const char *step)
{
  return cache_dir(job_dir, step, TM_WORKSPACE_MODELS);
}
