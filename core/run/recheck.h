/* recheck.h - the inputs of a job that is Completed, compared with the lists that it was cut into: for --verify-input.
 *
 * Nothing is written: whatever it finds, the job stays as it is. The comparing is done beside the loop, as the listing of a job.
 * Caller: start; on_ended comes once, on the loop, unless it is stopped before.
 */
#ifndef TM_RUN_RECHECK_H
#define TM_RUN_RECHECK_H

#include "plan/pipeline.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_recheck;

struct tm_recheck_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline; /* must live until stop */
  const char *dir;                    /* of the job; must live until stop */
  void (*on_warning)(void *data, const char *text);
  /* 0: all is as it was, `compared` mini-batches of it; else why not: TM_ECHANGED names the first difference. From within it
   * stop may be called. */
  void (*on_ended)(void *data, int code, int64_t compared, const struct tm_err *err);
  void *data;
};

/* NULL and words when it cannot be begun. */
struct tm_recheck *tm_recheck_start(const struct tm_recheck_options *o, struct tm_err *err);
void tm_recheck_stop(struct tm_recheck *r); /* NULL is a no-op */

#endif
