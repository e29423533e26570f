/* report.h - all output of a job: its log files, the terminal, the result as text. A listener of
 * record/events.h; no other code calls into this folder.
 *
 * For each step, in its logs_dir:
 *
 *   readme.txt                                      readme.h
 *   70_driver_log.txt                               driver_log.h
 *   job_progress_overview.<timestamp>.txt, a link   overview.h
 *   user/error.txt                                  errors.h
 *   sys/master_role.txt, sys/error/supervisor.txt   log.h
 *   sys/node/<node_id>/<process_name>.txt           worker_logs.h
 *   sys/job_report/processed_mini-batches.csv       tries.h
 *   sys/job_report/workers.csv                      worker_lives.h
 *   sys/job_report/process_, node_summary.csv       summary.h
 *   job_result.txt                                  result.h, when the step has ended
 *
 * The writer, if there is one, gets messages, progress and the result (screen.h). Nothing here
 * fails a job: a failure to write is reported once, through the writer, and the job continues.
 *
 * Caller: new before tm_job_open(), with the job's events; free after tm_job_close().
 */
#ifndef TM_REPORT_REPORT_H
#define TM_REPORT_REPORT_H

#include "record/events.h"
#include "report/screen.h"
#include "sys/fs.h"

struct tm_report;

struct tm_report_options {
  const struct tm_fs *fs;
  struct tm_events *events; /* the listener is added to these; must outlive the report */
  struct tm_writer writer;  /* zeroed: shows nothing, as in a host */
  enum tm_progress_mode progress;
  bool has_color;
};

struct tm_report *tm_report_new(const struct tm_report_options *o);
/* Shows a line of the owner, above the progress: TM_INFO without a prefix. Each text is shown
 * once. */
void tm_report_say(struct tm_report *r, enum tm_level level, const char *text);
/* Writes what was collected. No event may follow. NULL: a no-op. */
void tm_report_free(struct tm_report *r);

#endif
