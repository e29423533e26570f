/* job_choice.h - the directory of a job for which the host named none. */
#ifndef TM_LUA_API_JOB_CHOICE_H
#define TM_LUA_API_JOB_CHOICE_H

#include <stdbool.h>

#include "plan/pipeline.h"
#include "sys/fs.h"

struct tm_job_choice {
  const struct tm_fs *fs;
  const char *workspace;
  const struct tm_pipeline *pipeline;
  bool resume;   /* the newest job of the pipeline that is not Completed, if there is one */
  bool is_named; /* the user named the workspace, and so trusts its jobs */
};

/* Absolute; NULL with a message. Both to free(). *note: with `resume`, why a new job starts; or
 * NULL. */
char *tm_job_choose(const struct tm_job_choice *c, char **note, struct tm_err *err);

/* For the message about a job that tm_job_choose() has found and that has a different definition:
 * adds which job that is, and how to name one. */
void tm_job_choice_explain(const struct tm_pipeline *p, const char *dir, bool is_command,
                           struct tm_err *err);

#endif
