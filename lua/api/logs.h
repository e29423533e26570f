/* logs.h - the log files of a job, told to a host line by line: logs.c what is there, follow.c what comes,
 * logs_mini_batch.c what is of one mini-batch. Within lua/api. */
#ifndef TM_API_LOGS_H
#define TM_API_LOGS_H

#include "api/disk.h"
#include "report/log_set.h"

struct tm_logs_step {
  char *name, *logs_dir;
  struct tm_log_set *set; /* or NULL */
};

struct tm_logs {
  char *dir;                                  /* of the job, absolute */
  struct TM_ARRAY(struct tm_logs_step) steps; /* those that are told of */
  struct tm_log_choice choice;
  int (*on_line)(void *data, const struct tidemill_log_line *line);
  void *data;
};

/* Tells what there is to tell now of all steps; what the callback returned last. */
int tm_logs_tell(struct tm_logs *l);
/* The same, again and again, until nobody runs the job any more. */
int tm_logs_follow(struct tm_logs *l, struct tm_err *err);
/* All there is of one mini-batch, as of tidemill_workspace_logs(). */
int tm_logs_mini_batch(struct tidemill_workspace *ws, const char *job, const char *step,
                       int64_t mini_batch,
                       int (*on_line)(void *data, const struct tidemill_log_line *line), void *data,
                       struct tm_err *err);

#endif
