/* failed_source.h - the items that failed in a job that has ended, as inputs of a new one.
 *
 * Caller: open, which refuses a job that does not exist, runs, was interrupted, or cannot be read;
 * ask for each step; release.
 */
#ifndef TM_JOB_FAILED_SOURCE_H
#define TM_JOB_FAILED_SOURCE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "data/dataset.h"
#include "plan/pipeline.h"
#include "sys/fs.h"

struct tm_failed_source {
  const struct tm_fs *fs;
  char *dir; /* of the job */
  struct tm_json *record, *result;
};

/* `given`, `named`, `cwd`: as for tm_jobs_find(). TM_EUSAGE, TM_EVERSION, TM_EDAMAGE. Release it in
 * every case. */
int tm_failed_source_open(struct tm_failed_source *s, const struct tm_fs *fs, const char *given,
                          const char *named, const char *cwd, struct tm_err *err);
void tm_failed_source_release(struct tm_failed_source *s);

/* The path of a step's list, to free(); the file exists if items have failed. NULL with a message:
 * the job has no such step. `step` NULL: the only one. */
char *tm_failed_source_list(const struct tm_failed_source *s, const char *step, struct tm_err *err);

/* The list for `given`: a JOB, or the path of a list (relative to cwd), with which `step` must be
 * NULL. To free(). */
char *tm_failed_source_find(const struct tm_fs *fs, const char *given, const char *step,
                            const char *named, const char *cwd, struct tm_err *err);

/* Restricts the pipeline to the failed items of the job: each step runs over those of the step of
 * its name, input by input, under their names. Steps without failed items are removed. 1: nothing
 * is left to do. Negative: none of its steps is in the job, a list cannot be read, or a step has
 * --resume_from, whose committed results belong to other inputs. The pipeline's record names the
 * job. */
int tm_failed_source_apply(const struct tm_failed_source *s, struct tm_pipeline *p,
                           struct tm_err *err);
/* The same when such a job is resumed: restores the inputs of its steps from its own record. A
 * record of another kind changes nothing. */
int tm_failed_source_again(const struct tm_json *record, struct tm_pipeline *p, struct tm_err *err);

#endif
