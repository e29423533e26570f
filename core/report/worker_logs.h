/* worker_logs.h - logs/sys/node/<node_id>/<process_name>.txt: a worker's work, a log line per try.
 * The line has the worker's name and pid, and this message (here broken in two):
 *
 *   mini-batch 7, try 1: RUN_DONE; 5 items, 5 succeeded, 0 failed; began 2026-01-31 23:59:58,123,
 *   1.234567 s, process 0.000999 s, run() 1.200000 s; node 0 at host7
 *
 * After a failed try, ": " and the error follow. `process` is the CPU time of the worker, `run()`
 * the time within run(). "began" is left out if unknown. If the items of a failed try will be tried
 * again, they count as neither succeeded nor failed: "5 items, 0 succeeded, 0 failed, 5 to be tried
 * again".
 *
 * An activity that takes longer than a second has a line before it ends (activity.h), so that the
 * file of a stuck worker shows where it is:
 *
 *   mini-batch 7, try 1: begun 2026-01-31 23:59:58,123, in run(), first item '/data/a.csv'; node 0
 *   at host7
 *   in init() since 2026-01-31 23:59:58,123; node 0 at host7
 *
 * At DEBUG each mini-batch has a line when it is handed to the worker:
 *
 *   mini-batch 7, try 1: handed out, 5 items of input 'images', first '/data/a.pgm'
 *
 * At WARNING only tries that failed have a line.
 *
 * The file is created with the first line and appended to, session after session. If files cannot
 * be written, the first failure is reported. TM_WORKER_LOGS_OPEN_MAX files are open at most,
 * however many workers there are; the others are opened again when they are written to.
 */
#ifndef TM_REPORT_WORKER_LOGS_H
#define TM_REPORT_WORKER_LOGS_H

#include "base/map.h"
#include "base/mem.h"
#include "record/activity.h"
#include "record/events.h"
#include "report/log_file.h"
#include "report/pen.h"

#define TM_WORKER_LOGS_OPEN_MAX 64

struct tm_worker_log; /* of one worker */

struct tm_worker_logs {
  const struct tm_fs *fs;
  char *dir;                    /* logs/sys/node */
  struct tm_stamp began, ended; /* many rows per second */
  struct tm_map places;         /* name of a worker -> index in `logs` + 1; 0: closed */
  struct TM_ARRAY(struct tm_worker_log *) logs;
  struct tm_worker_log *open_files[TM_WORKER_LOGS_OPEN_MAX];
  size_t open_len, oldest; /* `oldest`: the one that is closed next, once all places are taken */
  bool has_failed;         /* a failure was reported */
  enum tm_level level;     /* of the step; zeroed is DEBUG */
};

void tm_worker_logs_init(struct tm_worker_logs *l, const struct tm_fs *fs, const char *logs_dir);
/* `e`: TRY_ENDED. Collects a line, and writes if enough was collected. Fails once. */
int tm_worker_logs_add(struct tm_worker_logs *l, const struct tm_event *e, struct tm_err *err);
/* Adds a line for each activity that takes longer than a second and has none yet. Fails once. */
int tm_worker_logs_tick(struct tm_worker_logs *l, const struct tm_event *e,
                        const struct tm_activities *activities, struct tm_err *err);
/* `e`: HANDED_OUT. Adds its line. Fails once. */
int tm_worker_logs_add_handed(struct tm_worker_logs *l, const struct tm_event *e,
                              struct tm_err *err);
/* The worker has ended: closes its file, if it has one. Fails once. */
int tm_worker_logs_end(struct tm_worker_logs *l, const char *worker, struct tm_err *err);
int tm_worker_logs_flush(struct tm_worker_logs *l, struct tm_err *err);
int tm_worker_logs_close(struct tm_worker_logs *l, struct tm_err *err); /* zeroed: a no-op */

#endif
