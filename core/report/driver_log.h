/* driver_log.h - logs/70_driver_log.txt: how a session of a step was started: by which program and
 * where, from which file, and each effective setting with its origin, as log lines:
 *
 *   parameter size = 5 (--param)
 *   setting run_max_try = 3 (default)
 *   setting mini_batch_size = 5 (parameter size)
 *
 * The origin is "file", "default", "argument", "option", or a parameter, whose own line has the
 * origin of its value. The log holds no value of an environment variable. Messages about the job
 * follow (what is kept, what has changed, which commands start nodes), details included, and how
 * the session ended. Appended to.
 */
#ifndef TM_REPORT_DRIVER_LOG_H
#define TM_REPORT_DRIVER_LOG_H

#include "record/events.h"
#include "report/log_file.h"

struct tm_driver_log {
  struct tm_log_file file;
  int64_t pid;
};

/* Logs what starts. Fails like a log file, but the object can still be used. */
int tm_driver_log_open(struct tm_driver_log *d, const struct tm_fs *fs, const struct tm_event *e,
                       const struct tm_step_view *step, struct tm_err *err);
/* MESSAGE or STEP_ENDED. */
void tm_driver_log_add(struct tm_driver_log *d, const struct tm_event *e);
int tm_driver_log_flush(struct tm_driver_log *d, struct tm_err *err);
int tm_driver_log_close(struct tm_driver_log *d, struct tm_err *err); /* zeroed: a no-op */

#endif
