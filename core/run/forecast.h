/* forecast.h - which steps of a pipeline would be given an earlier result in the place of being run (reuse.h), told before anything
 * runs.
 *
 * A step that reads what others write is reused where these are, or where this job has them already: their files are known, and are
 * compared. A step that reads what a step writes which is run counts as one that is run: what is going to be written cannot be
 * compared before it is there. A job asks again when it is, and may find it equal after all (allow_reuse = "content").
 *
 * Caller: fields set, the rest zero; tm_forecast_step() as often as one likes: each step is looked at once, and only with those that
 * it depends on; release.
 */
#ifndef TM_RUN_FORECAST_H
#define TM_RUN_FORECAST_H

#include "plan/pipeline.h"
#include "store/db.h"
#include "sys/fs.h"

struct tm_foreseen {
  char *from; /* directory of the job that has its result: another, or this one; NULL: it is run */
  char *why;  /* words for that; NULL: it is of this job */
  const struct tm_step *before; /* it is run because that one is; or NULL */
  bool is_plain;                /* that it is run needs no words: nothing else was to be expected */
  int code;                     /* negative: what is there cannot be looked at, and it is run */
};

struct tm_forecast {
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline;
  const char *workspace; /* absolute; NULL: there is none, and nothing is reused */
  const char *job_dir;   /* what is in it has begun; NULL: there is no job yet */
  bool no_reuse;

  struct tm_foreseen **steps; /* by number; NULL: not looked at */
  struct tm_db *db;           /* or NULL */
};

/* The forecast's. */
const struct tm_foreseen *tm_forecast_step(struct tm_forecast *f, const struct tm_step *step);
/* The first cause of its being run: itself, or what it depends on. */
const struct tm_step *tm_forecast_cause(const struct tm_forecast *f, const struct tm_step *step);
void tm_forecast_release(struct tm_forecast *f);

#endif
