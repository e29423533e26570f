/* foreground.h - an entry script in this process (tidemill_script), over one mini-batch: what `try` and `replay` share.
 *
 * There is one try. Where the script has timeouts, init() and run() that pass theirs are interrupted, and the error says where. What
 * is in a C function then, or waits for a program, is not killed as a worker would be: that is said, with our pid, and who
 * looks at it can look. Rows go to standard output, what the script prints goes to standard error, and so does an error with
 * its stack. A script that ends the program, by os.exit(), has failed whatever the status: a line says so, and the exit status is
 * 1. A script that crashes the program ends it by the signal, after a line that says so. Ctrl-C interrupts the script and shows
 * where it was, unless its step forbids that; a second one ends the program.
 *
 * Caller: tm_foreground_open(); load the script with the options of tm_foreground_options(), and give it to `script`;
 * tm_foreground_place(), its mini-batch, tm_foreground_run(); tm_foreground_close() in every case.
 */
#ifndef TM_CLI_FOREGROUND_H
#define TM_CLI_FOREGROUND_H

#include <signal.h>

#include <tidemill.h>

/* What is left when the script ends the program. It lives as long as the program does. */
struct tm_foreground_exit;

struct tm_foreground {
  struct tidemill_script *script; /* closed by tm_foreground_close(); NULL: none was loaded */
  int out_fd;                     /* standard output, as it was */
  int written;                    /* what tm_cli_write() says of the rows */
  volatile sig_atomic_t ctrl_cs;
  int64_t begun_ns; /* monotonic; of the call that has a timeout */
  int64_t limit_ns; /* of it; 0: none */
  bool has_said_so; /* that it cannot be interrupted */
  const char *call; /* "run()" while it goes on; else NULL */
  struct tm_foreground_exit *exit;
  char words[300]; /* of that: nothing is put together in a signal handler */
  char crash[200]; /* likewise, for a script that crashes the program */
};

/* From here on what is printed goes to standard error. */
void tm_foreground_open(struct tm_foreground *f);
struct tidemill_script_options tm_foreground_options(const char *step, bool no_timeout);
/* The script finds its variables, with temp_dir as TMPDIR. */
void tm_foreground_place(const struct tm_foreground *f);
void tm_foreground_say_folders(const struct tm_foreground *f);
/* init(), run(), shutdown(). The exit status, 0, 1, 3 when rows could not be written, or 130 after Ctrl-C; `what` is the
 * mini-batch, for the words. Negative with words when there is no Lua to run it in. */
int tm_foreground_run(struct tm_foreground *f, const char *what, struct tm_err *err);
/* Folders that hold something stay and are named; the others are removed. */
void tm_foreground_close(struct tm_foreground *f);

#endif
