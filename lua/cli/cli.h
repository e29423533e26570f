/* cli.h - what the commands of the program share.
 *
 * Messages and progress go to standard error, results to standard output. Exit status: 0 Completed,
 * 1 Failed, 2 wrong usage or definition, 3 system error, 130 Canceled.
 */
#ifndef TM_CLI_CLI_H
#define TM_CLI_CLI_H

#include <tidemill.h>

#include "cli/options.h"

struct tm_command;
struct tm_fs;

struct tm_cli {
  /* the table, in the order of the overview; ends with NULL. Those without a summary are
   * internal */
  const struct tm_command *const *commands;
  const struct tm_fs *fs; /* file calls of jobs; tests replace them */
  bool has_no_stdout;     /* standard output was closed at the start; now it is /dev/null */
};

struct tm_command {
  const char *name;
  /* argv[0] is the name of the command. Returns the exit status. */
  int (*run)(const struct tm_cli *cli, int argc, char **argv);
  const char *usage;   /* the words after the name */
  const char *summary; /* one line; NULL: internal, not listed */
  const struct tm_option *options;
  size_t options_len;
  unsigned parameters; /* groups of parameters that are also options: TM_TAKES() */
  const char *help;    /* between the summary and the options; or NULL */
  bool takes_all;      /* all words after the name belong to the command, even --help */
};

/* Of a clock that never jumps. May be called in a signal handler. */
int64_t tm_cli_now_ns(void);
/* Adds text that may come from a user's file: keeps line breaks and tabs, and escapes everything
 * else that moves the cursor of a terminal. */
void tm_cli_add_shown(struct tm_buf *out, const char *s, size_t n);
/* Prints "tidemill: <message>" on standard error. */
void tm_cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints the error of wrong usage and the command's usage; returns the exit status. */
int tm_cli_fail_usage(const struct tm_command *command, const struct tm_err *err);

/* The exit status of a command: `rc` if it is 0 or more; otherwise prints the error. */
int tm_cli_end(int rc, const struct tm_err *err);
/* For a thread that could not be started, with `code` of errno: the error names the limits that may
 * be to blame. Returns -code. */
int tm_cli_fail_thread(int code, struct tm_err *err);
/* Writes all of the text to standard output. 0; 3, with a message; or TM_CLI_NO_READER, without
 * one. Texts may hold names and contents of files, so a terminal gets control characters as \x1B.
 * At the end of the program, other output (such as Lua's print) is checked in the same way: a
 * result that nobody got is not a success. */
int tm_cli_write(const struct tm_buf *text);
int tm_cli_write_and_release(struct tm_buf *text);
/* The same for text that is our own, such as pages of the manual: keeps its bold letters on a
 * terminal. */
int tm_cli_write_styled(const struct tm_buf *text);
int tm_cli_flush(void);      /* the same without a text */
#define TM_CLI_NO_READER 141 /* a shell's exit status for a program that SIGPIPE ended */

/* Checks that JOB is the only word in `rest` (store/jobs.h). Without it, adds "latest". TM_EUSAGE:
 * there are more words. */
int tm_cli_one_job(struct tm_words *rest, struct tm_err *err);
/* How a command uses a workspace. A workspace of another user may only be read (store/trust.h). */
enum tm_cli_use { TM_CLI_READS, TM_CLI_USES, TM_CLI_MAKES };
/* Opens the workspace of the current directory, and prints its messages. The caller closes it. */
int tm_cli_open_workspace(const struct tm_cli *cli, struct tidemill_workspace **out,
                          enum tm_cli_use use, struct tm_err *err);
/* The same, or a workspace without a path, for jobs that are named by their directories. */
struct tidemill_workspace *tm_cli_nearest_workspace(const struct tm_cli *cli);
/* The caller closes the record. */
int tm_cli_open_record(const struct tm_cli *cli, struct tidemill_record **out, const char *job,
                       struct tm_err *err);
/* Adds "tidemill 0.2.0, LuaJIT 2.1.0". */
void tm_cli_add_version(struct tm_buf *out);
/* The path of this program; the caller frees it. NULL and an error. */
char *tm_cli_program(struct tm_err *err);
/* tidemill_head(), with the options of the program in messages. */
int tm_cli_head(const struct tidemill_head_options *options, struct tm_err *err);
/* Makes a runtime whose keeper and workers run this program, and whose pipeline files print to its
 * output. Prints their messages. The caller closes it. */
int tm_cli_open_runtime(const struct tm_cli *cli, struct tidemill_runtime **out,
                        struct tm_err *err);
/* Finds the directory of a job that the caller will use (store/trust.h); the caller frees it. NULL
 * and an error. */
char *tm_cli_find_job(const struct tm_cli *cli, const char *given, struct tm_err *err);

const struct tm_command *tm_command_find(const struct tm_cli *cli, const char *name); /* or NULL */
/* "usage: tidemill run PIPELINE.lua ..." */
void tm_command_add_usage(struct tm_buf *out, const struct tm_command *c);

/* Commands with their own files. */
extern const struct tm_command tm_command_run;
extern const struct tm_command tm_command_map;
extern const struct tm_command tm_command_try;
extern const struct tm_command tm_command_head;
extern const struct tm_command tm_command_replay;
extern const struct tm_command tm_command_resume;
extern const struct tm_command tm_command_status;
extern const struct tm_command tm_command_report;
extern const struct tm_command tm_command_cancel;
extern const struct tm_command tm_command_logs;
extern const struct tm_command tm_command_portal;
extern const struct tm_command tm_command_jobs;
extern const struct tm_command tm_command_clean;
extern const struct tm_command tm_command_verify;
extern const struct tm_command tm_command_version;
extern const struct tm_command tm_command_graph;
extern const struct tm_command tm_command_dataset;
extern const struct tm_command tm_command_repl;
extern const struct tm_command tm_command_lua;
extern const struct tm_command tm_command_help;

#endif
