/* clean.c - removes jobs, for hosts: selects them, says why others are kept, and removes them one
 * by one.
 *
 * Without names, it selects jobs of the workspace that ended without being Completed, or were
 * interrupted. It never selects a running job, a job whose output is a registered dataset, or a
 * folder with files that no job made (inspect/removal.h). It also selects the copies of scripts in
 * the workspace that no remaining job needs, and, unless states are given, its prepared models.
 *
 * In any case it selects the leftovers of interrupted removals: those in the workspace, and those
 * beside the directories of jobs elsewhere that its history knows.
 */
#include "records/disk.h"

#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "inspect/old_snapshots.h"
#include "inspect/removal.h"
#include "model/prepared_copies.h"
#include "record/job_dir.h"
#include "record/owner.h"
#include "store/db.h"
#include "store/jobs.h"
#include "store/workspace.h"
#include "sys/clock.h"

struct chosen {
  struct tidemill_clean_job job;
  char *dir, *kept;
  bool is_gone;
};

/* All registered datasets; read again only after a change. */
struct datasets {
  bool is_read;
  uint64_t stamp;
  struct tm_registered_list list;
};

struct tidemill_clean {
  struct tidemill_workspace *ws, *own; /* the given workspace, or the nearest */
  struct tidemill_clean_options o;
  int64_t now_ns;
  struct TM_ARRAY(struct chosen) list;
  struct tm_old_snapshots scripts;
  struct tm_prepared_copies models;
  struct datasets datasets;
};

/* ---- options ---- */

static int read_options(struct tidemill_clean *c, const struct tidemill_clean_options *o,
                        struct tm_err *err)
{
  static const char call[] = "tidemill_clean_new()";
  c->o = (struct tidemill_clean_options)TIDEMILL_CLEAN_OPTIONS_INIT;
  if (tm_take_options(&c->o, sizeof(c->o), o, call, "the options", "TIDEMILL_CLEAN_OPTIONS_INIT",
                      err) < 0)
    return TM_EUSAGE;
  o = &c->o;
  if ((o->jobs_len > 0 && !o->jobs) || (o->states_len > 0 && !o->states))
    return tm_err_set(err, TM_EUSAGE, "%s: `%s` is NULL", call,
                      o->jobs_len > 0 && !o->jobs ? "jobs" : "states");
  if (o->all && o->states_len > 0)
    return tm_err_set(err, TM_EUSAGE, "%s: `all` and `states` exclude each other", call);
  if (o->jobs_len > 0 && (o->all || o->states_len > 0 || o->older_than_ns > 0))
    return tm_err_set(
        err, TM_EUSAGE,
        "%s: `jobs` are named: `all`, `states` and `older_than_ns` choose among those "
        "of the workspace",
        call);
  if (o->jobs_len == 0 && !c->ws->path)
    return tm_err_set(err, TM_EUSAGE, "%s: without `jobs` it needs a workspace", call);
  return 0;
}

/* ---- selection ---- */

static bool is_wanted(const struct tidemill_clean *c, enum tidemill_state state, int64_t ended_ns)
{
  bool by_state = c->o.all || (c->o.states_len == 0 && state != TIDEMILL_STATE_COMPLETED);
  for (size_t i = 0; i < c->o.states_len; i++)
    by_state = by_state || c->o.states[i] == state;
  return c->o.jobs_len > 0 || (by_state && c->now_ns - ended_ns >= c->o.older_than_ns);
}

static int read_datasets(struct tidemill_clean *c, struct tm_err *err)
{
  struct datasets *d = &c->datasets;
  uint64_t stamp = tm_db_stamp(c->ws->path);
  if (d->is_read && d->stamp == stamp)
    return 0;
  tm_registered_list_release(&d->list);
  int rc = tm_registry_list_all(&d->list, c->ws->path, err);
  d->stamp = stamp;
  d->is_read = rc >= 0;
  return rc;
}

/* Returns why the job stays, for the caller to free; NULL: it may go. */
static char *reason_to_keep(struct tidemill_clean *c, const char *dir, enum tidemill_state state,
                            struct tm_err *err)
{
  const char *name = NULL;
  if (state == TIDEMILL_STATE_RUNNING)
    return tm_xstrdup("it is running");
  if (c->ws->path && read_datasets(c, err) >= 0)
    name = tm_registry_name_of_job(&c->datasets.list, dir);
  if (name) {
    char *word = tm_text_shell_word(name);
    char *reason = tm_xprintf("its output is the registered dataset '%s'; to let it go: tidemill "
                              "dataset unregister %s",
                              name, word);
    free(word);
    return reason;
  }
  return tm_job_refusal(c->ws->fs, dir);
}

