/* worker_logs.h - logs/sys/node/<node_id>/<process_name>.txt: what a worker did, a line for each try. A log line, with the
 * worker's name and pid, whose message is
 *
 *   mini-batch 7, try 1: RUN_DONE; 5 items, 5 succeeded, 0 failed; began 2026-01-31 23:59:58,123, 1.234567 s, process
 *   0.000999 s, run() 1.200000 s; node 0 at host7
 *
 * and behind it, of a try that failed, ": " and what went wrong. `process` is the CPU time of the worker, `run()` the time
 * within run(). "began" is left out where it is not known. A failed item is counted when the mini-batch is over.
 *
 * A file is there once its worker has ended a try; it is appended to, session after session. Of files that cannot be
 * written the first is said.
 */
#ifndef TM_REPORT_WORKER_LOGS_H
#define TM_REPORT_WORKER_LOGS_H

#include "base/map.h"
#include "base/mem.h"
#include "report/log_file.h"
#include "report/pen.h"
#include "run/events.h"

struct tm_worker_log; /* of one worker */

struct tm_worker_logs {
  const struct tm_fs *fs;
  char *dir;                    /* logs/sys/node */
  struct tm_stamp began, ended; /* rows come many to a second */
  struct tm_map open;           /* name of a worker -> place in `logs` + 1; 0: closed */
  struct TM_ARRAY(struct tm_worker_log *) logs;
  bool has_failed; /* said */
};

void tm_worker_logs_init(struct tm_worker_logs *l, const struct tm_fs *fs, const char *logs_dir);
/* `e`: TRY_ENDED. Gathers a line, and writes when enough has gathered. Fails once. */
int tm_worker_logs_add(struct tm_worker_logs *l, const struct tm_event *e, struct tm_err *err);
/* The worker has ended: its file is closed. One that had none is left alone. Fails once. */
int tm_worker_logs_end(struct tm_worker_logs *l, const char *worker, struct tm_err *err);
int tm_worker_logs_flush(struct tm_worker_logs *l, struct tm_err *err);
int tm_worker_logs_close(struct tm_worker_logs *l, struct tm_err *err); /* zeroed: a no-op */

#endif
