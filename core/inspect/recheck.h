/* recheck.h - for --verify-input: compares the inputs of a Completed job with the lists that they
 * were cut into.
 *
 * It writes nothing: whatever it finds, the job stays as it is. It compares beside the loop, as a
 * job lists its inputs. Caller: start; on_ended comes once, on the loop, unless the caller stops it
 * before.
 */
#ifndef TM_INSPECT_RECHECK_H
#define TM_INSPECT_RECHECK_H

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
  /* 0: nothing has changed, and `compared` mini-batches were compared. Otherwise an error;
   * TM_ECHANGED names the first difference. The callback may call stop. */
  void (*on_ended)(void *data, int code, int64_t compared, const struct tm_err *err);
  void *data;
};

/* NULL with a message if it cannot begin. */
struct tm_recheck *tm_recheck_start(const struct tm_recheck_options *o, struct tm_err *err);
void tm_recheck_stop(struct tm_recheck *r); /* NULL is a no-op */

#endif
