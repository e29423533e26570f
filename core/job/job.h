/* job.h - one execution of a pipeline: its directory, its steps, its node, its result.
 *
 * Caller: add listeners; open (which refuses, recovers, and reports what is kept); start; run the
 * loop until on_ended; ask for the exit status; close; release the loop. Cancel at any time between
 * open and close. start may call on_ended. From on_ended any function may be called except close.
 */
#ifndef TM_JOB_JOB_H
#define TM_JOB_JOB_H

#include "plan/pipeline.h"
#include "record/events.h"
#include "record/job_dir.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_job;

struct tm_job_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline; /* must live until close */
  const char *dir;                    /* absolute */
  const char *program;                /* runs keepers and workers */
  const struct tm_events *events;
  bool resume, keep_failed, accept_changes, verify_input;
  const char *note; /* why this is a new job and no resumed one; printed when it starts; or NULL */
  /* with resume: reads all committed output before anything else (output_check.h) */
  bool verify_output;
  /* a resumed job runs its own copy of the script, even if the script has changed */
  bool keep_script;
  /* of all steps together; 0: the number of cores, or the most workers that any step asks for */
  int64_t max_workers;
  /* absolute; the job takes results from there and keeps results and snapshots; NULL: none */
  const char *workspace;
  /* absolute; the workspace where outputs are registered; NULL: such outputs are refused */
  const char *registry;
  bool no_reuse;           /* runs every step, but keeps its result for other jobs */
  bool has_stderr;         /* keepers write their messages to this process's stderr; else nowhere */
  bool has_stdin;          /* a list of paths can be read from standard input, from its beginning */
  struct tm_job_wait wait; /* for another process to leave the directory */
  void (*on_ended)(void *data, struct tm_job *job); /* once; the result has been written */
  void *data;
};

/* TM_EUSAGE: the directory holds a job and `resume` is not set, or it holds other files.
 * TM_ECHANGED: the definition differs from the job's. TM_EINUSE, TM_EVERSION, TM_EDAMAGE, system
 * errors. */
int tm_job_open(struct tm_job **out, const struct tm_job_options *o, struct tm_err *err);
void tm_job_start(struct tm_job *job);
/* No new mini-batches start, and the running ones may end; with `now` they are killed, also by a
 * second call. */
void tm_job_end_early(struct tm_job *job, bool now);
const struct tm_job_view *tm_job_view(const struct tm_job *job);
/* 0 Completed, 1 Failed, 2 wrong definition, 3 system error, 130 Canceled. */
int tm_job_exit_status(const struct tm_job *job);
/* The result for --json and job_result.json; to free. NULL: the session did nothing, because the
 * inputs of a Completed job have changed or the check of them was canceled. */
struct tm_json *tm_job_result(const struct tm_job *job);
/* May be called before the job has ended: then it kills everything, does not call on_ended, and the
 * job can be resumed. NULL is a no-op. */
void tm_job_close(struct tm_job *job);

#endif
