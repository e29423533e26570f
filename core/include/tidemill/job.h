/* tidemill/job.h - jobs: submission, events, results. */
#ifndef TIDEMILL_JOB_H
#define TIDEMILL_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemill/pipeline.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tidemill_job;

enum tidemill_state {
  TIDEMILL_STATE_RUNNING, /* or waits for its turn */
  TIDEMILL_STATE_COMPLETED,
  TIDEMILL_STATE_FAILED,
  TIDEMILL_STATE_CANCELED,
  TIDEMILL_STATE_SKIPPED, /* a step: the outputs that it reads were not all written */
  /* Only in records: */
  TIDEMILL_STATE_INTERRUPTED, /* it has no result, and no process runs it */
  TIDEMILL_STATE_WAITING,     /* a step that has not begun */
};
/* "Running", "Completed", ...; "Unknown". Static memory. Any thread. */
TIDEMILL_API const char *tidemill_state_name(enum tidemill_state state);

/* Counts of a job or step, including its earlier sessions. Other structs point to it, so that it
 * can grow. */
struct tidemill_counts {
  size_t size;
  int64_t created;                    /* mini-batches */
  bool all_created;                   /* `created` is final */
  int64_t succeeded, failed, running; /* mini-batches */
  /* Of mini-batches that have ended. The first two are -1 if they are not known: of a job that was
   * removed, and that an earlier tidemill ran. */
  int64_t items, items_succeeded, items_failed;
  /* Failed mini-batches of tables whose rows could not be counted. Each counts as one item. */
  int64_t uncounted;
};
/* The first event of a job is STATE with Running, the last one is STATE with its final state. */
enum tidemill_event_kind {
  TIDEMILL_EVENT_STATE = 1,  /* state, counts; text: why it failed */
  TIDEMILL_EVENT_PROGRESS,   /* counts of all steps, at most ten times a second, if they changed */
  TIDEMILL_EVENT_STEP,       /* step, state, counts, text: a step has begun or ended */
  TIDEMILL_EVENT_MINI_BATCH, /* step, worker, mini_batch, outcome, ...: a try has ended */
  TIDEMILL_EVENT_WORKER,     /* step, worker, pid, worker_state, text: how it ended */
  TIDEMILL_EVENT_LOG,        /* level, text, step or NULL: a line of the job's log */
  TIDEMILL_EVENT_ROWS,       /* step, output_bytes: more rows are committed and can be read */
  /* node_id, node_address, node_state, level, text: about a node that a command or Slurm starts.
   * The text also comes as a LOG event. */
  TIDEMILL_EVENT_NODE,
};

enum tidemill_outcome {
  TIDEMILL_OUTCOME_DONE = 1, /* committed; a part is held until its whole mini-batch has ended */
  TIDEMILL_OUTCOME_GIVEN_UP, /* failed, with no tries left */
  TIDEMILL_OUTCOME_RETRIED,  /* failed, and will be tried again */
};

enum tidemill_worker_state {
  TIDEMILL_WORKER_STARTED = 1,
  TIDEMILL_WORKER_READY,  /* its init() has returned */
  TIDEMILL_WORKER_FAILED, /* its init() has failed: text, stack, where */
  TIDEMILL_WORKER_ENDED,
};

enum tidemill_node_state {
  TIDEMILL_NODE_REQUESTED = 1, /* its command starts */
  TIDEMILL_NODE_WAITING,       /* it is in Slurm's queue; the reason is in `text` */
  TIDEMILL_NODE_READY,         /* it has started, and gets work */
  TIDEMILL_NODE_LEAVING,       /* it drains, or is given back: it gets no more work */
  TIDEMILL_NODE_LOST,          /* it is lost, or could not be started; the cause is in `text` */
  TIDEMILL_NODE_ENDED,         /* it has ended in another way */
};

/* Fields that do not belong to the kind of the event are 0, or "" for text. */
struct tidemill_event {
  size_t size;
  enum tidemill_event_kind kind;
  enum tidemill_state state;
  enum tidemill_level level;
  enum tidemill_outcome outcome;
  enum tidemill_worker_state worker_state;
  uint32_t try_number; /* from 1 */
  struct tidemill_job *job;
  int64_t wall_ns;    /* since the epoch */
  const char *step;   /* its name; NULL: the event is about the whole job */
  const char *worker; /* "process000", or NULL */
  int64_t pid;        /* of the worker */
  /* MINI_BATCH and WORKER_FAILED: the error message. For a MINI_BATCH that is done: why some of its
   * items failed, or "". */
  const char *text;
  const char *stack;   /* the script's stack at the error */
  const char *where;   /* "score.lua:12": the innermost line of the script */
  uint64_t mini_batch; /* its number, from 0 */
  /* While bad items are isolated: the number of the part's first item, from 1. 0: the whole
   * mini-batch. */
  int64_t part_first;
  const char *status;     /* of the try: "RUN_DONE", "RUN_EXCEPTION", "RUN_TIMEOUT", ... */
  const char *first_item; /* path of the first item, or of the file that contains it */
  int64_t items, items_succeeded, items_failed; /* of the mini-batch or part */
  int64_t run_ns;                               /* duration of run() */
  const struct tidemill_counts *counts;         /* never NULL; valid as long as the event */
  /* Of the worker: the number of its node as text, "0" for this machine, and the name of its host,
   * as the logs have them. "": the event is about no worker. NODE: those of
   * the node; address "": not known yet. */
  const char *node_id, *node_address;
  int64_t output_bytes;                /* as in struct tidemill_step */
  enum tidemill_node_state node_state; /* NODE */
};

