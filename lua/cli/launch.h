/* launch.h - submits the job of a pipeline, for all commands that submit. execute.c runs it.
 *
 * Caller: fill `o`; tm_launch_init(); make `pipeline`; tm_launch_set_params(); tm_launch_run() or
 * tm_launch_plan(); tm_launch_release() in every case.
 */
#ifndef TM_CLI_LAUNCH_H
#define TM_CLI_LAUNCH_H

#include "cli/execute.h"

struct tm_launch_options {
  struct tm_words params;  /* NAME=VALUE, from the command line */
  const char *params_file; /* values of other parameters, or NULL */
  const char *job_dir;     /* or NULL */
  const char *progress;    /* auto, bar, plain, none; NULL: auto */
  const char *max_workers; /* of all steps together; NULL: not given */
  const char *joblog;      /* a file that gets rows of mini-batches, or NULL */
  const char *report;      /* a file for the report; "": in the job's directory; NULL: none */
  bool resume, keep_failed, accept_changes, verify_input, verify_output, json;
  bool no_reuse;    /* runs every step */
  bool keep_script; /* a resumed job uses its own copy */
};

struct tm_launch {
  struct tm_launch_options o;
  int64_t max_workers; /* 0: not given */
  int argc;            /* of a command that starts a new job, for the job's record; or 0 */
  char **argv;
  char *anew; /* owned; the command that starts a new job like this one; NULL: not known */
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *pipeline;
};

/* Checks the words, and makes a runtime. TM_EUSAGE. */
int tm_launch_init(struct tm_launch *l, const struct tm_cli *cli, struct tm_err *err);
/* Sets the parameters from the file, then those from the command line, which override them. */
int tm_launch_set_params(struct tm_launch *l, struct tm_err *err);
/* Runs the pipeline to the end of the job, with execute.h. */
int tm_launch_run(struct tm_launch *l, const struct tm_execute_hooks *hooks, void *data,
                  struct tm_err *err);
/* Prints what would run to standard output; returns the exit status. TM_EUSAGE with --resume. */
int tm_launch_plan(struct tm_launch *l, bool explain, struct tm_err *err);
void tm_launch_release(struct tm_launch *l);

/* Makes a path of the command line absolute; the caller frees it. NULL and an error: the current
 * directory is gone. */
char *tm_launch_path(const char *given, struct tm_err *err);
/* The exit status if there was no job, or it ended earlier; prints the error. A `rc` of 0 or more
 * is an exit status. */
int tm_launch_status(int rc, const struct tm_err *err);

#endif
