/* overview.h - logs/job_progress_overview.<timestamp>.txt: the progress of a step, as log lines,
 * about one every ten seconds. A public format.
 *
 * A file begins with the names of the step and the job; then a line is (here broken in two)
 *
 *   ...|INFO|pid|supervisor|120 mini-batches created, 45 processed (44 succeeded, 1 failed), 2
 *   running; 450 items, 10 failed; output: 440 rows; 12.3 s so far, 21 s left
 *
 * "120 or more" while they are still being created, with "time left unknown". The last lines, at
 * the end of a session, are the result and where to start looking. If
 * the step Failed, they are ERROR. The step's logging_level decides which lines are written. At
 * DEBUG each line is followed by one with all counts.
 *
 * Each day (UTC) begins a new file; <timestamp> is when it began, 20260131-235958. A session
 * continues the file of its day. job_progress_overview.txt is a link to the newest.
 */
#ifndef TM_REPORT_OVERVIEW_H
#define TM_REPORT_OVERVIEW_H

#include "report/log_file.h"
#include "report/progress.h"

struct tm_overview {
  const struct tm_fs *fs;
  char *logs_dir;
  struct tm_log_file file;
  int64_t day;       /* since the epoch, of the open file */
  int64_t logged_ns; /* monotonic; the last line */
  int64_t pid;
  enum tm_level level; /* what is below it is left out */
};

/* `e`: of a step that begins. Fails like a log file, but the object can still be used. */
int tm_overview_open(struct tm_overview *v, const struct tm_fs *fs, const struct tm_event *e,
                     const struct tm_step_view *step, struct tm_err *err);
/* A tick: writes a line when ten seconds have passed. */
int tm_overview_tick(struct tm_overview *v, const struct tm_event *e,
                     const struct tm_step_view *step, const struct tm_progress *p,
                     struct tm_err *err);
/* The end of the step: a last line, and the lines of `result`. */
int tm_overview_end(struct tm_overview *v, const struct tm_event *e, const struct tm_progress *p,
                    const struct tm_buf *result, struct tm_err *err);
int tm_overview_close(struct tm_overview *v, struct tm_err *err); /* zeroed: a no-op */

#endif
