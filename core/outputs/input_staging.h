/* input_staging.h - makes the places of inputs and side inputs (plan/inputs.h) before a step runs.
 *
 *   <step>/inputs/<name>   as_mount: a link to the folder, or a folder of links; as_download:
 *                          copies. Names are relative to the common folder of the paths and
 *                          patterns: for "digits/a/1.png" and "digits/b/2.png" they are "a/1.png"
 *                          and "b/2.png"
 *   a given path           a link to that, removed when the step has ended
 *   <step>/state/input_staging.N  marks it as complete: a later session uses it
 *
 * The places in the job's directory stay, because items are identified by their paths: failed ones,
 * and those to replay.
 */
#ifndef TM_OUTPUTS_INPUT_STAGING_H
#define TM_OUTPUTS_INPUT_STAGING_H

#include "plan/pipeline.h"
#include "sys/fs.h"
#include "sys/loop.h"

/* Only checks. `job_dir` NULL: there is no job yet. TM_EUSAGE: a given path is taken. */
int tm_input_staging_check(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                           struct tm_err *err);

struct tm_input_staging;
struct tm_input_staging_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_step *step;
  const char *job_dir; /* must outlive it */
  /* Called on the loop: 0, -ECANCELED, or the error. After that, only call stop. */
  void (*on_ended)(void *data, int code, const struct tm_err *err);
  void *data;
};
/* Makes all places of the step, on a thread of its own. */
struct tm_input_staging *tm_input_staging_start(const struct tm_input_staging_options *o,
                                                struct tm_err *err);
/* on_ended follows soon, unless it was called already */
void tm_input_staging_cancel(struct tm_input_staging *in);
/* Cancels, waits for the thread; the memory is freed when the loop has closed its handle. NULL is a
 * no-op. */
void tm_input_staging_stop(struct tm_input_staging *in);
/* Removes this job's links at given paths. */
void tm_input_staging_clear(const struct tm_fs *fs, const struct tm_step *step,
                            const char *job_dir);

/* Makes a link at `path` to `folder`, and missing folders above it. 1: it existed. TM_EUSAGE: the
 * path is taken. */
int tm_input_staging_link(const struct tm_fs *fs, const char *folder, const char *path,
                          struct tm_err *err);
/* Removes that link, if it has not been replaced. */
void tm_input_staging_unlink(const struct tm_fs *fs, const char *folder, const char *path);

#endif
