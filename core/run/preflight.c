/* preflight.c - see preflight.h. */
#include "run/preflight.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "plan/snapshot.h"
#include "run/events.h"
#include "run/intake.h"
#include "run/job_record.h"
#include "run/place.h"
#include "run/reuse.h"
#include "store/db.h"

static bool is_kept(const struct tm_preflight *p, const struct tm_step *step)
{
  char *dir = p->job_dir ? tm_path_join(p->job_dir, step->name) : NULL;
  struct tm_json *v = dir ? tm_step_result_load(dir) : NULL;
  bool yes = v && strcmp(tm_json_str(v, "status", ""), tm_verdict_name(TM_COMPLETED)) == 0;

  tm_json_free(v);
  free(dir);
  return yes;
}

static bool has_begun(const struct tm_preflight *p, const struct tm_step *step)
{
  char *dir = p->job_dir ? tm_path_join(p->job_dir, step->name) : NULL;
  bool yes = dir && tm_fs_exists(p->fs, dir);

  free(dir);
  return yes;
}

/* 1: the result will be there, or nobody can tell before other steps have ended. */
static int ask_reuse(struct tm_reuse *r, struct tm_err *err)
{
  struct tm_db *db = NULL;
  int rc = tm_db_open(&db, r->workspace, TM_DB_READ, err);

  if (rc >= 0)
    rc = tm_reuse_hope(r, db, err);
  tm_db_close(db);
  return rc > 0 && r->step->needs_len == 0 ? tm_reuse_look(r, err) : rc;
}

static void add_words(struct tm_err *err, const char *words)
{
  char *text = tm_xprintf("%s (the step is not reused: %s)", err->text, words);

  tm_err_set(err, err->code, "%s", text);
  free(text);
}

/* What cannot be found out of it does not count: the step would be run. `refusal` is told why it is not reused. */
static bool may_be_reused(const struct tm_preflight *p, const struct tm_step *step,
                          struct tm_err *refusal)
{
  struct tm_reuse r = { .fs = p->fs,
                        .workspace = p->workspace,
                        .pipeline = p->pipeline->name,
                        .step = step,
                        .job_dir = p->job_dir };
  struct tm_err ignored = TM_ERR_NONE;
  char hash[17];
  bool yes;

  if (!p->workspace || p->no_reuse || has_begun(p, step) || tm_reuse_obstacle(p->pipeline, step) ||
      tm_snapshot_hash(p->fs, &step->config, p->job_dir, hash, &ignored) < 0)
    return false;
  tm_reuse_init(&r, hash);
  yes = ask_reuse(&r, &ignored) > 0;
  if (!yes && r.words && !r.is_new)
    add_words(refusal, r.words);
  tm_reuse_release(&r);
  return yes;
}

int tm_preflight(const struct tm_preflight *p, struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < p->pipeline->steps_len && rc == 0; i++) {
    const struct tm_step *step = p->pipeline->steps[i];
    if (is_kept(p, step))
      continue;
    if ((rc = tm_place_check(p->fs, step, p->job_dir, err)) == 0)
      rc = tm_intake_check(p->fs, step, p->job_dir, err);
    if (rc == TM_EUSAGE && may_be_reused(p, step, err)) {
      *err = (struct tm_err)TM_ERR_NONE;
      rc = 0;
    }
  }
  return rc;
}
