/* intake.h - the places of their own that inputs and side inputs have (plan/inputs.h): made before a step runs.
 *
 *   <step>/inputs/<name>   as_mount: a link to the one folder, or a folder of links; as_download: copies. What the paths and patterns
 *                          have in common stays away: of "digits/a/1.png" and "digits/b/2.png" there are "a/1.png" and "b/2.png"
 *   a path that was given  a link to that, which goes when the step has ended
 *   <step>/state/intake.N  it is whole: a later session goes on with it
 *
 * What is in the job's directory stays there, for items are known by their paths: those that failed, and what is replayed.
 */
#ifndef TM_RUN_INTAKE_H
#define TM_RUN_INTAKE_H

#include "plan/pipeline.h"
#include "sys/fs.h"
#include "sys/loop.h"

/* Looks alone. `job_dir` NULL: there is no job yet. TM_EUSAGE: a path that was given is taken by something else. */
int tm_intake_check(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir,
                    struct tm_err *err);

struct tm_intake;
struct tm_intake_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_step *step;
  const char *job_dir; /* as long as the intake */
  /* On the loop: 0, -ECANCELED, or what went wrong. Then only stop may be called. */
  void (*on_ended)(void *data, int code, const struct tm_err *err);
  void *data;
};
/* All of the step's, on a thread of its own. */
struct tm_intake *tm_intake_start(const struct tm_intake_options *o, struct tm_err *err);
void tm_intake_cancel(struct tm_intake *in); /* on_ended comes soon, unless it is done already */
/* Cancels, waits for the thread; memory goes when the loop has closed its handle. NULL is a no-op. */
void tm_intake_stop(struct tm_intake *in);
/* The links at paths that were given are taken away, those that are this job's. */
void tm_intake_clear(const struct tm_fs *fs, const struct tm_step *step, const char *job_dir);

/* A link at `path` to `folder`, and those above it that are missing. 1: it was there. TM_EUSAGE: something else is. */
int tm_intake_link(const struct tm_fs *fs, const char *folder, const char *path,
                   struct tm_err *err);
/* Removes that link, if it is still that one. */
void tm_intake_unlink(const struct tm_fs *fs, const char *folder, const char *path);

#endif