/* How progress is shown. */
enum tidemill_progress {
  TIDEMILL_PROGRESS_NONE,
  TIDEMILL_PROGRESS_PLAIN, /* a line about every ten seconds */
  TIDEMILL_PROGRESS_BAR,   /* one terminal line, redrawn in place */
};
/* Where a job shows messages, progress and its result as text for a user. */
struct tidemill_screen {
  size_t size;
  void (*write)(const char *text, size_t len, void *data);
  bool (*is_ready)(void *data); /* whether write() would not block; NULL: it never blocks */
  int (*width)(void *data);     /* columns of the terminal, for a bar; NULL: 80 */
  void *data;
  enum tidemill_progress progress;
  bool has_color;
};
#define TIDEMILL_SCREEN_INIT TIDEMILL_SIZED(struct tidemill_screen)

struct tidemill_job_options {
  size_t size;
  const char *dir; /* the job's directory; NULL: a new one in the workspace */
  /* Resumes a job: the one in `dir`, or else the one that the pipeline was loaded from, or else the
   * newest job of this pipeline that is not Completed. */
  bool resume;
  /* The options of `tidemill run --resume`. Without `resume`, they are TIDEMILL_EUSAGE, unless the
   * arguments of a step contain --resume_from. */
  bool keep_failed, accept_changes, verify_input;
  /* Runs every step, even if an earlier job has its result. Later jobs may reuse this one. */
  bool no_reuse;
  /* Limit for all steps together. 0: the number of cores, or the largest process_count_per_node if
   * that is more, on each node. */
  int64_t max_workers;
  /* Called for each event. The event is valid until it returns. */
  void (*on_event)(const struct tidemill_event *event, void *data);
  void *data;
  /* With `resume`: uses the job's own copy of the script, even if the script has changed. */
  bool keep_script;
  /* Copied, and called until the job is closed. NULL: nothing is shown. */
  const struct tidemill_screen *screen;
  /* With `resume`: before anything runs, reads all committed rows and failure lines and compares
   * them with the journal. The call that opens the job blocks meanwhile. TIDEMILL_EDAMAGE: the
   * message names the first difference. */
  bool verify_output;
  /* Asked every few milliseconds while the call that opens the job waits for another process to
   * leave its directory. True ends the call with -ECANCELED. NULL: the call waits. */
  bool (*is_stopped)(void *data);
  /* A file that gets a row for each mini-batch that has ended, as GNU parallel's --joblog
   * (TIDEMILL_FORMAT_JOBLOG). It is made if it is missing, and appended to otherwise. If it cannot
   * be opened, the call that opens the job fails with TIDEMILL_EUSAGE. If it cannot be written
   * later, the screen shows a warning, and the job continues. NULL: none. */
  const char *joblog;
};
#define TIDEMILL_JOB_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_job_options)

/* Checks the pipeline, creates (or opens) the job's directory and copies the scripts. The job
 * begins with the next turn of the loop. If another process is just leaving the directory, the call
 * may wait up to 5 s for it. `options` may be NULL. TIDEMILL_EUSAGE: the definition or `dir` is
 * wrong. TIDEMILL_ESCRIPT: a script is not valid Lua. TIDEMILL_ECHANGED: the definition is not that
 * of the job. TIDEMILL_EINUSE, TIDEMILL_EVERSION, TIDEMILL_EDAMAGE, or a system error. */
TIDEMILL_API int tidemill_job_submit(struct tidemill_job **out, struct tidemill_pipeline *p,
                                     const struct tidemill_job_options *options,
                                     struct tidemill_error *err);
/* Resumes a job with the pipeline and the parameters in its record. `job`: a directory, a name, or
 * "latest" for the newest job of the workspace. `options` may be NULL; `dir` and `resume` in it are
 * ignored. */
TIDEMILL_API int tidemill_job_resume(struct tidemill_job **out, struct tidemill_runtime *rt,
                                     const char *job, const struct tidemill_job_options *options,
                                     struct tidemill_error *err);
