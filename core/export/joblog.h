/* joblog.h - a step as GNU parallel's --joblog describes jobs: a row for each mini-batch that has
 * ended, for the try that decided its outcome (deciding.h). A public format.
 *
 * Columns, with a tab between them: Seq, Host, Starttime, JobRuntime, Send, Receive, Exitval,
 * Signal, Command.
 *
 *   Seq          the number of the mini-batch, from 1
 *   Host         the address of the node; ":", which is GNU parallel's name for this machine, if it
 *                is not known
 *   Starttime    when the try began, in seconds since the epoch, "1769903998.123"; "0.000": the
 *                worker did not report that
 *   JobRuntime   seconds, "     0.123"
 *   Send         0
 *   Receive      the size of the mini-batch's result in bytes
 *   Exitval      0: the mini-batch has succeeded; 1: it has failed; -1: likewise, by a timeout
 *   Signal       of a mini-batch that has failed: the signal that ended the worker; otherwise 0
 *   Command      runs the mini-batch again
 *
 * A mini-batch of which some items failed although run() returned has succeeded, as in the counts
 * of `tidemill status`.
 */
#ifndef TM_EXPORT_JOBLOG_H
#define TM_EXPORT_JOBLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/table_faults.h"

struct tm_joblog_row {
  int64_t mini_batch;
  const char *host; /* "" or NULL: not known */
  int64_t begin_wall_ns, elapsed_ns, bytes;
  bool has_succeeded, is_timeout;
  int64_t signal;
};

/* The command of a row, but for the number of its mini-batch; the caller frees both. */
struct tm_joblog_command {
  char *before, *after;
};
/* `step` NULL: the job has one step. */
struct tm_joblog_command tm_joblog_command(const char *job_dir, const char *step);
void tm_joblog_command_release(struct tm_joblog_command *c);

#define TM_JOBLOG_HEADER                                                                           \
  "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
void tm_joblog_add(struct tm_buf *out, const struct tm_joblog_row *row,
                   const struct tm_joblog_command *command);

/* Gets pieces of text; a number other than 0 ends the writing, which returns it. */
struct tm_text_sink {
  int (*write)(void *data, const char *text, size_t len);
  void *data;
};
struct tm_joblog_written {
  int64_t rows;
  struct tm_table_faults tries, lives; /* of the tables that were read */
};
/* Writes the rows of the step that has its logs in `logs_dir`, in the order in which its
 * mini-batches ended, without a header. Reads the table of tries twice, and keeps 9 bytes for each
 * decision. */
int tm_joblog_write(const char *logs_dir, const struct tm_joblog_command *command,
                    const struct tm_text_sink *sink, struct tm_joblog_written *out,
                    struct tm_err *err);

#endif
