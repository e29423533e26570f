/* like.h - a job that is submitted again, with some of its parameters changed: `run --like JOB`.
 *
 * The new job has the pipeline file of the old one as it is now, and the values that its parameters had. What else has
 * changed since is said, and refused by nobody: it is another job.
 *
 * Caller: open; load the pipeline; tm_like_apply(); release in every case.
 */
#ifndef TM_CLI_LIKE_H
#define TM_CLI_LIKE_H

#include "cli/launch.h"

struct tm_like {
  char *dir;
  struct tm_json *record;
  const char *file; /* the pipeline file, absolute; memory of the record */
};

/* Adds the parameters of the job to those of the launch. TM_EUSAGE: there is no such job, or it was not begun from a pipeline file
 * and `has_file`, another one, is not given. */
int tm_like_open(struct tm_like *like, struct tm_launch *l, const char *job, bool has_file,
                 struct tm_err *err);
/* The items of the job, where it was begun with --only-failed; says what differs from it. */
int tm_like_apply(const struct tm_like *like, struct tm_pipeline *p, bool takes_items,
                  struct tm_err *err);
void tm_like_release(struct tm_like *like);

#endif
