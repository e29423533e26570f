/* preflight.c - see preflight.h. */
#include "job/preflight.h"

#include <stdlib.h>

#include "base/mem.h"
#include "job/first_look.h"
#include "job/reuse_plan.h"
#include "slurm/slurm_test.h"
#include "outputs/input_staging.h"
#include "outputs/own_folder.h"
#include "outputs/destinations.h"
#include "record/temp_dirs.h"

/* Appends `why`, and frees it. */
static void add_words(struct tm_err *refusal, char *why)
{
  char *text = tm_xprintf("%s (the step is not reused: %s)", refusal->text, why);

  tm_err_set(refusal, refusal->code, "%s", text);
  free(text);
  free(why);
}

/* Adds why the step is not reused, if a user may have expected that. */
static void explain(struct tm_reuse_plan *f, const struct tm_step *step, struct tm_err *refusal)
{
  const struct tm_step *cause = tm_reuse_plan_cause(f, step);
  const struct tm_planned_reuse *s = tm_reuse_plan_step(f, cause);

  if (cause != step)
    add_words(refusal,
              tm_xprintf("step '%s', which it depends on, will run: %s", cause->name, s->why));
  else if (!s->is_plain)
    add_words(refusal, tm_xstrdup(s->why));
}

/* A refusal does not matter for a step whose result can be reused. */
static int check_step(const struct tm_preflight *p, struct tm_reuse_plan *f,
                      const struct tm_step *step, struct tm_err *err)
{
  const char *const dirs[] = { p->workspace, p->dir };
  const struct tm_planned_reuse *s;
  int rc = tm_destinations_check(p->fs, step, p->job_dir, err);

  if (rc == 0)
    rc = tm_own_folder_check(p->fs, p->pipeline, step, dirs, err);
  if (rc == 0)
    rc = tm_input_staging_check(p->fs, step, p->job_dir, err);
  if (rc == 0)
    return 0;
  s = tm_reuse_plan_step(f, step);
  if (!s->from || (s->why && rc != TM_EUSAGE)) {
    explain(f, step, err);
    return rc;
  }
  *err = (struct tm_err)TM_ERR_NONE;
  return 0;
}

int tm_preflight(const struct tm_preflight *p, struct tm_err *err)
{
  struct tm_reuse_plan f = { .fs = p->fs,
                             .pipeline = p->pipeline,
                             .workspace = p->workspace,
                             .job_dir = p->job_dir,
                             .no_reuse = p->no_reuse };
  int rc = tm_temp_dirs_check(p->fs, err);

  for (size_t i = 0; i < p->pipeline->steps_len && rc == 0; i++)
    rc = check_step(p, &f, p->pipeline->steps[i], err);
  if (rc == 0 && !p->job_dir)
    rc = tm_slurm_test(p->pipeline, p->program, err);
  if (rc == 0 && !p->job_dir)
    rc = tm_first_look(p->fs, p->pipeline, err);
  tm_reuse_plan_release(&f);
  return rc;
}
