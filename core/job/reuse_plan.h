/* reuse_plan.h - which steps of a pipeline will get an earlier result instead of being run
 * (reuse.h), before anything runs.
 *
 * A step that reads outputs of others can be reused if these are reused, or exist in this job:
 * their files are known and can be compared. A step downstream of one that runs counts as run:
 * outputs cannot be compared before they exist. When they do, a job asks again, and may find them
 * equal after all (allow_reuse = "content").
 *
 * Caller: set the fields, the rest zero; call tm_reuse_plan_step() any number of times: it examines
 * each step once, with those that it depends on; release.
 */
#ifndef TM_JOB_REUSE_PLAN_H
#define TM_JOB_REUSE_PLAN_H

#include "plan/pipeline.h"
#include "store/db.h"
#include "sys/fs.h"

struct tm_planned_reuse {
  char *from; /* directory of the job with its result: another, or this one; NULL: it is run */
  char *why;  /* the reason; NULL: the result is in this job */
  const struct tm_step *before; /* the step that makes it run; or NULL */
  bool is_plain;                /* the reason need not be shown: it was to be expected */
  int code; /* negative: the earlier result cannot be read, so the step is run */
};

struct tm_reuse_plan {
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline;
  const char *workspace; /* absolute; NULL: there is none, and nothing is reused */
  const char *job_dir;   /* steps in it have begun; NULL: there is no job yet */
  bool no_reuse;

  struct tm_planned_reuse **steps; /* by number; NULL: not examined */
  struct tm_db *db;                /* or NULL */
};

/* Memory of the plan. */
const struct tm_planned_reuse *tm_reuse_plan_step(struct tm_reuse_plan *f,
                                                  const struct tm_step *step);
/* The first cause of its being run: itself, or a step that it depends on. */
const struct tm_step *tm_reuse_plan_cause(const struct tm_reuse_plan *f,
                                          const struct tm_step *step);
void tm_reuse_plan_release(struct tm_reuse_plan *f);

#endif