/* When the job last ran. */
static int64_t ended_of(const struct tidemill_clean *c, const struct tidemill_record_info *info)
{
  char *record = tm_path_join(info->dir, "job.json");
  int64_t at = info->end_ns ? info->end_ns : info->begin_ns;
  struct tm_stat st;
  if (at == 0 && c->ws->fs->stat(c->ws->fs->self, record, true, &st) == 0)
    at = st.mtime_ns;
  free(record);
  return at;
}

static void add_chosen(struct tidemill_clean *c, const char *dir, enum tidemill_state state,
                       char *kept, bool is_leftover)
{
  tm_require(dir[0] == '/');         /* it may be removed */
  tm_require(!kept || !is_leftover); /* a leftover always goes */
  struct chosen *j = TM_ARRAY_ADD(&c->list);
  *j = (struct chosen) { .dir = tm_xstrdup(dir), .kept = kept };
  j->job = (struct tidemill_clean_job) { .size = sizeof(struct tidemill_clean_job),
                                         .dir = j->dir,
                                         .state = state,
                                         .kept = kept ? kept : "",
                                         .bytes = kept ? 0 : tm_job_size(c->ws->fs, j->dir),
                                         .is_leftover = is_leftover };
}

static int add_wanted(struct tidemill_clean *c, const char *dir, enum tidemill_state state,
                      struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  char *kept = reason_to_keep(c, dir, state, &why);
  if (why.code < 0) {
    free(kept);
    if (err)
      *err = why;
    return why.code;
  }
  add_chosen(c, dir, state, kept, false);
  return 0;
}

/* Adds one job to the list. */
static int add(struct tidemill_clean *c, const char *dir, struct tm_err *err)
{
  struct tidemill_record r = { .is_lent = true };
  int rc = tm_record_read(&r, dir);
  if (rc < 0 && err)
    *err = r.fault;
  else if (rc >= 0 && is_wanted(c, r.info.state, ended_of(c, &r.info)))
    rc = add_wanted(c, r.info.dir, r.info.state, err);
  tm_record_release(&r);
  return rc;
}

/* Adds a folder without a job: a leftover, or a job that was killed, or still runs, before it wrote
 * job.json. 1: it was one of these. */
static int add_other(struct tidemill_clean *c, const char *dir, struct tm_err *err)
{
  struct tm_stat st;
  if (tm_job_is_leftover(c->ws->fs, dir)) {
    add_chosen(c, dir, TIDEMILL_STATE_INTERRUPTED, NULL, true);
    return 1;
  }
  if (tm_job_dir_look(dir, NULL) != TM_JOB_DIR_INCOMPLETE ||
      c->ws->fs->stat(c->ws->fs->self, dir, true, &st) < 0)
    return 0;
  enum tidemill_state state =
      tm_owner_is_running(dir, NULL, NULL) ? TIDEMILL_STATE_RUNNING : TIDEMILL_STATE_INTERRUPTED;
  int rc = is_wanted(c, state, st.mtime_ns) ? add_wanted(c, dir, state, err) : 0;
  return rc < 0 ? rc : 1;
}

/* Adds the leftover of the job `given`, whose directory is missing. Otherwise sets an error. */
static int add_missing(struct tidemill_clean *c, const char *given, struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE;
  char *cwd = tm_api_here(&unheard), *jobs = tm_path_join(c->ws->path ? c->ws->path : "/", "jobs");
  const char *const bases[] = { cwd, strchr(given, '/') || !c->ws->path ? NULL : jobs };
  int rc = 0;
  for (size_t i = 0; i < TM_COUNT_OF(bases) && rc == 0; i++) {
    char *dir = bases[i] && *given ? tm_path_absolute(bases[i], given) : NULL;
    char *leftover = dir ? tm_job_leftover(dir) : NULL;
    if (dir && (rc = add_other(c, dir, err)) == 0)
      rc = add_other(c, leftover, err);
    free(leftover);
    free(dir);
  }
  free(jobs);
  free(cwd);
  return rc > 0 ? 0 : rc < 0 ? rc : err->code;
}

static bool is_chosen(const struct tidemill_clean *c, const char *dir)
{
  for (size_t k = 0; k < c->list.len; k++)
    if (strcmp(c->list.at[k].dir, dir) == 0)
      return true;
  return false;
}

