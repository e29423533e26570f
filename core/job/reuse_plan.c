/* reuse_plan.c - see reuse_plan.h. It asks the same questions as a job (reusing.c), in the order of
 * the dependencies. */
#include "job/reuse_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "job/reuse.h"
#include "record/events.h"
#include "record/job_record.h"
#include "snapshot/snapshot.h"

static struct tm_planned_reuse *is_run(const char *why)
{
  struct tm_planned_reuse *s = TM_NEW(struct tm_planned_reuse);

  s->why = tm_xstrdup(why);
  s->is_plain = true;
  return s;
}

static struct tm_planned_reuse *cannot_tell(const struct tm_err *err)
{
  struct tm_planned_reuse *s = is_run(err->text);

  s->code = err->code;
  return s;
}

static struct tm_planned_reuse *is_run_behind(const struct tm_step *before)
{
  struct tm_planned_reuse *s = TM_NEW(struct tm_planned_reuse);

  s->before = before;
  s->why = tm_xprintf("step '%s', whose output it reads, will run", before->name);
  return s;
}

static struct tm_planned_reuse *is_there(const char *from, const char *why)
{
  struct tm_planned_reuse *s = TM_NEW(struct tm_planned_reuse);

  s->from = tm_xstrdup(from);
  s->why = tm_xstrdup(why);
  return s;
}

/* What this job has of the step: its result, or a beginning to be resumed. NULL: nothing. */
static struct tm_planned_reuse *look_in_job(const struct tm_reuse_plan *f,
                                            const struct tm_step *step)
{
  char *dir = f->job_dir ? tm_path_join(f->job_dir, step->name) : NULL;
  struct tm_json *v = dir ? tm_step_result_load(dir) : NULL;
  struct tm_planned_reuse *s = NULL;

  if (v && strcmp(tm_json_str(v, "status", ""), tm_verdict_name(TM_COMPLETED)) == 0)
    s = is_there(f->job_dir, NULL);
  else if (dir && tm_fs_exists(f->fs, dir))
    s = is_run("it has begun");
  tm_json_free(v);
  free(dir);
  return s;
}

/* Another job. */

static const struct tm_step *run_before(const struct tm_reuse_plan *f, const struct tm_step *step)
{
  for (size_t i = 0; i < step->needs_len; i++)
    if (!f->steps[step->needs[i]->number]->from)
      return step->needs[i];
  return NULL;
}

struct asked {
  const struct tm_reuse_plan *f;
  const struct tm_step *step;
};

/* The job directory with the outputs of a step that it reads. */
static const char *dir_of(void *data, const char *name)
{
  const struct asked *a = data;
  size_t i = 0;

  while (strcmp(a->step->needs[i]->name, name) != 0)
    i++;
  return a->f->steps[a->step->needs[i]->number]->from;
}

static struct tm_planned_reuse *look_in_workspace(struct tm_reuse *r, const struct tm_reuse_plan *f)
{
  const struct tm_step *before = run_before(f, r->step);
  struct tm_err err = TM_ERR_NONE;
  struct tm_planned_reuse *s;
  int rc = tm_reuse_hope(r, f->db, &err);

  if (rc > 0 && before)
    return is_run_behind(before);
  if (rc > 0)
    rc = tm_reuse_look(r, &err);
  if (rc < 0)
    return cannot_tell(&err);
  if (rc > 0)
    return is_there(r->rows.at[r->chosen].job, r->words);
  s = is_run(r->words);
  s->is_plain = r->is_new;
  return s;
}

static struct tm_planned_reuse *ask(struct tm_reuse_plan *f, const struct tm_step *step)
{
  struct asked a = { .f = f, .step = step };
  struct tm_reuse r = { .fs = f->fs,
                        .workspace = f->workspace,
                        .pipeline = f->pipeline->name,
                        .step = step,
                        .job_dir = f->job_dir,
                        .dir_of = dir_of,
                        .data = &a };
  struct tm_planned_reuse *s;
  struct tm_err err = TM_ERR_NONE;
  char hash[17];

  if ((!f->db && tm_db_open(&f->db, f->workspace, TM_DB_READ, &err) < 0) ||
      tm_snapshot_hash(f->fs, &step->config, f->job_dir, hash, &err) < 0)
    return cannot_tell(&err);
  tm_reuse_init(&r, hash);
  s = look_in_workspace(&r, f);
  tm_reuse_release(&r);
  return s;
}

/* All steps that it reads have been examined. */
static struct tm_planned_reuse *foresee(struct tm_reuse_plan *f, const struct tm_step *step)
{
  const char *obstacle = tm_reuse_obstacle(f->pipeline, step);
  struct tm_planned_reuse *s = look_in_job(f, step);

  if (s)
    return s;
  if (obstacle || !f->workspace)
    return is_run(obstacle ? obstacle : "there is no workspace yet");
  return f->no_reuse ? is_run("earlier results are not asked for: --no-reuse") : ask(f, step);
}

/* A step that it reads and that has not been examined; or NULL. */
static const struct tm_step *next_of(const struct tm_reuse_plan *f, const struct tm_step *step)
{
  for (size_t i = 0; i < step->needs_len; i++)
    if (!f->steps[step->needs[i]->number])
      return step->needs[i];
  return NULL;
}

const struct tm_planned_reuse *tm_reuse_plan_step(struct tm_reuse_plan *f,
                                                  const struct tm_step *step)
{
  struct TM_ARRAY(const struct tm_step *) waiting = { 0 }; /* each reads a step before it */

  if (!f->steps)
    f->steps = tm_xcalloc(f->pipeline->steps_len, sizeof(*f->steps));
  if (!f->steps[step->number])
    *TM_ARRAY_ADD(&waiting) = step;
  while (waiting.len > 0) {
    const struct tm_step *s = waiting.at[waiting.len - 1], *next = next_of(f, s);
    if (next) {
      *TM_ARRAY_ADD(&waiting) = next;
    } else {
      f->steps[s->number] = foresee(f, s);
      waiting.len--;
    }
  }
  TM_ARRAY_RELEASE(&waiting);
  return f->steps[step->number];
}

const struct tm_step *tm_reuse_plan_cause(const struct tm_reuse_plan *f, const struct tm_step *step)
{
  while (f->steps[step->number]->before)
    step = f->steps[step->number]->before;
  return step;
}

void tm_reuse_plan_release(struct tm_reuse_plan *f)
{
  for (size_t i = 0; f->steps && i < f->pipeline->steps_len; i++) {
    if (f->steps[i]) {
      free(f->steps[i]->from);
      free(f->steps[i]->why);
    }
    free(f->steps[i]);
  }
  free(f->steps);
  f->steps = NULL;
  tm_db_close(f->db);
  f->db = NULL;
}
