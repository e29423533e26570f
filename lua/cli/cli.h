/* cli.h - the program: its commands in a table.
 *
 * Messages and progress go to standard error, results to standard output. Exit status: 0 Completed, 1 Failed, 2 wrong
 * usage or definition, 3 system error, 130 Canceled.
 */
#ifndef TM_CLI_CLI_H
#define TM_CLI_CLI_H

#include "cli/options.h"

struct tm_fs;

struct tm_cli {
  const struct tm_fs *fs; /* what jobs write through; tests put another one in its place */
  bool has_no_stdout;     /* it was closed when the program started, and is /dev/null */
};

struct tm_command {
  const char *name;
  /* argv[0] is the name of the command. Returns the exit status. */
  int (*run)(const struct tm_cli *cli, int argc, char **argv);
  const char *usage;   /* what follows the name */
  const char *summary; /* one line; NULL: internal, not listed */
  const struct tm_option *options;
  size_t options_len;
  unsigned parameters; /* groups of parameters that are options, too: TM_TAKES() */
  /* The help below the summary; NULL: a line for each option. */
  void (*add_help)(struct tm_buf *out);
  bool takes_all; /* every word behind the name is the command's, also --help */
};

/* All of main(). */
int tm_cli_main(int argc, char **argv, const struct tm_fs *fs);

/* Adds what a user's file may have said: line breaks and tabs stay, nothing else moves the cursor of a terminal. */
void tm_cli_add_shown(struct tm_buf *out, const char *s, size_t n);
/* Says "tidemill: <words>" on standard error. */
void tm_cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same with the words of `err`, for wrong usage with the command's usage below; returns the exit status. */
int tm_cli_fail_usage(const struct tm_command *command, const struct tm_err *err);

/* The exit status for the end of a command: `rc` of 0 or more is one; else the words are said. */
int tm_cli_end(int rc, const struct tm_err *err);
/* Writes to standard output, all of it: 0; or 3, which is said; or TM_CLI_NO_READER, quietly. On a terminal control characters
 * are written as \x1B, since texts hold names of files and what files say. What others write there (Lua's
 * print, say) is looked at in the same way when the program ends: a result that nobody got is no success. */
int tm_cli_write(const struct tm_buf *text);
#define TM_CLI_NO_READER 141 /* what a shell shows for a program that SIGPIPE ended */

/* JOB on the command line (store/jobs.h), the one word that is left over. Without it the job is
 * "latest", which is added. TM_EUSAGE: there are more words. */
int tm_cli_one_job(struct tm_words *rest, struct tm_err *err);
/* What a command does with a workspace. One of another user is found only to be read (store/trust.h). */
enum tm_cli_use { TM_CLI_READS, TM_CLI_USES, TM_CLI_MAKES };
/* The workspace of this folder; what it has to say is said. To tidemill_workspace_close(). */
int tm_cli_open_workspace(const struct tm_cli *cli, struct tidemill_workspace **out,
                          enum tm_cli_use use, struct tm_err *err);
/* The same, or one without a place, for jobs that are named by their directories. */
struct tidemill_workspace *tm_cli_nearest_workspace(const struct tm_cli *cli);
/* To tidemill_record_close(). */
int tm_cli_open_record(const struct tm_cli *cli, struct tidemill_record **out, const char *job,
                       struct tm_err *err);
/* Adds "tidemill 0.1.0, LuaJIT 2.1.0". */
void tm_cli_add_version(struct tm_buf *out);
/* Where this program is, to free(); NULL with words. */
char *tm_cli_program(struct tm_err *err);
/* One whose child and workers are this program, and whose pipeline files print as they do in it; what there is to say of them is
 * said. To tidemill_runtime_close(). */
int tm_cli_open_runtime(const struct tm_cli *cli, struct tidemill_runtime **out,
                        struct tm_err *err);
/* The directory of a job that is going to be used (store/trust.h), to free(); NULL with words. */
char *tm_cli_find_job(const struct tm_cli *cli, const char *given, struct tm_err *err);

/* The table of commands, in the order of the overview; NULL at its end. Those without a summary are internal. */
const struct tm_command *tm_command_at(size_t i);
const struct tm_command *tm_command_find(const char *name); /* or NULL */

/* The commands with files of their own. */
extern const struct tm_command tm_command_run;
extern const struct tm_command tm_command_map;
extern const struct tm_command tm_command_try;
extern const struct tm_command tm_command_head;
extern const struct tm_command tm_command_replay;
extern const struct tm_command tm_command_resume;
extern const struct tm_command tm_command_status;
extern const struct tm_command tm_command_cancel;
extern const struct tm_command tm_command_logs;
extern const struct tm_command tm_command_jobs;
extern const struct tm_command tm_command_clean;
extern const struct tm_command tm_command_verify;
extern const struct tm_command tm_command_graph;
extern const struct tm_command tm_command_dataset;
extern const struct tm_command tm_command_repl;
extern const struct tm_command tm_command_lua;
extern const struct tm_command tm_command_help;

#endif