static int add_named(struct tidemill_clean *c, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < c->o.jobs_len && rc == 0; i++) {
    const char *given = c->o.jobs[i] ? c->o.jobs[i] : "";
    char *dir = tm_workspace_job_dir(c->ws, given, TM_TO_USE, err);
    if (!dir)
      rc = add_missing(c, given, err);
    else if (!is_chosen(c, dir))
      rc = tm_job_is_leftover(c->ws->fs, dir) ? add_other(c, dir, err) : add(c, dir, err);
    free(dir);
    rc = rc > 0 ? 0 : rc;
  }
  return rc;
}

static void say_left(const struct tidemill_clean *c, const struct tm_err *why)
{
  tm_workspace_log(c->ws, TIDEMILL_LEVEL_WARNING, "left as it is: %s", why->text);
}

/* Adds the folders of the workspace that hold no job. */
static int add_others(struct tidemill_clean *c, struct tm_err *err)
{
  struct tm_jobs others = { 0 };
  int rc = tm_jobs_list_others(&others, c->ws->fs, c->ws->path, err);
  for (size_t i = 0; i < others.len && rc >= 0; i++) {
    struct tm_err why = TM_ERR_NONE;
    if (add_other(c, others.at[i], &why) < 0)
      say_left(c, &why);
  }
  tm_jobs_release(&others);
  return rc < 0 ? rc : 0;
}

/* Adds the leftovers of jobs elsewhere that the history knows. */
static void add_elsewhere(struct tidemill_clean *c)
{
  tm_require(c->ws->path && c->o.jobs_len == 0);
  struct tm_history history = { 0 };
  struct tm_err err = TM_ERR_NONE;
  char *jobs = tm_path_join(c->ws->path, "jobs");
  if (tm_history_list(&history, c->ws->path, &err) < 0)
    tm_workspace_log(c->ws, TIDEMILL_LEVEL_WARNING, "jobs elsewhere are not looked at: %s",
                     err.text);
  for (size_t i = 0; i < history.len; i++) {
    char *parent = tm_path_dir(history.at[i].dir);
    char *leftover = strcmp(parent, jobs) != 0 ? tm_job_leftover(history.at[i].dir) : NULL;
    if (leftover && tm_job_is_leftover(c->ws->fs, leftover))
      add_chosen(c, leftover, TIDEMILL_STATE_INTERRUPTED, NULL, true);
    free(leftover);
    free(parent);
  }
  tm_history_release(&history);
  free(jobs);
}

/* Reports a job that cannot be read and keeps it; if the caller named it, that is an error. */
static int add_all(struct tidemill_clean *c, struct tm_err *err)
{
  struct tm_jobs jobs = { 0 };
  int rc = tm_jobs_list(&jobs, c->ws->fs, c->ws->path, err);
  for (size_t i = 0; i < jobs.len && rc >= 0; i++) {
    struct tm_err why = TM_ERR_NONE;
    if (add(c, jobs.at[i], &why) < 0)
      say_left(c, &why);
  }
  tm_jobs_release(&jobs);
  if (rc >= 0 && (rc = add_others(c, err)) >= 0)
    add_elsewhere(c);
  return rc < 0 ? rc : 0;
}

/* Finds copies of scripts that no job needs, and those of the jobs that will go. If it cannot know,
 * it keeps them. */
static void find_scripts(struct tidemill_clean *c)
{
  tm_require(c->ws->path && c->scripts.paths.len == 0);
  struct tm_err err = TM_ERR_NONE;
  struct TM_ARRAY(char *) gone = { 0 };
  for (size_t i = 0; i < c->list.len; i++)
    if (!c->list.at[i].kept)
      *TM_ARRAY_ADD(&gone) = c->list.at[i].dir;
  if (tm_old_snapshots_find(&c->scripts, c->ws->fs, c->ws->path, gone.at, gone.len, &err) < 0)
    tm_workspace_log(c->ws, TIDEMILL_LEVEL_WARNING, "copies of scripts are left as they are: %s",
                     err.text);
  TM_ARRAY_RELEASE(&gone);
}

/* They have an age, but no state. */
static void find_models(struct tidemill_clean *c)
{
  int64_t until_ns = c->o.older_than_ns > 0 ? c->now_ns - c->o.older_than_ns : INT64_MAX;
  if (c->o.states_len > 0)
    return;
  char *folder = tm_path_join(c->ws->path, TM_WORKSPACE_MODELS);
  tm_prepared_copies_find(&c->models, c->ws->fs, folder, until_ns);
  free(folder);
}

