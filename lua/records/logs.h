/* logs.h - reads the log files of a job line by line for a host: logs.c existing lines, follow.c
 * and logs_open.c new lines, with and without blocking, logs_mini_batch.c the report on one
 * mini-batch. Only for lua/records. */
#ifndef TM_RECORDS_LOGS_H
#define TM_RECORDS_LOGS_H

#include "records/disk.h"
#include "report/log_set.h"

struct tm_logs_step {
  char *name, *logs_dir;
  struct tm_log_set *set; /* or NULL */
};

struct tm_logs {
  char *dir;                                  /* the job's, absolute */
  struct TM_ARRAY(struct tm_logs_step) steps; /* those whose lines are passed on */
  struct tm_log_choice choice;
  int (*on_line)(const struct tidemill_log_line *line, void *data);
  void *data;
};

/* Sets the steps and the choice, of a job whose `dir` is set. `o` must live as long as `l`. */
int tm_logs_choose(struct tm_logs *l, const struct tidemill_logs_options *o, struct tm_err *err);
/* Whether the chosen worker and node exist, of a job that has ended. */
int tm_logs_check_names(const struct tm_logs *l, struct tm_err *err);
void tm_logs_release(struct tm_logs *l);
/* Passes on the existing lines of all steps. Returns the last result of the callback. */
int tm_logs_tell(struct tm_logs *l);
/* The same, repeated as long as a process runs the job. */
int tm_logs_follow(struct tm_logs *l, struct tm_err *err);
/* The report on one mini-batch, for tidemill_workspace_logs(). */
int tm_logs_mini_batch(struct tidemill_workspace *ws, const char *job, const char *step,
                       int64_t mini_batch,
                       int (*on_line)(const struct tidemill_log_line *line, void *data), void *data,
                       struct tm_err *err);

#endif
