/* logs_show.h - what `tidemill logs` shows of a job, on standard output. Within lua/cli. */
#ifndef TM_CLI_LOGS_SHOW_H
#define TM_CLI_LOGS_SHOW_H

#include "base/mem.h"
#include "cli/cli.h"
#include "report/log_set.h"

struct tm_logs_step {
  char *name, *logs_dir;
  struct tm_log_set *set; /* or NULL */
};

struct tm_logs {
  char *dir;                                  /* of the job, absolute */
  struct TM_ARRAY(struct tm_logs_step) steps; /* those that are shown */
  struct tm_log_choice choice;
  bool shows_names; /* of steps, before each line */
  struct tm_buf out;
};

/* Writes what there is to tell now of all steps. 0, or 3: standard output cannot be written to, which is said. */
int tm_logs_show(struct tm_logs *l);
/* All that is known of choice.mini_batch: its tries, with what their workers logged meanwhile. The exit status. Negative with
 * words: there is no such mini-batch. */
int tm_logs_show_mini_batch(struct tm_logs *l, struct tm_err *err);
/* tm_logs_show(), again and again, until nobody runs the job any more. The exit status, or negative with words. */
int tm_logs_follow(struct tm_logs *l, struct tm_err *err);

#endif
