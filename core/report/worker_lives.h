/* worker_lives.h - logs/sys/job_report/workers.csv: a row for each event in the life of a worker. A
 * public format.
 *
 * Columns: Utc Time, Process, Node, Node Address, Pid, Event, Seconds, Max Rss (MB), Detail, Cause,
 * Max Own (MB).
 *
 *   Utc Time       "2026-01-31T23:59:58.123456Z"
 *   Event          "started"; "ready": init() has returned; "init_failed"; "ended", also of a
 *                  worker that could not be started
 *   Seconds        since it was started; empty for "started", and if it never was
 *   Max Rss (MB)   of "ended": the most memory that it had resident; empty if nobody knows
 *   Detail         one line. "init_failed": the error; "ended": how; "started": "clock offset
 *                  2.500000 s", the clock of its node minus that of the supervisor, if it is not 0;
 *                  "ready": "init() took 0.050000 s", if the script has an init(). How long a
 *                  failed init() took is in processed_mini-batches.csv (tries.h)
 *   Cause          of "ended", a word: "stopped" as asked; "exited", "signal"; killed for a
 *                  limit: "timeout", "shutdown", "memory", "frozen"; "killed" by the supervisor;
 *                  "lost" with its node; "not_started"
 *   Max Own (MB)   of "ended": the most memory of its own, without mapped files, which counts for
 *                  worker_memory_limit; empty without that, or if nobody knows
 */
#ifndef TM_REPORT_WORKER_LIVES_H
#define TM_REPORT_WORKER_LIVES_H

#include <stdbool.h>

#include "record/events.h"
#include "report/log_file.h"

struct tm_worker_lives {
  struct tm_log_file file;
  struct tm_buf scratch; /* for one row */
  size_t columns;        /* fewer if an older version began the file */
};

/* Appends to an existing file; the header is written once. Fails like a log file. */
int tm_worker_lives_open(struct tm_worker_lives *l, const struct tm_fs *fs, const char *logs_dir,
                         struct tm_err *err);
/* Collects a row, if the event has one. */
void tm_worker_lives_add(struct tm_worker_lives *l, const struct tm_event *e);
int tm_worker_lives_flush(struct tm_worker_lives *l, struct tm_err *err);
/* The clock offset of the worker's node, from the file below `logs_dir`: how far ahead its logs
 * are. 0: it has none, or it is not known. */
int64_t tm_worker_lives_clock_offset(const char *logs_dir, const char *worker);
/* Whether a worker with this Cause ended although nobody had asked it to, or was killed. "": not
 * known, and neither. The supervisor's own kill is neither: the job was over, or canceled. */
bool tm_worker_lives_died(const char *cause);
bool tm_worker_lives_was_killed(const char *cause);
/* How long init() took, from two columns of a row; 0: not known. */
int64_t tm_worker_lives_init_ns(const char *event, const char *detail);
int tm_worker_lives_close(struct tm_worker_lives *l, struct tm_err *err); /* zeroed: a no-op */

#endif
