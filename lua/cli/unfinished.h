/* unfinished.h - waits for the jobs that a script has submitted and not waited for.
 *
 * The first Ctrl-C (or SIGTERM, or SIGHUP) cancels them: running mini-batches may end. The second
 * one kills these, the third one the program.
 *
 * Caller: tm_unfinished_init() before the first script runs, whose jobs get its screen; after the
 * last one, fill in the jobs, and tm_unfinished_wait(); tm_unfinished_release() when the jobs are
 * closed.
 */
#ifndef TM_CLI_UNFINISHED_H
#define TM_CLI_UNFINISHED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <tidemill.h>

#include "cli/terminal/terminal.h"

struct tm_unfinished {
  struct tm_terminal terminal;
  struct tidemill_screen screen; /* shows nothing until the wait begins */
  bool is_waiting;
  /* The running jobs of one runtime. Zeroed: there are none. */
  struct tidemill_runtime *rt;
  size_t len;
  struct tidemill_job *(*job)(void *data, size_t i); /* NULL: a listener has closed it */
  void *data;
  volatile sig_atomic_t presses; /* of Ctrl-C */
  volatile int64_t pressed_ns;   /* the last one; monotonic */
};

/* `u` must stay where it is. */
void tm_unfinished_init(struct tm_unfinished *u);
/* Returns the exit status: 0 if all of them are Completed, or there are none; else that of a job
 * that is not. */
int tm_unfinished_wait(struct tm_unfinished *u);
void tm_unfinished_release(struct tm_unfinished *u); /* may be called again */

#endif
