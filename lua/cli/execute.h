/* execute.h - a job in the foreground: it is submitted, reported on the terminal, ended by signals, and its result is said.
 *
 * Used by every command that runs one. Caller: a runtime and a pipeline; fill in struct tm_execute; tm_execute(). From its start on
 * a signal ends the job, not the program: the first lets running mini-batches end, the next kills them.
 */
#ifndef TM_CLI_EXECUTE_H
#define TM_CLI_EXECUTE_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <tidemill.h>

#include "cli/cli.h"
#include "cli/terminal.h"

/* The words of --progress, NULL-ended. */
extern const char *const tm_progress_modes[];

struct tm_execution;

/* What a command does beside its job. Each may be NULL. */
struct tm_execute_hooks {
  /* The job has been submitted and has not begun. Negative: it does not. */
  int (*on_open)(void *data, struct tm_execution *x, struct tm_err *err);
  void (*on_event)(void *data, const struct tidemill_event *e);
  /* Between two turns of the job's loop: what can be done without waiting is done, and `p` is filled with what is then waited for
   * (fd -1: nothing). After how many milliseconds it is to be called again at the latest; -1: never. */
  int (*on_turn)(void *data, struct tm_execution *x, struct pollfd *p);
  /* The job has ended. Whether the command has: else it is asked again after each turn. */
  bool (*is_done)(void *data, const struct tm_execution *x);
  /* A further signal came after the job's end. */
  void (*on_hurry)(void *data, struct tm_execution *x);
  /* All has been said of the job, which is still open: `status`, or another one in its place; negative with words. */
  int (*on_over)(void *data, struct tm_execution *x, int status, struct tm_err *err);
  /* As of struct tm_resume_command; else "tidemill resume DIR". */
  void (*add_again)(void *data, struct tm_buf *out, const char *dir, bool accepts);
  /* The command that began the job, for a job without a pipeline file; `only_failed`: over the failed items of this job, or NULL. */
  void (*add_rerun)(void *data, struct tm_buf *out, const char *only_failed);
};

struct tm_execute {
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *pipeline;
  struct tidemill_job_options o; /* but screen, on_event and data */
  const char *progress;          /* a word of tm_progress_modes; NULL: auto */
  bool json;                     /* the result on standard output */
  const struct tm_execute_hooks *hooks;
  void *data; /* of the hooks */
};

/* One job while it is open, for hooks. */
struct tm_execution {
  const struct tm_execute *o;
  struct tm_terminal terminal;
  int signals;          /* signalfd */
  sigset_t before;      /* what was blocked */
  pthread_t watch;      /* while the job is submitted: reads the signals */
  int submitted;        /* eventfd: ends the watch */
  atomic_bool is_early; /* a signal came meanwhile */
  struct tidemill_job *job;
  int64_t canceled_ns; /* monotonic; the last time; 0: not */
  bool is_killing;     /* for the second time */
  int64_t kill_ns;     /* likewise: when what still runs is killed; 0: never */
  bool has_ended;      /* the job has */
  bool is_over;        /* all is, whatever is_done() says */
  int status;          /* overrides the exit status of the job; 0: does not */
};

/* Submits the job, runs it to its end and closes it. The exit status; negative, with words, when it could not be submitted. */
int tm_execute(const struct tm_execute *o, struct tm_err *err);
/* As Ctrl-C, without its words, and as once more half a second later. */
void tm_execution_end(struct tm_execution *x);

/* The exit status of what ended before or without a job. */
int tm_execute_status_of(int rc);

#endif
