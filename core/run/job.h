/* job.h - one execution of a pipeline: its directory, its steps, its node, its result.
 *
 * Caller: open (which refuses, recovers, and says what is kept); add listeners beforehand; start;
 * run the loop until on_ended; ask for the exit status; close; release the loop. Cancel at any time
 * between. on_ended may come within start, and from within it anything may be called but close.
 */
#ifndef TM_RUN_JOB_H
#define TM_RUN_JOB_H

#include "plan/pipeline.h"
#include "run/events.h"
#include "run/job_dir.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct tm_job;

struct tm_job_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline; /* must live until close */
  const char *dir;                    /* absolute */
  const char *program;                /* that runs keepers and workers */
  const struct tm_events *events;
  bool resume, keep_failed, accept_changes, verify_input;
  /* with resume: reads all that was committed before anything else (output_check.h) */
  bool verify_output;
  /* a job that is resumed goes on with its own copy of the script, whatever that is now */
  bool keep_script;
  /* of all steps together; 0: as many as there are cores, or as the step with the most has */
  int64_t max_workers;
  /* absolute: results are taken from there and kept (reuse.h), and snapshots; NULL: none */
  const char *workspace;
  bool no_reuse;   /* every step is run, and its result is kept all the same */
  bool has_stderr; /* keepers say what they have to say on that of this process; else to nobody */
  bool has_stdin;  /* a list of paths on standard input can be read, from its beginning */
  struct tm_job_wait wait;                          /* for another process to leave the directory */
  void (*on_ended)(void *data, struct tm_job *job); /* once; the result has been written */
  void *data;
};

/* TM_EUSAGE: the directory holds a job and `resume` is not set, or something else. TM_ECHANGED: the
 * definition differs from the job's. TM_EINUSE, TM_EVERSION, TM_EDAMAGE, system errors. */
int tm_job_open(struct tm_job **out, const struct tm_job_options *o, struct tm_err *err);
void tm_job_start(struct tm_job *job);
/* The first call: no new mini-batches, the running ones may end. The second, half a second later or
 * more: all is killed. */
void tm_job_cancel(struct tm_job *job);
/* The same without the clock: once more with `now` kills. */
void tm_job_end_early(struct tm_job *job, bool now);
const struct tm_job_view *tm_job_view(const struct tm_job *job);
/* 0 Completed, 1 Failed, 2 wrong definition, 3 system error, 130 Canceled. */
int tm_job_exit_status(const struct tm_job *job);
/* The result as spec'd for --json and job_result.json; to free. NULL: nothing was begun, as the
 * inputs of a Completed job are not those of then, or looking at them was canceled; the job is as
 * it was. */
struct tm_json *tm_job_result(const struct tm_job *job);
/* Before it has ended too: everything is killed, on_ended does not come, and the job can be
 * resumed. NULL is a no-op. */
void tm_job_close(struct tm_job *job);

/* The exit status for an error: 2 for what the user can mend, 3 for the system's. */
int tm_exit_status_of(int code);

#endif
