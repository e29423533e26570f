/* launch.h - from a pipeline to its job: what the commands that submit share. The job itself is execute.c's.
 *
 * Caller: fill `o`; tm_launch_init(); make `pipeline`; tm_launch_set_params(); tm_launch_run() or tm_launch_plan();
 * tm_launch_release() in every case.
 */
#ifndef TM_CLI_LAUNCH_H
#define TM_CLI_LAUNCH_H

#include "cli/execute.h"

struct tm_launch_options {
  struct tm_words params;  /* NAME=VALUE, of the command line */
  const char *params_file; /* values of others, or NULL */
  const char *job_dir;     /* or NULL */
  const char *progress;    /* auto, bar, plain, none; NULL: auto */
  const char *max_workers; /* of all steps together; NULL: not given */
  bool resume, keep_failed, accept_changes, verify_input, verify_output, json;
  bool no_reuse;    /* every step is run */
  bool keep_script; /* a job that is resumed runs its own copy */
};

struct tm_launch {
  struct tm_launch_options o;
  int64_t max_workers; /* 0: not given */
  struct tidemill_runtime *rt;
  struct tidemill_pipeline *pipeline;
};

/* Whether the words are well; a runtime. TM_EUSAGE. */
int tm_launch_init(struct tm_launch *l, const struct tm_cli *cli, struct tm_err *err);
/* What stands in the file of parameters, and over it those of the command line. */
int tm_launch_set_params(struct tm_launch *l, struct tm_err *err);
/* Runs the pipeline to the end of the job, as of execute.h. */
int tm_launch_run(struct tm_launch *l, const struct tm_execute_hooks *hooks, void *data,
                  struct tm_err *err);
/* What would be run, to standard output; the exit status. TM_EUSAGE beside --resume. */
int tm_launch_plan(struct tm_launch *l, bool explain, struct tm_err *err);
void tm_launch_release(struct tm_launch *l);

/* A path of the command line, absolute, to free(); NULL with words: the current directory is gone. */
char *tm_launch_path(const char *given, struct tm_err *err);
/* The exit status of what ended before or without a job; says the words. `rc` of 0 or more is one. */
int tm_launch_status(int rc, const struct tm_err *err);

#endif
