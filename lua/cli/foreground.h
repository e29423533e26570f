/* foreground.h - one mini-batch in this process: what `try` and `replay` share.
 *
 * No job, no worker: one try, in folders made for it. Where setup has timeouts, init() and run() that pass theirs are
 * interrupted, and the error says where. What is in a C function then, or waits for a program, is not killed as a worker would
 * be: that is said, with our pid, and who looks at it can look. Rows go to standard output, what the script prints
 * goes to standard error, and so does an error with its stack. Ctrl-C interrupts the script and shows where it was, unless
 * setup.is_interruptible has been cleared; a second one ends the program.
 *
 * Caller: zero the struct; tm_foreground_open(); fill what of `setup` is not the folders'; tm_foreground_run();
 * tm_foreground_close() in every case.
 */
#ifndef TM_CLI_FOREGROUND_H
#define TM_CLI_FOREGROUND_H

#include <signal.h>

#include "agent/script.h"
#include "base/err.h"
#include "data/entry_load.h"
#include "lua/script_folders.h"

struct tm_foreground {
  struct tm_script_folders folders;
  /* What it points to is the caller's, but for worker_name, node_id and the folders. */
  struct tm_setup setup;
  struct tm_script script;
  struct tm_script_error error;
  bool has_header; /* the columns of a data frame are named above its rows */
  struct tm_extras extras;
  struct tm_entry_loader *entries; /* of a mini-batch of archives */
  struct tm_buf rows;
  int out_fd;  /* standard output, as it was */
  int written; /* what tm_cli_write() says of the rows */
  volatile sig_atomic_t ctrl_cs;
  int64_t grace_ns; /* from the interruption to the words about it; interrupt_grace */
  int64_t begun_ns; /* monotonic; of the call that has a timeout */
  int64_t limit_ns; /* of it; 0: none */
  bool has_said_so; /* that it cannot be interrupted */
  char words[300];  /* of that: nothing is put together in a signal handler */
};

/* Fresh folders below TMPDIR, or /tmp, whose name begins with "tidemill-<kind>-". */
int tm_foreground_open(struct tm_foreground *f, const char *kind, struct tm_err *err);
/* load, init(), run(), shutdown(), with temp_dir as TMPDIR. The exit status, 0, 1, 3 when rows could not be written, or 130 after Ctrl-C; `what` is the mini-batch, for the words. Negative with words
 * when there is no Lua to run it in. */
int tm_foreground_run(struct tm_foreground *f, const struct tm_run_call *call, const char *what,
                      struct tm_err *err);
/* Folders that hold something stay and are named; the others are removed. */
void tm_foreground_close(struct tm_foreground *f);

#endif
