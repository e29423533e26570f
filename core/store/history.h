/* history.h - all jobs of a workspace, also those whose directory is elsewhere (--job-dir) and
 * those that were removed: when each began and ended, its status, and its counts.
 *
 * An existing job is described by its own files (inspect/inspection.h); the history is what remains
 * of the others. The newest TM_HISTORY_MAX are kept.
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
  char *file;               /* the pipeline file, or NULL */
  char *status;             /* as in the job's result; "Running" before it has one */
  int64_t begin_ns, end_ns; /* since the epoch; end 0: no end was seen */
  int64_t steps, reused;
  int64_t total, succeeded, failed; /* mini-batches */
  int64_t items_total, items_failed;
  int64_t items_succeeded; /* -1: not known: an earlier tidemill did not keep it */
};
struct tm_history TM_ARRAY(struct tm_history_job);

/* Adds the job, or updates it; a resumed job keeps its first begin. `workspace`: absolute, and
 * exists. */
int tm_history_put(const char *workspace, const struct tm_history_job *job, struct tm_err *err);
/* All jobs, the newest first; none if the workspace has no database. Release it in every case. */
int tm_history_list(struct tm_history *out, const char *workspace, struct tm_err *err);
/* Like a job in the result of `status --json`, with "removed": true. Free it. */
struct tm_json *tm_history_to_json(const struct tm_history_job *job);
void tm_history_release(struct tm_history *h);

#endif
