/* result.h - the result of a step or a job, as text: for logs/job_result.txt, for the end of the
 * terminal's output, and for `tidemill status`.
 *
 * Status, counts (always with the number of failed items), where the output is, the first distinct
 * errors, and where the rest is.
 *
 * Callers fill a struct tm_result, from a running job (tm_result_add_step) or from the files of one
 * (../lua/records/record.c); the lines are the same.
 */
#ifndef TM_REPORT_RESULT_H
#define TM_REPORT_RESULT_H

#include "base/buf.h"
#include "record/events.h"
#include "report/errors.h"

#define TM_RESULT_ERRORS 5 /* maximum of distinct errors per step */

struct tm_result_output {
  const char *path, *destination; /* destination: NULL or "": none */
};

/* The contents of the lines about a step. A text is NULL or "" if there is none. */
struct tm_result {
  const char *name, *state;
  const char *dir, *logs_dir;
  const char *cause, *waits_for;
  const char *reused_from; /* the job that the result is from */
  bool is_kept;            /* nothing ran: everything had been committed before */
  bool has_no_numbers;     /* the step has not run, so there is nothing more to show */
  bool is_running, needs_help;
  const struct tm_counts *counts;
  int64_t items_total; /* -1: unknown */
  double rate;         /* mini-batches per second; 0: unknown */
  const struct tm_activities *running;
  const struct tm_nodes_now *nodes;       /* of a running step, or NULL */
  const struct tm_result_output *outputs; /* the rows or their folder, then further folders */
  size_t outputs_len;
  const char *error_file;
  const char *errors; /* lines of tm_error_add_text(), with `indent` + 4 blanks */
  int64_t errors_more;
  bool errors_cut;   /* there may be more than errors_more */
  int64_t damage_at; /* the first bad byte of the journal; -1: none */
};

/* Lines about a step, each beginning with `indent` blanks. */
void tm_result_add(struct tm_buf *out, const struct tm_result *r, int indent);
/* The same for a step of this process. `errors` may be NULL. */
void tm_result_add_step(struct tm_buf *out, const struct tm_step_view *step,
                        const struct tm_errors *errors, int indent);
/* The file that has the reason for how a step ended. */
enum tm_start {
  TM_START_ERRORS,  /* user/error.txt */
  TM_START_ITEMS,   /* failed_items.jsonl: the errors were those of earlier sessions */
  TM_START_WORKERS, /* sys/node/<node_id>/_main.txt */
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
/* Lines at the end of a job, each with `indent` blanks: the sum of the nodes that commands have
 * started, and the first lost nodes, each with the reason and its log. Nothing for a job without
 * such nodes. `log_of` returns the log of a node, to free(). */
void tm_result_add_nodes(struct tm_buf *out, const struct tm_job_view *job, int indent,
                         char *(*log_of)(void *data, uint32_t id), void *data);
/* The first line about a job: "Completed: digits, 12.3 s". A negative `elapsed_ns` is left out. */
void tm_result_add_job(struct tm_buf *out, const struct tm_job_view *job, int64_t elapsed_ns);

#endif
