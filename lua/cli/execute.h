/* execute.h - runs a job in the foreground: submits it, reports on the terminal, handles signals,
 * and shows the result.
 *
 * Every command that runs a job uses it. Caller: a runtime and a pipeline; fill in struct
 * tm_execute; tm_execute(). From its start on, a signal ends the job, not the program: the first
 * one lets running mini-batches end, the next one kills them.
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
#include "cli/terminal/terminal.h"
#include "records/rerun.h"

/* The values of --progress, NULL-ended. */
extern const char *const tm_progress_modes[];

struct tm_execution;

/* What a command does while its job runs. Each may be NULL. */
struct tm_execute_hooks {
  /* The job was submitted and has not begun. Negative: it will not begin. */
  int (*on_open)(void *data, struct tm_execution *x, struct tm_err *err);
  void (*on_event)(const struct tidemill_event *e, void *data);
  /* Called between two turns of the job's loop: does what can be done without waiting, and sets `p`
   * to what to wait for (fd -1: nothing). Returns after how many milliseconds to call it again at
   * the latest; -1: never. */
  int (*on_turn)(void *data, struct tm_execution *x, struct pollfd *p);
  /* After the job's end: whether the command has ended too. Otherwise asks again after each
   * turn. */
  bool (*is_done)(void *data, const struct tm_execution *x);
  /* A further signal came after the job's end. */
  void (*on_hurry)(void *data, struct tm_execution *x);
  /* The result was shown, and the job is still open. Returns `status`, or another exit status;
   * negative and an error. */
  int (*on_over)(void *data, struct tm_execution *x, int status, struct tm_err *err);
  /* Adds a text for the terminal as the user of this command is to read it. */
  void (*add_message)(struct tm_buf *out, const char *text, size_t len);
  /* As in struct tm_resume_command; by default "tidemill resume DIR". */
  void (*add_again)(void *data, struct tm_buf *out, const char *dir, bool accepts);
  tm_rerun_own add_rerun; /* of the command that started the job; NULL: it has a pipeline file */
};

struct tm_execute {
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *pipeline;
  struct tidemill_job_options o; /* without screen, on_event and data */
  const char *progress;          /* one of tm_progress_modes; NULL: auto */
  bool json;                     /* prints the result on standard output */
  const char *anew; /* the command that starts a new job like this one; NULL: not known */
  /* The file for the report, which is written when the job is closed; "": in the job's directory;
   * NULL: none. */
  const char *report;
  const struct tm_execute_hooks *hooks;
  void *data; /* for the hooks */
};

/* One job while it is open, for hooks. */
struct tm_execution {
  const struct tm_execute *o;
  struct tm_terminal terminal;
  int signals;          /* signalfd */
  sigset_t before;      /* the signals that were blocked before */
  pthread_t watch;      /* reads the signals while the job is submitted */
  int submitted;        /* eventfd: ends the watch */
  atomic_bool is_early; /* a signal came during the submission */
  struct tidemill_job *job;
  int64_t canceled_ns; /* monotonic: the last cancellation; 0: none */
  bool is_killing;     /* canceled for the second time */
  int64_t kill_ns;     /* monotonic: when to kill what still runs; 0: never */
  bool has_ended;      /* the job has ended */
  bool is_over;        /* everything has ended, whatever is_done() says */
  int status;          /* overrides the exit status of the job; 0: does not */
};

/* Submits the job, runs it to its end and closes it. Returns the exit status; negative and an error
 * if it could not be submitted. */
int tm_execute(const struct tm_execute *o, struct tm_err *err);
/* Acts like Ctrl-C without its message, and like a second one half a second later. */
void tm_execution_end(struct tm_execution *x);

/* Shows the command that resumes the ended job, or runs its failed items again, if there is one.
 * `o`: what it was run with; NULL: a script ran it. */
void tm_execute_say_next(struct tidemill_job *job, const struct tm_execute *o);

/* The exit status if there was no job, or it ended before. */
int tm_execute_status_of(int rc);

#endif
