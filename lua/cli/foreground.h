/* foreground.h - runs an entry script in this process (tidemill_script) over one mini-batch, for
 * `try` and `replay`.
 *
 * There is one try. If the script has timeouts, an init() or run() that exceeds its timeout is
 * interrupted, and the error says where. If the call is in a C function then, or waits for a
 * program, nobody kills it as a job would kill its worker: a message says so with our pid, so that
 * the user can examine the process. Rows go to standard output; prints of the script and an error
 * with its stack go to standard error. A script that ends the program by os.exit() has failed
 * whatever the status is: a message says so, and the exit status is 1. A script that crashes the
 * program ends it by the signal, after a message. Ctrl-C interrupts the script and shows where it
 * was, unless its step forbids that; a second Ctrl-C ends the program.
 *
 * Caller: tm_foreground_open(); load the script with the options of tm_foreground_options(), and
 * store it in `script`; tm_foreground_place(), its mini-batch, tm_foreground_run();
 * tm_foreground_close() in every case.
 */
#ifndef TM_CLI_FOREGROUND_H
#define TM_CLI_FOREGROUND_H

#include <signal.h>

#include <tidemill.h>

#include "base/err.h"

/* Cleans up if the script ends the program. It lives as long as the program does. */
struct tm_foreground_exit;

struct tm_foreground {
  struct tidemill_script *script; /* tm_foreground_close() closes it; NULL: none was loaded */
  int out_fd;                     /* the original standard output */
  int written;                    /* the result of tm_cli_write() for the rows */
  bool has_failed_items;          /* run() returned, and items count as failed */
  bool names_options;             /* the user gave the parameters as options: messages name these */
  volatile sig_atomic_t ctrl_cs;
  int64_t begun_ns; /* monotonic; of the call that has a timeout */
  int64_t limit_ns; /* the timeout; 0: none */
  bool has_said_so; /* it has reported that the call cannot be interrupted */
  const char *call; /* "run()" during the call; else NULL */
  struct tm_foreground_exit *exit;
  char words[300]; /* the message for that, because a signal handler must not format one */
  char crash[200]; /* likewise, for a script that crashes the program */
};

/* From now on, printed text goes to standard error. */
void tm_foreground_open(struct tm_foreground *f);
/* The options for loading the script of `f`. */
struct tidemill_script_options tm_foreground_options(struct tm_foreground *f, const char *step,
                                                     bool no_timeout);
/* Sets the script's variables, with temp_dir as TMPDIR. */
void tm_foreground_place(const struct tm_foreground *f);
void tm_foreground_say_folders(const struct tm_foreground *f);
/* Calls init(), run(), shutdown(). Returns the exit status: 0, 1 if the script or an item failed, 3
 * if rows could not be written, or 130 after Ctrl-C. `what` names the mini-batch in messages.
 * Negative and an error if there is no Lua to run it in. */
int tm_foreground_run(struct tm_foreground *f, const char *what, struct tm_err *err);
/* Keeps folders that are not empty, and shows them; removes the others. */
void tm_foreground_close(struct tm_foreground *f);

#endif
