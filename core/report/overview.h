/* overview.h - logs/job_progress_overview.<timestamp>.txt: how a step goes, as log lines, about one every ten seconds. A
 * public format.
 *
 * A file begins with which step of which job it is about, and then a line is
 *
 *   ...|INFO|pid|supervisor|120 mini-batches created, 45 processed (44 succeeded, 1 failed), 2 running; 450 items, 10 failed;
 *   output: 440 rows; 12.3 s so far, 21 s left
 *
 * "120 or more" while they are still being created, and then "time left unknown". The last lines, at the end of a session, are
 * the result and where to start looking; of a step that Failed they are ERROR. The step's logging_level decides which lines are
 * written. At DEBUG each line has a second one with all counts.
 *
 * A new file begins with each day (UTC); <timestamp> is when it began, 20260131-235958. A session goes on in the file of its day.
 * job_progress_overview.txt is a link to the newest.
 */
#ifndef TM_REPORT_OVERVIEW_H
#define TM_REPORT_OVERVIEW_H

#include "report/log_file.h"
#include "report/progress.h"

struct tm_overview {
  const struct tm_fs *fs;
  char *logs_dir;
  struct tm_log_file file;
  int64_t day;       /* since the epoch, of the file that is open */
  int64_t logged_ns; /* monotonic; the last line */
  int64_t pid;
  enum tm_level level; /* what is below it is left out */
};

/* `e`: of a step that begins. Fails as a log file does; it can be used all the same. */
int tm_overview_open(struct tm_overview *v, const struct tm_fs *fs, const struct tm_event *e,
                     const struct tm_step_view *step, struct tm_err *err);
/* A tick: a line when ten seconds have gone by. */
int tm_overview_tick(struct tm_overview *v, const struct tm_event *e,
                     const struct tm_step_view *step, const struct tm_progress *p,
                     struct tm_err *err);
/* The end of the step: a last line, and the lines of `result`. */
int tm_overview_end(struct tm_overview *v, const struct tm_event *e, const struct tm_progress *p,
                    const struct tm_buf *result, struct tm_err *err);
int tm_overview_close(struct tm_overview *v, struct tm_err *err); /* zeroed: a no-op */

#endif
