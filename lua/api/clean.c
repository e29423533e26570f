/* clean.c - removing jobs, for hosts: which go, and why others stay; and then one by one.
 *
 * Without names: those that have ended without being Completed, or were interrupted: what a Completed job has in its directory
 * is what it was run for. Never a job that runs; never one whose output is a registered dataset. With them go the copies of
 * scripts that the workspace has kept and that no job is left to run.
 */
#include "api/disk.h"

#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/path.h"
#include "run/old_snapshots.h"
#include "run/removal.h"
#include "store/jobs.h"
#include "sys/clock.h"

struct chosen {
  struct tidemill_clean_job job;
  char *dir, *kept;
  bool is_gone;
};

struct tidemill_clean {
  struct tidemill_workspace *ws, *own; /* the one that was given, or the nearest */
  struct tidemill_clean_options o;
  int64_t now_ns;
  struct TM_ARRAY(struct chosen) list;
  struct tm_old_snapshots scripts;
};

/* What was asked for. */

static int read_options(struct tidemill_clean *c, const struct tidemill_clean_options *o,
                        struct tm_err *err)
{
  static const char call[] = "tidemill_clean_new()";
  c->o = (struct tidemill_clean_options)TIDEMILL_CLEAN_OPTIONS_INIT;
  if (o && o->size == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "%s: the options have no size; begin with TIDEMILL_CLEAN_OPTIONS_INIT", call);
  if (o)
    memcpy(&c->o, o, o->size < sizeof(c->o) ? o->size : sizeof(c->o));
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

/* Which jobs. */

static bool is_wanted(const struct tidemill_clean *c, enum tidemill_state state, int64_t ended_ns)
{
  bool by_state = c->o.all || (c->o.states_len == 0 && state != TIDEMILL_COMPLETED);
  for (size_t i = 0; i < c->o.states_len; i++)
    by_state = by_state || c->o.states[i] == state;
  return c->o.jobs_len > 0 || (by_state && c->now_ns - ended_ns >= c->o.older_than_ns);
}

/* Why it stays, to free(); NULL: it may go. */
static char *reason_to_keep(const struct tidemill_clean *c, const char *dir,
                            enum tidemill_state state, struct tm_err *err)
{
  char *name = NULL, *reason = NULL;
  if (state == TIDEMILL_RUNNING)
    return tm_xstrdup("it is running");
  if (c->ws->path && tm_registry_find_job(&name, c->ws->path, dir, err) > 0)
    reason = tm_xprintf("its output is the registered dataset '%s'; tidemill dataset unregister %s "
                        "lets it go",
                        name, name);
  free(name);
  return reason;
}

/* When it was last at work. */
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

static int add_wanted(struct tidemill_clean *c, const struct tidemill_record_info *info,
                      struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  char *kept = reason_to_keep(c, info->dir, info->state, &why);
  if (why.code < 0) {
    if (err)
      *err = why;
    return why.code;
  }
  struct chosen *j = TM_ARRAY_ADD(&c->list);
  *j = (struct chosen) { .dir = tm_xstrdup(info->dir), .kept = kept };
  j->job = (struct tidemill_clean_job) { .size = sizeof(struct tidemill_clean_job),
                                         .dir = j->dir,
                                         .state = info->state,
                                         .kept = kept ? kept : "",
                                         .bytes = kept ? 0 : tm_job_size(c->ws->fs, j->dir) };
  return 0;
}

/* Looks at one. */
static int add(struct tidemill_clean *c, const char *dir, struct tm_err *err)
{
  struct tidemill_record r = { .is_lent = true };
  int rc = tm_record_read(&r, dir);
  if (rc < 0 && err)
    *err = r.fault;
  else if (rc >= 0 && is_wanted(c, r.info.state, ended_of(c, &r.info)))
    rc = add_wanted(c, &r.info, err);
  tm_record_release(&r);
  return rc;
}

static int add_named(struct tidemill_clean *c, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < c->o.jobs_len && rc == 0; i++) {
    char *dir = tm_workspace_job_dir(c->ws, c->o.jobs[i] ? c->o.jobs[i] : "", TM_TO_USE, err);
    bool is_twice = false;
    for (size_t k = 0; dir && k < c->list.len; k++)
      is_twice = is_twice || strcmp(c->list.at[k].dir, dir) == 0;
    if (!is_twice)
      rc = dir ? add(c, dir, err) : err->code;
    free(dir);
  }
  return rc;
}

/* One that cannot be read is said, and stays: named, it is refused. */
static int add_all(struct tidemill_clean *c, struct tm_err *err)
{
  struct tm_jobs jobs = { 0 };
  int rc = tm_jobs_list(&jobs, c->ws->fs, c->ws->path, err);
  for (size_t i = 0; i < jobs.len && rc >= 0; i++) {
    struct tm_err why = TM_ERR_NONE;
    if (add(c, jobs.at[i], &why) < 0)
      tm_workspace_log(c->ws, TIDEMILL_WARNING, "left as it is: %s", why.text);
  }
  tm_jobs_release(&jobs);
  return rc < 0 ? rc : 0;
}

/* Those of jobs that are to go included. What cannot be known is not removed. */
static void find_scripts(struct tidemill_clean *c)
{
  struct tm_err err = TM_ERR_NONE;
  struct TM_ARRAY(char *) gone = { 0 };
  for (size_t i = 0; i < c->list.len; i++)
    if (!c->list.at[i].kept)
      *TM_ARRAY_ADD(&gone) = c->list.at[i].dir;
  if (tm_old_snapshots_find(&c->scripts, c->ws->fs, c->ws->path, gone.at, gone.len, &err) < 0)
    tm_workspace_log(c->ws, TIDEMILL_WARNING, "copies of scripts are left as they are: %s",
                     err.text);
  TM_ARRAY_RELEASE(&gone);
}

int tidemill_clean_new(struct tidemill_clean **out, struct tidemill_workspace *ws,
                       const struct tidemill_clean_options *options, struct tm_err *err)
{
  struct tm_err unheard = TM_ERR_NONE;
  struct tidemill_clean *c;
  int rc;
  err = err ? err : &unheard;
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
  if (c->o.jobs_len == 0)
    find_scripts(c);
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
  tm_old_snapshots_release(&c->scripts);
  tidemill_workspace_close(c->own);
  free(c);
}

/* Asking. */

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

/* Removing. */

int tidemill_clean_remove(struct tidemill_clean *c, size_t i, struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  int rc = tm_need(err, "tidemill_clean_remove()", "c", c, NULL);
  if (rc < 0)
    return rc;
  if (i >= c->list.len || c->list.at[i].kept || c->list.at[i].is_gone)
    return tm_err_set(err, TM_EUSAGE, "tidemill_clean_remove(): job %zu %s", i,
                      i >= c->list.len        ? "is not there"
                      : c->list.at[i].is_gone ? "is removed already"
                                              : "stays");
  struct chosen *j = &c->list.at[i];
  char *reason = reason_to_keep(c, j->dir, j->job.state, &why); /* it may have been registered */
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
