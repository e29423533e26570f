/* result.h - the result of a step or a job, as text: for logs/job_result.txt and for the end of the
 * terminal's output.
 *
 * Status, counts (always with the number of failed items), where the output is, the first distinct
 * errors, and where the rest is.
 */
#ifndef TM_REPORT_RESULT_H
#define TM_REPORT_RESULT_H

#include "base/buf.h"
#include "record/events.h"
#include "report/errors.h"

#define TM_RESULT_ERRORS 5 /* maximum of distinct errors per step */

/* Lines about a step, each beginning with `indent` blanks. `errors` may be NULL. */
void tm_result_add_step(struct tm_buf *out, const struct tm_step_view *step,
                        const struct tm_errors *errors, int indent);
/* The file that has the reason for how a step ended. */
enum tm_start {
  TM_START_ERRORS,  /* user/error.txt */
  TM_START_ITEMS,   /* failed_items.jsonl: the errors were those of earlier sessions */
  TM_START_WORKERS, /* sys/node/0/_main.txt */
  TM_START_SYSTEM,  /* sys/error/supervisor.txt */
  TM_START_MASTER,  /* sys/master_role.txt */
  TM_START_README,
};
/* A pure decision. `errors`: the number of distinct errors in this session. */
enum tm_start tm_result_start(const struct tm_step_view *step, size_t errors);
/* One line that names this file, for log files. Not for a terminal, whose output names these places
 * anyway. */
void tm_result_add_start(struct tm_buf *out, const struct tm_step_view *step,
                         const struct tm_errors *errors);

/* "2 by an error, 0 by a timeout, 1 with their worker": how many tries have failed, and how. */
void tm_result_add_tries(struct tm_buf *out, const struct tm_counts *counts);
/* To append to the number of failed items: ", or more: the rows of 1 failed mini-batch could not be
 * counted". Nothing for 0. */
void tm_result_add_uncounted(struct tm_buf *out, int64_t uncounted);
/* The first line about a job: "Completed: digits, 12.3 s". A negative `elapsed_ns` is left out. */
void tm_result_add_job(struct tm_buf *out, const struct tm_job_view *job, int64_t elapsed_ns);

#endif
