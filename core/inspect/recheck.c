/* recheck.c - see recheck.h.
 *
 * It checks one step after the other: it opens the manifest for reading, and a lister compares the
 * inputs with all of it. Nothing is ever added to a complete list (manifest.c). The list of a
 * Completed job is complete; one that is not is damaged.
 */
#include "inspect/recheck.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "commit/lister.h"
#include "commit/manifest_file.h"
#include "plan/bound.h"
#include "store/workspace.h"

struct tm_recheck {
  struct tm_recheck_options o;
  size_t at; /* the current step */
  struct tm_manifest *manifest;
  struct tm_lister *lister;
  struct tm_bound bound;                                 /* of that step */
  char *state_dir, *spill_dir, *schema_file, *index_dir; /* of the current step */
  int64_t compared;
};

static int open_manifest(struct tm_recheck *r, const struct tm_step *step, struct tm_err *err)
{
  char *path = tm_xprintf("%s/%s/state/manifest", r->o.dir, step->name);
  int rc = tm_manifest_open_read(&r->manifest, r->o.fs, path, 0, err);

  if (rc >= 0 && !tm_manifest_has_end(r->manifest))
    rc = tm_err_set(err, TM_EDAMAGE, "'%s' is damaged: it has no end, and the job is Completed",
                    path);
  free(path);
  return rc;
}

static void close_step(struct tm_recheck *r)
{
  (void)tm_lister_stop(r->lister);
  r->lister = NULL;
  tm_manifest_close(r->manifest);
  r->manifest = NULL;
  tm_bound_release(&r->bound);
  free(r->state_dir);
  free(r->spill_dir);
  free(r->schema_file);
  free(r->index_dir);
  r->state_dir = r->spill_dir = r->schema_file = r->index_dir = NULL;
}

static void on_listed(void *data);

static int open_step(struct tm_recheck *r, struct tm_err *err)
{
  const struct tm_step *step = r->o.pipeline->steps[r->at];
  struct tm_lister_options o = {
    .loop = r->o.loop, .splitter = tm_step_splitting(step), .on_progress = on_listed, .data = r
  };
  int rc = open_manifest(r, step, err);

  if (rc < 0)
    return rc;
  r->state_dir = tm_xprintf("%s/%s/state", r->o.dir, step->name);
  r->spill_dir = tm_xprintf("%s/%s/state/spill", r->o.dir, step->name);
  r->schema_file = tm_xprintf("%s/%s/state/schema.json", r->o.dir, step->name);
  r->index_dir = tm_workspace_index_dir(r->o.dir, step->name);
  o.splitter.spill_dir = r->spill_dir;
  o.splitter.schema_file = r->schema_file;
  o.splitter.groups_dir = r->state_dir;
  o.splitter.index_dir = r->index_dir;
  tm_manifest_relist(r->manifest);
  tm_bound_init(&r->bound, step, r->o.dir);
  o.splitter.inputs = (const struct tm_dataset *const *)r->bound.inputs;
  o.manifest = r->manifest;
  r->lister = tm_lister_start(&o, err);
  return r->lister ? 0 : err->code;
}

static void on_listed(void *data)
{
  struct tm_recheck *r = data;
  struct tm_err err = TM_ERR_NONE;
  enum tm_level level;
  char *warning;

  if (!r->lister)
    return;
  int state = tm_lister_state(r->lister, &err);
  while ((warning = tm_lister_take_warning(r->lister, &level))) {
    if (level == TM_WARNING)
      r->o.on_warning(r->o.data, warning);
    free(warning);
  }
  if (state == 0)
    return;
  if (state > 0)
    r->compared += (int64_t)tm_manifest_count(r->manifest);
  else
    tm_err_wrap(&err, "step '%s'", r->o.pipeline->steps[r->at]->name);
  close_step(r);
  if (state > 0 && ++r->at < r->o.pipeline->steps_len)
    state = open_step(r, &err) < 0 ? err.code : 0;
  if (state != 0)
    r->o.on_ended(r->o.data, state < 0 ? state : 0, r->compared, &err);
}

struct tm_recheck *tm_recheck_start(const struct tm_recheck_options *o, struct tm_err *err)
{
  tm_require(o->loop);
  struct tm_recheck *r = TM_NEW(struct tm_recheck);

  r->o = *o;
  if (open_step(r, err) == 0)
    return r;
  tm_recheck_stop(r);
  return NULL;
}

void tm_recheck_stop(struct tm_recheck *r)
{
  if (!r)
    return;
  close_step(r);
  free(r);
}