/* Waits until the job has ended, for at most `timeout_ms` (-1: no limit). The runtime's other jobs
 * make progress meanwhile. 0: it has ended, in whatever state; -ECANCELED: a callback closed it;
 * other codes as for tidemill_runtime_run(). */
TIDEMILL_API int tidemill_job_wait(struct tidemill_job *job, int timeout_ms,
                                   struct tidemill_error *err);
/* Cancels the job: no further mini-batch starts, and running ones may end; with `now` they are
 * killed. The job is Canceled once its last event says so, and can be resumed. Does nothing if the
 * job has ended. */
TIDEMILL_API void tidemill_job_cancel(struct tidemill_job *job, bool now);
/* Shows a line of the host on the job's screen, above the progress. The level becomes a prefix
 * ("warning: ..."), except for INFO and below. A text that was shown already is not repeated. */
TIDEMILL_API void tidemill_job_say(struct tidemill_job *job, enum tidemill_level level,
                                   const char *text);

/* Running until the job has ended. Final from the last event on. */
TIDEMILL_API enum tidemill_state tidemill_job_state(const struct tidemill_job *job);
/* The exit status that `tidemill run` would have: 0 Completed, 1 Failed, 2 wrong definition, 3
 * system error, 130 Canceled. -1: the job is running. */
TIDEMILL_API int tidemill_job_exit_status(const struct tidemill_job *job);
TIDEMILL_API const char *tidemill_job_name(const struct tidemill_job *job); /* of its pipeline */
TIDEMILL_API const char *tidemill_job_dir(const struct tidemill_job *job);  /* absolute */
/* Why the job Failed; "" otherwise. */
TIDEMILL_API const char *tidemill_job_cause(const struct tidemill_job *job);
/* The sum over all steps. Valid until the next call with the job. */
TIDEMILL_API const struct tidemill_counts *tidemill_job_counts(struct tidemill_job *job);
/* The result as one JSON object, as in job_result.json; `run --json` adds the errors of a record.
 * Its `nodes` sums up the nodes that commands or Slurm have started; it is absent without such
 * nodes.
 * NULL while the job runs, and when a Completed job was resumed only to compare its inputs. */
TIDEMILL_API const char *tidemill_job_result(struct tidemill_job *job);

struct tidemill_step {
  size_t size;
  const char *name;
  enum tidemill_state state;
  const char *output_dir;
  /* The file with the rows of a Completed step. Until the rows are complete, they are in a file of
   * this name followed by ".partial". A reader opens that one first: it is renamed before the event
   * that the step has ended, and before its outputs are uploaded. NULL with summary_only. */
  const char *output_file;
  const char *logs_dir;
  const char *cause;                    /* why it Failed or was Skipped; "" otherwise */
  const struct tidemill_counts *counts; /* valid until the next call for this step */
  /* The length of the committed rows in the ".partial" file, earlier sessions included. Do not read
   * beyond it. */
  int64_t output_bytes;
};
#define TIDEMILL_STEP_INIT TIDEMILL_SIZED(struct tidemill_step)

/* The number of steps, in the order of the definition. */
TIDEMILL_API size_t tidemill_job_steps_len(const struct tidemill_job *job);
/* Describes step `i` as it is now, from 0. Set the `size` of `out` first. TIDEMILL_EUSAGE: there is
 * no step `i`. */
TIDEMILL_API int tidemill_job_step(struct tidemill_job *job, size_t i, struct tidemill_step *out,
                                   struct tidemill_error *err);
/* Copies the rows of a Completed step to `path`, all of them or none. The copy is on disk when this
 * returns. With `overwrite`, it replaces an existing regular file. A job that was already Completed
 * when it was resumed has its rows, too. TIDEMILL_EUSAGE: this step or path is not possible; or a
 * system error. */
TIDEMILL_API int tidemill_job_put_output(struct tidemill_job *job, size_t step, const char *path,
                                         bool overwrite, struct tidemill_error *err);
/* Whether tidemill_job_put_output() could write to `path` now. Ask before you submit a job. */
TIDEMILL_API int tidemill_output_check(struct tidemill_runtime *rt, const char *path,
                                       bool overwrite, struct tidemill_error *err);

/* Frees the job. If it is running, it ends at once without an event, and its processes are killed;
 * it can be resumed. From a callback, this happens in the next turn of the loop, and no event comes
 * before that. Closing a running job blocks until its processes are gone: hundredths of a second,
 * or up to 5 s for the keeper and 5 s for its leftovers if the machine is slow to kill them. To
 * avoid blocking, call tidemill_job_cancel(job, true) and close the job after its last event. */
TIDEMILL_API void tidemill_job_close(struct tidemill_job *job);

#ifdef __cplusplus
}
#endif
#endif
