/* repl.h - the prompt: lines are read, run and their values shown, until the end of input. */
#ifndef TM_CLI_REPL_H
#define TM_CLI_REPL_H

#include <stdbool.h>

#include <tidemill.h>

struct tm_repl_options {
  bool has_no_init;   /* the start-up file is left out */
  const char *file;   /* run first; or NULL */
  char *const *words; /* `arg` of it, arg[0] first */
  size_t words_len;
  /* What makes the console, as tidemill_console_new(), which is what NULL is. */
  int (*open)(void *data, struct tidemill_console **out, struct tidemill_runtime *rt,
              const struct tidemill_console_options *o, struct tm_err *err);
  void *data;
};

/* On a terminal with editing, history and completion; else plain lines, results to standard output and
 * errors to standard error, without a prompt and without escape codes. The exit status: 0; 1 when a piece of plain input
 * failed. */
int tm_repl_run(const struct tm_repl_options *o);

#endif
