/* launch.h - from a pipeline file to its job: what `run` and `resume` share. The job itself is execute.c's.
 *
 * Caller: fill `o`; tm_launch_init(); tm_launch_load(); tm_launch_run() with the job's directory; tm_launch_release() in
 * every case. What is wrong with a definition is said by load, before anything has been made.
 */
#ifndef TM_CLI_LAUNCH_H
#define TM_CLI_LAUNCH_H

#include "cli/cli.h"
#include "cli/submitted.h"
#include "plan/pipeline.h"

struct tm_launch_options {
  struct tm_words params;  /* NAME=VALUE, of the command line */
  const char *params_file; /* values of others, or NULL */
  const char *progress;    /* auto, bar, plain, none; NULL: auto */
  const char *max_workers; /* of all steps together; NULL: the default of run/job.h */
  bool resume, keep_failed, accept_changes, verify_input, json;
  bool no_reuse;    /* every step is run */
  bool keep_script; /* a job that is resumed runs its own copy */
  bool has_stdin;   /* a list of paths on standard input can be read, from its beginning */
};

struct tm_launch {
  const struct tm_cli *cli;
  struct tm_launch_options o;
  char *cwd;                     /* absolute */
  int64_t max_workers;           /* 0: not given */
  struct tm_submitted submitted; /* the parameters; a caller may add those of a job's record */
  struct tm_pipeline *pipeline;
  char *dir;       /* the job's, absolute */
  char *workspace; /* the pipeline file's, absolute; NULL: there is none */
};

/* Where we are, and the parameters of the command line and of the file. TM_EUSAGE. */
int tm_launch_init(struct tm_launch *l, const struct tm_cli *cli, struct tm_err *err);
/* The pipeline of a file (absolute), checked, its scripts compiled. */
int tm_launch_load(struct tm_launch *l, const char *file, struct tm_err *err);
/* Sets `workspace` to that of the pipeline that was loaded, where there is one; none is made. */
void tm_launch_find_workspace(struct tm_launch *l);
/* Runs the pipeline in `dir` (absolute; taken over), to the end of the job. The exit status, or a negative code with words
 * when there has been no job. */
int tm_launch_run(struct tm_launch *l, char *dir, struct tm_err *err);
void tm_launch_release(struct tm_launch *l);

/* --keep-failed, --accept-changes and --verify-input go with a job that is resumed, or taken over: TM_EUSAGE names the one that
 * stands alone. */
int tm_launch_check_resume(const struct tm_pipeline *p, bool resume, bool keep_failed,
                           bool accept_changes, bool verify_input, struct tm_err *err);

/* What would be run of a pipeline, to standard output: `plan` as of api/plan.h, but for where it says what it has to say. */
struct tm_plan;
int tm_launch_say_plan(const struct tm_plan *plan, struct tm_err *err);
/* --dry-run beside --resume: TM_EUSAGE. */
int tm_launch_refuse_dry_resume(struct tm_err *err);

/* The exit status of what ended before or without a job; says the words. `rc` of 0 or more is one. */
int tm_launch_status(int rc, const struct tm_err *err);

#endif
