/* cmd_repl.h - the prompt: reads lines, runs them and shows their values, until the end of input.
 */
#ifndef TM_CLI_CMD_REPL_H
#define TM_CLI_CMD_REPL_H

#include <stdbool.h>

#include <tidemill.h>

#include "base/err.h"

struct tm_cli;

struct tm_repl_options {
  const struct tm_cli *cli; /* for help() on commands */
  bool has_no_init;         /* does not run the start-up file */
  const char *file;         /* runs it first; or NULL */
  char *const *words;       /* its `arg`, arg[0] first */
  size_t words_len;
  /* Makes the console; NULL: tidemill_console_new(). */
  int (*open)(void *data, struct tidemill_console **out, struct tidemill_runtime *rt,
              const struct tidemill_console_options *o, struct tm_err *err);
  void *data;
};

/* On a terminal, with editing, history and completion. Otherwise reads plain lines, without a
 * prompt and escape codes; results go to standard output, errors to standard error. Returns the
 * exit status: 0, or 1 if a piece of plain input failed. */
int tm_repl_run(const struct tm_repl_options *o);

#endif
