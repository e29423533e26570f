/* workspace_api.c - a workspace of a host, and its jobs, sorted by age: those in its folder, and
 * those that only its database knows, because they are elsewhere (--job-dir) or gone.
 */
#include "records/disk.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/map.h"
#include "base/path.h"
#include "store/jobs.h"
#include "store/workspace.h"

/* ---- opening ---- */

static struct tidemill_workspace *new_workspace(const struct tm_fs *fs, char *path)
{
  struct tidemill_workspace *ws = TM_NEW(struct tidemill_workspace);
  ws->o = (struct tidemill_workspace_options)TIDEMILL_WORKSPACE_OPTIONS_INIT;
  ws->fs = fs;
  ws->path = path;
  return ws;
}

static int refuse(const struct tidemill_workspace_options *o, const char *named, const char *cwd,
                  struct tm_err *err)
{
  if (o->path)
    return tm_err_set(err, TM_EUSAGE,
                      "there is no workspace '%s'; the first job makes it, or name another one",
                      named);
  if (named && *named)
    return tm_err_set(err, TM_EUSAGE,
                      "there is no workspace '%s', which " TM_WORKSPACE_VARIABLE
                      " names; the first job makes it, or name another one",
                      named);
  return tm_err_set(err, TM_EUSAGE,
                    "no workspace (" TM_WORKSPACE_NAME
                    ") is in '%s' or above it; a run makes one beside its pipeline file, or name "
                    "one in " TM_WORKSPACE_VARIABLE,
                    cwd);
}

static char *make(const struct tm_fs *fs, const char *named, const char *cwd, struct tm_err *err)
{
  char *file = tm_path_join(cwd, "file"); /* any file in this folder will do */
  char *path = tm_workspace_find(fs, file, named, cwd, err);
  free(file);
  return path;
}

static int read_options(struct tidemill_workspace_options *out,
                        const struct tidemill_workspace_options *o, struct tm_err *err)
{
  *out = (struct tidemill_workspace_options)TIDEMILL_WORKSPACE_OPTIONS_INIT;
  int rc = tm_take_options(out, sizeof(*out), o, "tidemill_workspace_open()", "the options",
                           "TIDEMILL_WORKSPACE_OPTIONS_INIT", err);
  if (rc == 0 && out->path && !*out->path)
    return tm_err_set(err, TM_EUSAGE,
                      "tidemill_workspace_open(): `path` is empty; NULL looks for the nearest");
  return rc;
}

int tm_workspace_open_on(struct tidemill_workspace **out, const struct tm_fs *fs,
                         const struct tidemill_workspace_options *options, enum tm_use use,
                         struct tm_err *err)
{
  struct tidemill_workspace_options o;
  char *cwd, *path = NULL;
  err = TM_ERR_OWN(err);
  if (read_options(&o, options, err) < 0 || !(cwd = tm_api_here(err)))
    return err->code;
  const char *named = o.path ? o.path : getenv(TM_WORKSPACE_VARIABLE);
  int rc = tm_workspace_look(&path, fs, named, cwd, use, err);
  if (rc == 0 && !path && o.make)
    path = make(fs, named, cwd, err);
  else if (rc == 0 && !path)
    refuse(&o, named, cwd, err);
  free(cwd);
  if (!path)
    return err->code;
  *out = new_workspace(fs, path);
  (*out)->o = o;
  (*out)->is_named = named && *named;
  (*out)->is_judged = use == TM_TO_USE || (*out)->is_named;
  return 0;
}

int tidemill_workspace_open(struct tidemill_workspace **out,
                            const struct tidemill_workspace_options *options, struct tm_err *err)
{
  if (tm_need(err, "tidemill_workspace_open()", "out", out, NULL) < 0)
    return TM_EUSAGE;
  *out = NULL;
  return tm_workspace_open_on(out, tm_fs_real(), options, TM_TO_USE, err);
}

struct tidemill_workspace *tm_workspace_nearest(const struct tm_fs *fs)
{
  struct tidemill_workspace *ws;
  return tm_workspace_open_on(&ws, fs, NULL, TM_TO_READ, NULL) == 0 ? ws : new_workspace(fs, NULL);
}

const char *tidemill_workspace_path(const struct tidemill_workspace *ws)
{
  return ws ? ws->path : NULL;
}

void tidemill_workspace_close(struct tidemill_workspace *ws)
{
  if (!ws)
    return;
  free(ws->path);
  free(ws);
}

void tm_workspace_log(const struct tidemill_workspace *ws, enum tidemill_level level,
                      const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  if (!ws->o.on_log)
    return;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  ws->o.on_log(level, tm_buf_str(&text), ws->o.data);
  tm_buf_release(&text);
}

int tm_workspace_may_use(const struct tidemill_workspace *ws, struct tm_err *err)
{
  return ws->path && !ws->is_judged ? tm_trust_workspace(ws->fs, ws->path, err) : 0;
}

