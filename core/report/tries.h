/* tries.h - logs/sys/job_report/processed_mini-batches.csv: a row for each try, and for each init()
 * that failed (without a mini-batch: Mini-batch Id and Detail are empty, Picked Count is 0). A
 * public format. A try whose worker was killed because the job ended is CANCELED; of one that died
 * with its supervisor, nobody wrote a row.
 *
 * Columns: Mini-batch Id, Picked Count, Process, Process Start Time, Total, Succeeded, Failed,
 * Elapsed Seconds, Process Seconds, Run Method Seconds, Status, Error Category, Error Message,
 * Mini-batch Detail, Node, Result Bytes, Signal, Script Line, Error Item. Find them by name: a job
 * that an older version began lacks the last ones.
 *
 *   Process Start Time   when the worker began the mini-batch, "2026-01-31T23:59:58.123456Z"; empty
 *                        if it did not report that
 *   Error Category       empty, "error", "timeout", "lost" (its worker died) or "canceled"
 *   Error Message        one line; logs/user/error/ has the full text. For a RUN_DONE: why items
 *                        failed nevertheless
 *   Mini-batch Detail    "dataset=NAME count=N manifest=OFFSET first=PATH": PATH extends to the
 *                        field's end; " part=5-8" follows the count if only these items were run,
 *                        while bad ones are isolated. The rows of a group have "keys=store=north,
 *                        n=3" instead of "first=PATH"
 *   Node                 the number of the worker's node
 *   Result Bytes         the size of the rows that it returned, as they are in the output; 0 if it
 *                        failed
 *   Signal               the number of the signal that ended its worker; empty if none did
 *   Script Line          where it failed, "score.lua:12"; empty if it did not, or nobody knows
 *   Error Item           the item that the error is about, if it may name it: the only one of the
 *                        try, or the one of several that it does name
 */
#ifndef TM_REPORT_TRIES_H
#define TM_REPORT_TRIES_H

#include "record/events.h"
#include "report/log_file.h"
#include "report/pen.h"

struct tm_tries {
  struct tm_log_file file;
  struct tm_stamp stamp; /* many rows per second */
  struct tm_buf scratch; /* for one row */
  size_t newer;          /* which of the last columns the file has */
};

/* Appends to an existing file; the header is written once. Fails like a log file. */
int tm_tries_open(struct tm_tries *t, const struct tm_fs *fs, const char *logs_dir,
                  struct tm_err *err);
/* Collects a row for e->attempt, and writes if enough was collected. */
int tm_tries_add(struct tm_tries *t, const struct tm_event *e, struct tm_err *err);
int tm_tries_flush(struct tm_tries *t, struct tm_err *err);
int tm_tries_close(struct tm_tries *t, struct tm_err *err); /* zeroed: a no-op */

/* "", "error", "timeout", "lost", "canceled". */
const char *tm_tries_category(enum tm_status status);

#endif
