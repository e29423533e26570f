/* driver_log.h - logs/70_driver_log.txt: what a session of a step was started with: by which program and where, from which
 * file, and each effective setting with its origin, as log lines:
 *
 *   parameter size = 5 (--param)
 *   setting run_max_try = 3 (default)
 *   setting mini_batch_size = 5 (parameter size)
 *
 * The origin is a word of the plan: "file", "default", "argument", "option", or a parameter, whose own says where its value is from. No value of an environment variable is in it.
 * Behind it, what was said about the job (what is kept, what has changed), and how the session ended. Appended to.
 */
#ifndef TM_REPORT_DRIVER_LOG_H
#define TM_REPORT_DRIVER_LOG_H

#include "report/log_file.h"
#include "run/events.h"

struct tm_driver_log {
  struct tm_log_file file;
  int64_t pid;
};

/* Says what starts. Fails as a log file does; it can be used all the same. */
int tm_driver_log_open(struct tm_driver_log *d, const struct tm_fs *fs, const struct tm_event *e,
                       const struct tm_step_view *step, struct tm_err *err);
/* MESSAGE or STEP_ENDED. */
void tm_driver_log_add(struct tm_driver_log *d, const struct tm_event *e);
int tm_driver_log_flush(struct tm_driver_log *d, struct tm_err *err);
int tm_driver_log_close(struct tm_driver_log *d, struct tm_err *err); /* zeroed: a no-op */

#endif
