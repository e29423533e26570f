/* history.h - the jobs of a workspace, also those whose directory is elsewhere (--job-dir), and those that have been removed since:
 * when each began and ended, what came of it, and how much it was.
 *
 * What is known of a job that is still there is in its own files (run/survey.h); this is what is left of it otherwise. The newest
 * TM_HISTORY_MAX are kept.
 */
#ifndef TM_STORE_HISTORY_H
#define TM_STORE_HISTORY_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"

#define TM_HISTORY_MAX 10000

struct tm_history_job {
  char *dir;                /* absolute */
  char *pipeline;           /* its name */
  char *file;               /* of the pipeline, or NULL */
  char *status;             /* as in its result; "Running" before it has one */
  int64_t begin_ns, end_ns; /* since the epoch; end 0: it has not been seen to end */
  int64_t steps, reused;
  int64_t total, succeeded, failed; /* mini-batches */
  int64_t items_total, items_failed;
};
struct tm_history TM_ARRAY(struct tm_history_job);

/* Adds it, or what is new of it: a job that is gone on with began when it first did. `workspace`: absolute, and there. */
int tm_history_put(const char *workspace, const struct tm_history_job *job, struct tm_err *err);
/* All, the newest first. A workspace without a database has none. Release it in every case. */
int tm_history_list(struct tm_history *out, const char *workspace, struct tm_err *err);
/* To free: as a job in the result of `status --json`, with "removed": true. */
struct tm_json *tm_history_to_json(const struct tm_history_job *job);
void tm_history_release(struct tm_history *h);

#endif
