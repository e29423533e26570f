/* execute.h - a job in the foreground: it is opened, reported on the terminal, ended by signals, and its result is said.
 *
 * Used by every command that runs one. Caller: a checked pipeline and a directory; fill in struct tm_execute; tm_execute().
 * From its start on a signal ends the job, not the program: the first lets running mini-batches end, the next kills them.
 */
#ifndef TM_CLI_EXECUTE_H
#define TM_CLI_EXECUTE_H

#include <stdbool.h>

#include "api/own.h"
#include "cli/cli.h"
#include "cli/terminal.h"

/* The words of --progress, NULL-ended. */
extern const char *const tm_progress_modes[];

struct tm_execution;

/* What a command does beside its job, on the job's loop. Each may be NULL. */
struct tm_execute_hooks {
  /* The job has been opened and has not been started. Negative: it is not. */
  int (*on_open)(void *data, struct tm_execution *x, struct tm_err *err);
  /* It has ended and its result has been written. False: the command calls tm_execution_stop() when it too is done. */
  bool (*on_ended)(void *data, struct tm_execution *x);
  /* A further signal came after the job's end. */
  void (*on_hurry)(void *data, struct tm_execution *x);
  /* Behind on_open, also a failed one: what it opened on the loop is closed. */
  void (*on_close)(void *data, struct tm_execution *x);
};

struct tm_execute {
  const struct tm_cli *cli;
  const struct tm_pipeline *pipeline; /* checked; the caller's */
  const char *dir;                    /* of the job, absolute */
  /* As of struct tm_job_options. */
  bool resume, keep_failed, accept_changes, verify_input, has_stdin, no_reuse, keep_script;
  const char *workspace;
  int64_t max_workers;
  const char *progress; /* a word of tm_progress_modes; NULL: auto */
  bool json;            /* the result on standard output */
  const char *
      again; /* the command that goes on with the job when it is not Completed; or NULL: nothing is said */
  const struct tm_execute_hooks *hooks; /* or NULL */
  void *data;                           /* of the hooks */
};

/* One job while it is open, for hooks. */
struct tm_execution {
  const struct tm_execute *o;
  struct tidemill_runtime *rt;
  struct tm_terminal terminal;
  struct tm_signal signals[3];
  struct tidemill_job *job; /* listeners are added in on_open */
  int64_t canceled_ns;      /* monotonic; 0: not */
  bool has_ended;           /* the job has */
  int status;               /* overrides the exit status of the job; 0: does not */
};

/* Opens the job, runs it to its end and closes it. The exit status; negative, with words, when it could not be opened. */
int tm_execute(const struct tm_execute *o, struct tm_err *err);
/* As Ctrl-C, without its words: the first time, and half a second later or more. */
void tm_execution_cancel(struct tm_execution *x);
void tm_execution_stop(struct tm_execution *x);

/* The exit status of what ended before or without a job. */
int tm_execute_status_of(int rc);

#endif