int tidemill_clean_new(struct tidemill_clean **out, struct tidemill_workspace *ws,
                       const struct tidemill_clean_options *options, struct tm_err *err)
{
  struct tidemill_clean *c;
  int rc;
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_clean_new()", "out", out, NULL) < 0)
    return TM_EUSAGE;
  *out = NULL;
  c = TM_NEW(struct tidemill_clean);
  c->own = ws ? NULL : tm_workspace_nearest(tm_fs_real());
  c->ws = ws ? ws : c->own;
  c->now_ns = tm_clock_wall_ns();
  rc = read_options(c, options, err);
  if (rc == 0 && c->o.jobs_len == 0)
    rc = tm_workspace_may_use(c->ws, err);
  if (rc == 0)
    rc = c->o.jobs_len > 0 ? add_named(c, err) : add_all(c, err);
  if (rc < 0) {
    tidemill_clean_free(c);
    return rc;
  }
  if (c->o.jobs_len == 0) {
    find_scripts(c);
    find_models(c);
  }
  *out = c;
  return 0;
}

void tidemill_clean_free(struct tidemill_clean *c)
{
  if (!c)
    return;
  for (size_t i = 0; i < c->list.len; i++) {
    free(c->list.at[i].dir);
    free(c->list.at[i].kept);
  }
  TM_ARRAY_RELEASE(&c->list);
  tm_registered_list_release(&c->datasets.list);
  tm_old_snapshots_release(&c->scripts);
  tm_prepared_copies_release(&c->models);
  tidemill_workspace_close(c->own);
  free(c);
}

/* ---- questions ---- */

const struct tidemill_clean_job *tidemill_clean_job(const struct tidemill_clean *c, size_t i)
{
  return c && i < c->list.len ? &c->list.at[i].job : NULL;
}

size_t tidemill_clean_scripts(const struct tidemill_clean *c, int64_t *bytes)
{
  if (bytes)
    *bytes = c ? c->scripts.bytes : 0;
  return c ? c->scripts.paths.len : 0;
}

size_t tidemill_clean_models(const struct tidemill_clean *c, int64_t *bytes)
{
  if (bytes)
    *bytes = c ? c->models.bytes : 0;
  return c ? c->models.paths.len : 0;
}

/* ---- removal ---- */

int tidemill_clean_remove(struct tidemill_clean *c, size_t i, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  int rc = tm_need(err, "tidemill_clean_remove()", "c", c, NULL);
  if (rc < 0)
    return rc;
  if (i >= c->list.len || c->list.at[i].kept || c->list.at[i].is_gone)
    return tm_err_set(err, TM_EUSAGE, "tidemill_clean_remove(): job %zu %s", i,
                      i >= c->list.len        ? "does not exist"
                      : c->list.at[i].is_gone ? "is removed already"
                                              : "stays");
  struct chosen *j = &c->list.at[i];
  char *reason = NULL;
  tm_require(j->dir[0] == '/' && !j->kept && !j->is_gone);
  if (!j->job.is_leftover) /* its output may have been registered since */
    reason = reason_to_keep(c, j->dir, j->job.state, &why);
  if (reason)
    tm_err_set(&why, TM_EINUSE, "'%s' stays: %s", j->dir, reason);
  free(reason);
  if (why.code == 0)
    tm_job_remove(c->ws->fs, j->dir, &why);
  j->is_gone = why.code == 0;
  if (why.code < 0 && err)
    *err = why;
  return why.code;
}

int tidemill_clean_remove_scripts(struct tidemill_clean *c, struct tm_err *err)
{
  int rc = tm_need(err, "tidemill_clean_remove_scripts()", "c", c, NULL);
  for (size_t i = 0; rc == 0 && i < c->list.len; i++)
    if (!c->list.at[i].kept && !c->list.at[i].is_gone)
      rc = tm_err_set(err, TM_EUSAGE,
                      "tidemill_clean_remove_scripts(): job '%s' is still there, and may run one; "
                      "remove it first",
                      c->list.at[i].dir);
  return rc < 0 ? rc : tm_old_snapshots_remove(&c->scripts, c->ws->fs, err);
}

int tidemill_clean_remove_models(struct tidemill_clean *c, struct tm_err *err)
{
  int rc = tm_need(err, "tidemill_clean_remove_models()", "c", c, NULL);
  return rc < 0 ? rc : tm_prepared_copies_remove(&c->models, c->ws->fs, err);
}
