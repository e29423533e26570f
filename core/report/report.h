/* report.h - everything a job says: its log files, the terminal, the result as text. A listener of run/events.h; nobody
 * else calls into this folder.
 *
 * Of each step, under its logs_dir:
 *
 *   readme.txt                                      readme.h
 *   70_driver_log.txt                               driver_log.h
 *   job_progress_overview.<timestamp>.txt, a link   overview.h
 *   user/error.txt                                  errors.h
 *   sys/master_role.txt, sys/error/supervisor.txt   log.h
 *   sys/node/<node_id>/<process_name>.txt           worker_logs.h
 *   sys/job_report/processed_mini-batches.csv       tries.h
 *   sys/job_report/process_, node_summary.csv       summary.h
 *   job_result.txt                                  result.h, when the step has ended
 *
 * and to the writer, where there is one, messages, progress and the result (screen.h). Nothing here fails a job: what
 * cannot be written is said once, through the writer, and the job goes on.
 *
 * Caller: new before tm_job_open(), with the events that the job is given; free after tm_job_close().
 */
#ifndef TM_REPORT_REPORT_H
#define TM_REPORT_REPORT_H

#include "report/screen.h"
#include "run/events.h"
#include "sys/fs.h"

struct tm_report;

struct tm_report_options {
  const struct tm_fs *fs;
  struct tm_events *events; /* to which the listener is added; must outlive the report */
  struct tm_writer writer;  /* zeroed: nothing is shown, as in a host */
  enum tm_progress_mode progress;
  bool has_color;
};

struct tm_report *tm_report_new(const struct tm_report_options *o);
/* A line of the owner's own, between the progress: TM_INFO as it is. Each text is said once. */
void tm_report_say(struct tm_report *r, enum tm_level level, const char *text);
/* Writes what has gathered. No event may come after it. NULL: a no-op. */
void tm_report_free(struct tm_report *r);

#endif