/* Finds the directory in a workspace that was found, not named by the caller. */
static char *find_to_use(const struct tidemill_workspace *ws, const char *job, const char *cwd,
                         struct tm_err *err)
{
  char *dir = NULL;
  if (strchr(job, '/'))
    return tm_jobs_find(ws->fs, job, NULL, cwd, TM_TO_USE, err);
  if (tm_workspace_may_use(ws, err) == 0)
    dir = tm_jobs_find(ws->fs, job, ws->path, cwd, TM_TO_READ, err);
  if (dir && tm_trust_job(ws->fs, dir, err) < 0) {
    free(dir);
    dir = NULL;
  }
  return dir;
}

char *tm_workspace_job_dir(const struct tidemill_workspace *ws, const char *job, enum tm_use use,
                           struct tm_err *err)
{
  bool has_path = ws && ws->path;
  const char *named = has_path ? ws->path : getenv(TM_WORKSPACE_VARIABLE);
  char *cwd = tm_api_here(err), *dir = NULL;
  if (cwd && use == TM_TO_USE && has_path && !ws->is_named)
    dir = find_to_use(ws, job, cwd, err);
  else if (cwd)
    dir = tm_jobs_find(ws ? ws->fs : tm_fs_real(), job, named, cwd, use, err);
  free(cwd);
  return dir;
}

/* ---- its jobs ---- */

struct listing {
  const struct tidemill_workspace *ws;
  bool removed;
  int (*on_job)(struct tidemill_record *job, void *data);
  void *data;
  char *jobs_dir;
  struct tm_jobs dirs;
  struct tm_history history;
  struct tm_map places; /* of a directory in the history: its index in the history */
  size_t next;          /* an index in the history */
};

static int tell(const struct listing *l, const char *dir, const struct tm_history_job *known)
{
  struct tidemill_record r = { .is_lent = true };
  int rc;
  tm_require((dir == NULL) != (known == NULL));
  if (known)
    tm_record_of_history(&r, known);
  else
    tm_record_read_for_list(&r, dir);
  rc = l->on_job(&r, l->data);
  tm_record_release(&r);
  return rc;
}

static bool is_listed(const struct listing *l, const char *dir)
{
  size_t n = strlen(l->jobs_dir);
  return strncmp(dir, l->jobs_dir, n) == 0 && dir[n] == '/' && !strchr(dir + n + 1, '/');
}

static bool is_there(const struct listing *l, const char *dir)
{
  char *path = tm_path_join(dir, "job.json");
  bool yes = tm_fs_exists(l->ws->fs, path);
  free(path);
  return yes;
}

/* Passes on jobs that only the database has, and that began at `begin_ns` or later. */
static int tell_others(struct listing *l, int64_t begin_ns)
{
  int rc = 0;
  while (rc == 0 && l->next < l->history.len && l->history.at[l->next].begin_ns >= begin_ns) {
    const struct tm_history_job *j = &l->history.at[l->next++];
    bool is_within = is_listed(l, j->dir),
         is_here = (!is_within || l->removed) && is_there(l, j->dir);
    if (is_here && !is_within)
      rc = tell(l, j->dir, NULL);
    else if (!is_here && l->removed)
      rc = tell(l, NULL, j);
  }
  return rc;
}

/* When the job began, according to the database; 0: the database does not know it. */
static int64_t begin_of(const struct listing *l, const char *dir)
{
  const uint64_t *at = tm_map_find(&l->places, dir, strlen(dir));
  return at && *at >= l->next ? l->history.at[*at].begin_ns : 0;
}

static void read_history(struct listing *l)
{
  struct tm_err unread = TM_ERR_NONE;
  if (tm_history_list(&l->history, l->ws->path, &unread) < 0)
    tm_workspace_log(l->ws, TIDEMILL_LEVEL_WARNING,
                     "jobs elsewhere and those removed are not listed: %s", unread.text);
  for (size_t i = 0; i < l->history.len; i++)
    *tm_map_add(&l->places, l->history.at[i].dir, strlen(l->history.at[i].dir), NULL) = i;
}

static int tell_all(struct listing *l)
{
  int rc = 0;
  for (size_t i = 0; i < l->dirs.len && rc == 0; i++) {
    int64_t begin_ns = begin_of(l, l->dirs.at[i]);
    if (begin_ns > 0)
      rc = tell_others(l, begin_ns);
    if (rc == 0)
      rc = tell(l, l->dirs.at[i], NULL);
  }
  return rc ? rc : tell_others(l, INT64_MIN);
}

int tidemill_workspace_jobs(struct tidemill_workspace *ws, bool removed,
                            int (*on_job)(struct tidemill_record *job, void *data), void *data,
                            struct tm_err *err)
{
  struct listing l = { .ws = ws, .removed = removed, .on_job = on_job, .data = data };
  int rc = tm_need(err, "tidemill_workspace_jobs()", "ws", ws, "on_job",
                   on_job ? (const void *)ws : NULL, NULL);
  if (rc < 0)
    return rc;
  l.jobs_dir = tm_path_join(ws->path, "jobs");
  read_history(&l);
  rc = tm_jobs_list(&l.dirs, ws->fs, ws->path, err);
  if (rc >= 0)
    rc = tell_all(&l);
  tm_map_release(&l.places);
  tm_history_release(&l.history);
  tm_jobs_release(&l.dirs);
  free(l.jobs_dir);
  return rc;
}
