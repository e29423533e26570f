/* tidemill/record.h - what is on disk: records of jobs, logs, registered datasets, tables. */
#ifndef TIDEMILL_RECORD_H
#define TIDEMILL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemill/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Workspaces ----
 *
 * Reads what is on disk: jobs of any process, as their files describe them, and registered
 * datasets. This needs no runtime and no loop, and keeps no file open between calls. Any thread may
 * use a workspace and the objects made with it, one thread at a time. The structs that these calls
 * return have the library's `size`, and are valid until the object that they came from is closed.
 * Times are nanoseconds since the epoch; 0: not known. If a callback returns a number other than 0,
 * the call ends and returns that number.
 */

struct tidemill_workspace;
struct tidemill_record;
struct tidemill_dataset;
struct tidemill_clean;

struct tidemill_workspace_options {
  size_t size;
  /* NULL: the folder in TIDEMILL_WORKSPACE, or the nearest `.tidemill` in the current directory or
   * above. A folder that was found there, but belongs to another user or is writable by others,
   * fails with TIDEMILL_EUSAGE. To use it anyway, name it here or in the variable. */
  const char *path;
  bool make; /* creates it if there is none: at the path named, or else in the current directory */
  /* Called with messages about the calls below. NULL: these are dropped. */
  void (*on_log)(enum tidemill_level level, const char *text, void *data);
  void *data;
};
#define TIDEMILL_WORKSPACE_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_workspace_options)

/* Opens a workspace. `options` may be NULL. TIDEMILL_EUSAGE: there is none, and the message says
 * where the library looked. */
TIDEMILL_API int tidemill_workspace_open(struct tidemill_workspace **out,
                                         const struct tidemill_workspace_options *options,
                                         struct tidemill_error *err);
TIDEMILL_API const char *tidemill_workspace_path(
    const struct tidemill_workspace *ws); /* absolute */
TIDEMILL_API void tidemill_workspace_close(struct tidemill_workspace *ws);

/* ---- Records ---- (a job as its files describe it, whichever process runs it or ran it) */

struct tidemill_record_info {
  size_t size;
  const char *dir;      /* absolute */
  const char *pipeline; /* its name */
  const char *file;     /* the pipeline file; "": it had none */
  enum tidemill_state state;
  bool is_removed;   /* its directory is gone, and the record has no steps */
  const char *fault; /* why it cannot be read; only `dir` and is_removed are set then. "": it can */
  const char *cause; /* why it Failed; "" otherwise */
  int64_t begin_ns, end_ns; /* of the first and of the last session; no end while it runs */
  int64_t elapsed_ns;       /* from the begin to the end, or to now; -1: not known */
  int64_t pid;              /* of the process that runs it, or ran it last; 0: not known */
  const char *host;         /* of that process; "": not known */
  size_t steps_len, steps_reused;
  const struct tidemill_counts *counts; /* of all steps */
  /* "user ada on host mill (pid 4711)": who has asked to cancel it, while it runs and when it is
   * Canceled; "": nobody has, or the process that runs it has ended it. */
  const char *cancel_asked_by;
  bool cancel_is_taken; /* the process that runs it has heard of it, or had */
  bool is_stopped;      /* the process that runs it was stopped, by Ctrl-Z or SIGSTOP */
  /* Of a job that has ended: the sum of the nodes that commands or Slurm have started, "4
   * requested, 4 started, 1 lost; ready for 1 min 01 s in all, workers 78 % busy". "": there were
   * none. */
  const char *nodes;
};

struct tidemill_record_step {
  size_t size;
  const char *name;
  enum tidemill_state state;
  const char *cause;       /* why it Failed or was Skipped; "" otherwise */
  const char *waits_for;   /* the steps it waits for: "'a', 'b'"; "": none */
  const char *reused_from; /* directory of the job whose result it reuses; "": none */
  const char *output;      /* the file with its rows, or its folder; "": not known yet */
  const char *logs_dir;
  const char *error_file; /* the file with all errors of the script; "": there is none */
  int64_t sessions;       /* how often it was begun or resumed */
  const struct tidemill_counts *counts;
  int64_t items_total;            /* -1: not known before all are listed */
  double mini_batches_per_second; /* of the running session; 0: not known */
  int64_t damage_at_byte;         /* the first bad byte of its journal; -1: none */
  /* Tries that failed by an error, by a timeout, or because the worker died; -1: not known. */
  int64_t try_errors, try_timeouts, try_lost;
  size_t outputs_len, errors_len;
  /* Only the end of a long list of failed items was read: there may be more items and reasons. */
  bool errors_cut;
  size_t running_len;  /* entries of tidemill_record_running() */
  int64_t errors_more; /* other reasons than those of tidemill_record_error() */
  /* Lines for a user about the step, as in the report at the end of a job. The cause is left out if
   * it is that of the job. "" in a list of jobs. */
  const char *text;
};

/* What a worker is doing. */
struct tidemill_activity {
  size_t size;
  const char *worker; /* "process003" */
  int64_t pid;
  /* "start", "init", "load", "run", "return", "shutdown", "recover" or
   * "prefetch"; "": not known yet */
  const char *phase;
  int64_t elapsed_ns; /* of this try or call, without the time in which the job was suspended */
  bool is_stopped;    /* SIGSTOP has stopped the worker */
  int64_t mini_batch; /* -1: none; try_number and first_item then mean nothing */
  int64_t try_number;
  const char *first_item; /* of the mini-batch; "": not known */
  const char *text;       /* the whole as a sentence; file names in it may hold any byte */
  int64_t begun_ns;       /* when the worker began the try, since the epoch; 0: not known yet */
};

struct tidemill_record_output {
  size_t size;
  const char *name, *path;
  const char *destination; /* where it was uploaded or moved to; "": nowhere */
};

struct tidemill_failure {
  size_t size;
  const char *step;
  int64_t mini_batch;
  const char *item;  /* "": it is not known which items of the mini-batch failed */
  const char *error; /* may have several lines */
  const char *status;
  const char *log;    /* the file with the complete error; "": there is none */
  int64_t try_number; /* the last one; 0: not known */
  /* The number of failed items. From tidemill_record_error(): of all items that failed for this
   * reason, counted in the end of a long list only; `mini_batch` and `item` are the first's. */
  int64_t items;
  bool are_rows;     /* rows failed; `item` is the file of the table */
  const char *where; /* the line of the script, "score.lua:12"; "": it is not known */
  /* From tidemill_record_error(): lines for a user, as in the report at the end of a job, each with
   * four blanks before it. Otherwise "". */
  const char *text;
};

/* Opens the record of a job as it is now. `job`: a directory, a name, or "latest" for the newest
 * job. `ws` NULL: the workspace in TIDEMILL_WORKSPACE, or the nearest one; a directory needs none.
 * A job is Running until the process that runs it has closed it. TIDEMILL_EUSAGE: there is no such
 * job. TIDEMILL_EVERSION, TIDEMILL_EDAMAGE, or a system error. */
TIDEMILL_API int tidemill_record_open(struct tidemill_record **out, struct tidemill_workspace *ws,
                                      const char *job, struct tidemill_error *err);
/* Lists the jobs of a workspace, the newest first. With `removed`, also those whose directory is
 * gone, as far as the workspace remembers them. If a job cannot be read, its record has a `fault`.
 * The record is closed when on_job() returns. */
TIDEMILL_API int tidemill_workspace_jobs(struct tidemill_workspace *ws, bool removed,
                                         int (*on_job)(struct tidemill_record *job, void *data),
                                         void *data, struct tidemill_error *err);
TIDEMILL_API void tidemill_record_close(struct tidemill_record *r);
/* Reads what is new since the record was opened or refreshed; of the mini-batches that have ended,
 * only the new ones. Returns 1: there may be something new, and all that the record has returned is
 * gone; ask again. 0: nothing has changed but `elapsed_ns`, and what it has returned is still
 * valid. If the job cannot be read, for example because it was removed: the error; the record has a
 * `fault` then, and may be refreshed again. TIDEMILL_EUSAGE: the record is one of
 * tidemill_workspace_jobs(). */
TIDEMILL_API int tidemill_record_refresh(struct tidemill_record *r, struct tidemill_error *err);
/* A descriptor to poll for reading, the same for each call. It is readable when the job's files
 * have changed, and every two seconds, because a change by another machine is not reported. Then
 * call tidemill_record_refresh(), after which it is not readable; call that once after the first
 * call of this function, too. While a job is fast, files change all the time: refresh it only as
 * often as you need. tidemill_record_close() closes the descriptor. Negative: none could be had. */
TIDEMILL_API int tidemill_record_fd(struct tidemill_record *r, struct tidemill_error *err);

TIDEMILL_API const struct tidemill_record_info *tidemill_record_info(
    const struct tidemill_record *r);
/* Step `step` of the job, and below output `i` and error `i` of a step. NULL: there is none. */
TIDEMILL_API const struct tidemill_record_step *tidemill_record_step(
    const struct tidemill_record *r, size_t step);
TIDEMILL_API const struct tidemill_record_output *tidemill_record_output(
    const struct tidemill_record *r, size_t step, size_t i);
/* Why items of a step failed: a few distinct reasons, the newest first. */
TIDEMILL_API const struct tidemill_failure *tidemill_record_error(const struct tidemill_record *r,
                                                                  size_t step, size_t i);
/* What the workers of a running step are doing, the longest first. A worker is listed once it has
 * been doing the same thing for a second; the list is at most a few seconds old. */
TIDEMILL_API const struct tidemill_activity *tidemill_record_running(
    const struct tidemill_record *r, size_t step, size_t i);
/* Calls on_failure() for each failed item of a step; `step` NULL: of all steps that have ended. The
 * failure is valid until it returns. TIDEMILL_EUSAGE: there is no such step. Otherwise a system
 * error. */
TIDEMILL_API int tidemill_record_failures(struct tidemill_record *r, const char *step,
                                          int (*on_failure)(const struct tidemill_failure *failure,
                                                            void *data),
                                          void *data, struct tidemill_error *err);

enum tidemill_file_kind {
  TIDEMILL_FILE_OUTPUT,
  TIDEMILL_FILE_LOG,    /* below <step>/logs, and what commands of nodes printed: nodes/<id>.txt */
  TIDEMILL_FILE_RECORD, /* everything else that the job keeps: job.json, lists, copies of scripts */
};

struct tidemill_job_file {
  size_t size;
  const char *path; /* relative to the job's directory; may hold any byte */
  enum tidemill_file_kind kind;
  int64_t bytes;
  int64_t changed_ns; /* since the epoch */
};

/* Calls on_file() for each regular file in the job's directory, folder by folder, each in the order
 * of its names. Follows no links: what a step wrote straight to a destination is not listed. The
 * file is valid until on_file() returns; if that returns a number other than 0, the call ends and
 * returns it. Otherwise 0, or a system error. */
TIDEMILL_API int tidemill_record_files(struct tidemill_record *r,
                                       int (*on_file)(const struct tidemill_job_file *f,
                                                      void *data),
                                       void *data, struct tidemill_error *err);

/* The record as one JSON object, as `tidemill status --json` prints it. */
TIDEMILL_API const char *tidemill_record_json(struct tidemill_record *r);
/* The job's job.json: the definition, the parameters, and the origin of each setting. NULL: there
 * is none. */
TIDEMILL_API const char *tidemill_record_definition(struct tidemill_record *r);
/* The command line that started the job, as it can be typed in a shell in `directory`. It has "..."
 * instead of values of environment variables. `directory` may be NULL. NULL: it is not recorded. */
TIDEMILL_API const char *tidemill_record_command(struct tidemill_record *r, const char **directory);
/* The same as words, NULL-ended, for a program that starts it without a shell. */
TIDEMILL_API const char *const *tidemill_record_words(struct tidemill_record *r,
                                                      const char **directory);
/* The job's job_result.json. NULL: there is none. */
TIDEMILL_API const char *tidemill_record_result(struct tidemill_record *r);

struct tidemill_logs_options {
  size_t size;
  const char *step;   /* only this step; NULL: all */
  const char *worker; /* only this worker and its tries: "process000"; NULL: all */
  /* Only errors with their stacks, warnings, and why workers and the job ended. */
  bool errors;
  bool follow; /* waits for new lines as long as a process runs the job */
  /* From 0: a report on this mini-batch as text for a user, with its tries and what their workers
   * logged meanwhile. It may be combined with `step` only. -1: all mini-batches. */
  int64_t mini_batch;
  const char
      *node; /* only this node, "3": the logs in its folders, and lines that name it; NULL: all */
};
#define TIDEMILL_LOGS_OPTIONS_INIT TIDEMILL_SIZED_WITH(struct tidemill_logs_options, mini_batch, -1)

struct tidemill_log_line {
  size_t size;
  const char *step;
  const char *source; /* "process000.stdout" for printed lines; "": the line itself names it */
  const char *text;   /* without its line break; may contain NUL */
  size_t text_bytes;
  size_t steps_len; /* how many steps this call reads */
};

/* Reads the log lines of a job, its workers and its scripts, in the order of time. `ws` and `job`
 * are as for tidemill_record_open(); `options` may be NULL. `line` is NULL after the last line that
 * has been written so far. With `follow` the call blocks, on a loop of its own. If a mini-batch has
 * not been tried, the on_log of `ws` gets a message. TIDEMILL_EUSAGE: there is no such step,
 * worker, node or mini-batch.
 */
TIDEMILL_API int tidemill_workspace_logs(struct tidemill_workspace *ws, const char *job,
                                         const struct tidemill_logs_options *options,
                                         int (*on_line)(const struct tidemill_log_line *line,
                                                        void *data),
                                         void *data, struct tidemill_error *err);

/* The same without blocking, for a job that may run:
 *
 *   tidemill_logs_open() -> tidemill_logs_read(), and again when tidemill_logs_fd() is readable
 *   -> tidemill_logs_is_over() -> tidemill_logs_close()
 */
struct tidemill_logs;

/* `options` may be NULL; `follow` means nothing here, and `mini_batch` must be -1. */
TIDEMILL_API int tidemill_logs_open(struct tidemill_logs **out, struct tidemill_workspace *ws,
                                    const char *job, const struct tidemill_logs_options *options,
                                    struct tidemill_error *err);
/* A descriptor to poll for reading: there may be new lines. It is readable every two seconds in any
 * case. Negative: `logs` is NULL. */
TIDEMILL_API int tidemill_logs_fd(const struct tidemill_logs *logs);
/* Passes on the lines that have been written since the last call, and then NULL. Afterwards the
 * descriptor is not readable. If on_line() returns a number other than 0, the call ends and returns
 * it; the next call goes on after that line. */
TIDEMILL_API int tidemill_logs_read(struct tidemill_logs *logs,
                                    int (*on_line)(const struct tidemill_log_line *line,
                                                   void *data),
                                    void *data, struct tidemill_error *err);
/* No process ran the job when the last read began, so that all lines were read. A job that is
 * resumed later has more. */
TIDEMILL_API bool tidemill_logs_is_over(const struct tidemill_logs *logs);
TIDEMILL_API void tidemill_logs_close(struct tidemill_logs *logs);

struct tidemill_verified {
  size_t size;
  const char *step, *output;                   /* the file that was checked; "": there is none */
  int64_t records, committed, failed, entries; /* of the journal; mini-batches; of the manifest */
  int64_t output_bytes, failure_bytes;         /* compared */
  /* In an interrupted job: the incomplete end of the journal, which a resume removes. */
  int64_t torn_records, torn_bytes;
  int64_t faults;
  /* A line for each destination of an upload: what was compared with the step's own output, or
   * which job has replaced it since; "": there is none. */
  const char *uploads;
  const char *copy; /* the same for the file of tidemill_job_put_output(), without a line break */
};

/* Checks that the files of a job match its journals byte by byte, and that the destinations of
 * uploads, and the file of tidemill_job_put_output(), have what was put there. Returns the number
 * of faults. `ws` and `job` are as for tidemill_record_open(). on_fault() is called for each fault
 * (`at_byte`: the first bad one; -1: the whole file), on_step() for each step; both may be NULL.
 * TIDEMILL_EINUSE: a process runs the job, or has resumed it meanwhile. */
TIDEMILL_API int tidemill_workspace_verify(struct tidemill_workspace *ws, const char *job,
                                           void (*on_fault)(const char *path, int64_t at_byte,
                                                            const char *what, void *data),
                                           void (*on_step)(const struct tidemill_verified *step,
                                                           void *data),
                                           void *data, struct tidemill_error *err);

enum tidemill_resume_way {
  TIDEMILL_RESUME_BY_JOB,       /* tidemill_job_resume(); `tidemill resume JOB` */
  TIDEMILL_RESUME_BY_ACCEPTING, /* the same with `accept_changes`, because inputs have changed */
  /* Submit its pipeline again with `dir` and `resume`: the record does not hold it. */
  TIDEMILL_RESUME_BY_COMMAND,
  TIDEMILL_RESUME_BY_LIST, /* the same, with the same list on standard input */
  TIDEMILL_RESUME_NEVER
};
/* Finds out how to resume a job that is not running. `dir`: its directory. Judges the files as the
 * job's next session will. TIDEMILL_RESUME_NEVER: `err` says why. Reads the journals and the lists
 * of mini-batches, and changes nothing. */
TIDEMILL_API enum tidemill_resume_way tidemill_resume_way(const char *dir,
                                                          struct tidemill_error *err);

/* A command that runs the failed items of a job again, as a new job. */
struct tidemill_rerun {
  size_t size;
  const char *const *argv; /* NULL-ended; the first word is "tidemill" */
  const char *directory;   /* where it must run; "": anywhere */
  const char *text;        /* both for a shell: "cd DIRECTORY && tidemill ..." */
};
/* Finds out how to run only the failed items of a job that has ended. The result belongs to the
 * record, until the next call with it. Reads the lists of failed items, and changes nothing.
 * TIDEMILL_EUSAGE: no item failed; the job runs, or was interrupted; the failed items cannot be run
 * alone, because they are rows of a table or nobody knows which ones they are; or the command that
 * started the job is not recorded, or cannot be given again as it is. Otherwise the error of
 * reading the job. */
TIDEMILL_API int tidemill_record_rerun(struct tidemill_record *r, const struct tidemill_rerun **out,
                                       struct tidemill_error *err);
/* Whether what the job names may be run for a user who has not named its path: 0 if only this user
 * and root can have written its directory, its job.json and the copies of its scripts. Otherwise
 * TIDEMILL_EUSAGE, and `err` says who can write what, and how to keep them out. */
TIDEMILL_API int tidemill_record_trust(const struct tidemill_record *r, struct tidemill_error *err);

/* ---- Canceling a job that another process runs ----
 *
 *   tidemill_cancel_new() leaves a request in the job's directory
   *   -> tidemill_cancel_look() until `has_ended` -> free
 *
 * The process that runs the job looks for a request twice a second, on this machine or another one
 * that shares the file system, and then does what tidemill_job_cancel() does. A host hears requests
 * only while its loop turns. The request is for the session of the job that runs now: it never
 * cancels a later one. It is accepted from the user who runs the job, and from root.
 */

struct tidemill_cancel;

struct tidemill_cancel_info {
  size_t size;
  const char *dir;  /* of the job */
  int64_t pid;      /* of the process that runs it, or did last; 0: not known */
  const char *host; /* of that; "": not known */
  bool is_asked;    /* a request was left; false: nobody ran the job */
  bool is_taken;    /* that process has taken the request */
  bool has_ended;   /* nobody runs that session of the job */
  bool is_resumed;  /* it has ended, and somebody has resumed the job since */
  /* another host ran it last, whose locks may not be visible here: it may still be running there */
  bool is_elsewhere;
  enum tidemill_state state; /* Running until it has ended */
  /* that process was stopped, by Ctrl-Z or SIGSTOP: it takes the request when it is continued */
  bool is_stopped;
};

/* `ws` and `job` are as for tidemill_record_open(), but a job or workspace that was found, and
 * belongs to another user or can be written to by others, is refused. `now`: running mini-batches
 * are killed. 0 also when nobody runs the job: the info says so, and no request is left.
 * TIDEMILL_EUSAGE: there is no such job, or it is refused. Otherwise a system error. */
TIDEMILL_API int tidemill_cancel_new(struct tidemill_cancel **out, struct tidemill_workspace *ws,
                                     const char *job, bool now, struct tidemill_error *err);
/* Looks at the files of the job again. TIDEMILL_EUSAGE: the process that runs it refuses the
 * request. */
TIDEMILL_API int tidemill_cancel_look(struct tidemill_cancel *c, struct tidemill_error *err);
/* The job at the time of the last look; valid until the next one. */
TIDEMILL_API const struct tidemill_cancel_info *tidemill_cancel_info(
    const struct tidemill_cancel *c);
TIDEMILL_API void tidemill_cancel_free(struct tidemill_cancel *c); /* the request stays */

/* ---- Registered datasets ---- */

struct tidemill_dataset_info {
  size_t size;
  const char *name;
  int64_t version;         /* from 1 */
  const char *type;        /* "FileDataset" or "TabularDataset" */
  const char *description; /* "": it has none */
  int64_t registered_ns;
  int64_t files, bytes;   /* when it was registered */
  const char *job, *step; /* it is their output: a directory and a name; "": of no job */
  size_t paths_len, tags_len;
};

struct tidemill_registration {
  size_t size;
  const char *name;
  const char *const *paths; /* files, folders, patterns; relative to the current directory */
  size_t paths_len;
  bool is_manifest;       /* each path is a file that lists paths, one per line */
  bool is_null_separated; /* the paths in these files end in NUL */
  /* If the name exists, makes a new version. Without it, an existing name fails unless the
   * definition is the same. */
  bool create_new_version;
  const char *description; /* NULL: as in the previous version */
  const char *const *tags; /* "NAME=VALUE"; none: as in the previous version */
  size_t tags_len;
};
#define TIDEMILL_REGISTRATION_INIT TIDEMILL_SIZED(struct tidemill_registration)

/* Lists all versions of `name`, the newest first; `name` NULL: the newest version of each name. The
 * dataset is closed when on_dataset() returns. */
TIDEMILL_API int tidemill_workspace_datasets(struct tidemill_workspace *ws, const char *name,
                                             int (*on_dataset)(struct tidemill_dataset *d,
                                                               void *data),
                                             void *data, struct tidemill_error *err);
/* Opens a registered dataset. `version` 0: the newest. TIDEMILL_EUSAGE: there is no such
 * dataset. */
TIDEMILL_API int tidemill_dataset_open(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                                       const char *name, int64_t version,
                                       struct tidemill_error *err);
enum tidemill_registered {
  TIDEMILL_REGISTERED_BEFORE, /* the same definition existed already */
  TIDEMILL_REGISTERED_NOW,    /* a version was made */
};
/* Registers a dataset. Returns one of the enumerators above, or fails. `out` may be NULL.
 * TIDEMILL_EUSAGE: the registration is wrong, or the name exists with another definition. */
TIDEMILL_API int tidemill_dataset_register(struct tidemill_dataset **out,
                                           struct tidemill_workspace *ws,
                                           const struct tidemill_registration *registration,
                                           struct tidemill_error *err);
/* Forgets a version; `version` 0: all versions. Keeps the files. Returns how many it forgot.
 * TIDEMILL_EUSAGE: there is no such version. */
TIDEMILL_API int tidemill_dataset_unregister(struct tidemill_workspace *ws, const char *name,
                                             int64_t version, struct tidemill_error *err);
TIDEMILL_API void tidemill_dataset_close(struct tidemill_dataset *d);

TIDEMILL_API const struct tidemill_dataset_info *tidemill_dataset_info(
    const struct tidemill_dataset *d);
/* Path `i`, absolute; tag `i`, "NAME=VALUE". NULL: there is none. */
TIDEMILL_API const char *tidemill_dataset_path(const struct tidemill_dataset *d, size_t i);
TIDEMILL_API const char *tidemill_dataset_tag(const struct tidemill_dataset *d, size_t i);
/* The line that `tidemill dataset show --json` prints. It has "changed" if
 * tidemill_dataset_changes() was called before. */
TIDEMILL_API const char *tidemill_dataset_json(struct tidemill_dataset *d);
enum tidemill_compared {
  TIDEMILL_COMPARED_SAME,
  TIDEMILL_COMPARED_CHANGED, /* *words says what */
};
/* Compares the files with what was registered. Returns one of the enumerators above, or fails.
 * `words` may be NULL; *words is valid until the next call of this function. */
TIDEMILL_API int tidemill_dataset_changes(struct tidemill_dataset *d, const char **words,
                                          struct tidemill_error *err);

/* ---- Tables ---- */

struct tidemill_head_options {
  size_t size;
  const char *const *paths; /* files, folders, patterns; relative to the current directory */
  size_t paths_len;
  int64_t rows; /* at most this many; 0: only the columns */
  /* Called with each line of text, without its line break. The line is valid until it returns. */
  int (*on_line)(const char *line, void *data);
  /* Called with warnings about these rows. NULL: these are dropped. */
  void (*on_log)(enum tidemill_level level, const char *text, void *data);
  void *data;
  /* Options of the dataset as names and values in turn, as for tidemill_pipeline_input_set():
   * "max_columns", "100", ... */
  const char *const *settings;
  size_t settings_len; /* number of strings; even */
};
#define TIDEMILL_HEAD_OPTIONS_INIT TIDEMILL_SIZED_WITH(struct tidemill_head_options, rows, 10)

/* Shows the columns of a table with their types, and its first rows, read as a job would read them
 * (.csv, .tsv or .jsonl, also .gz). Of ONNX models, which are known by their contents: inputs,
 * outputs, sizes, and where they are from. Needs neither a runtime nor a workspace.
 * TIDEMILL_ENOINPUT: the table does not exist, or has no rows. TIDEMILL_EUSAGE, TIDEMILL_EINPUT, or
 * a system error. */
TIDEMILL_API int tidemill_head(const struct tidemill_head_options *options,
                               struct tidemill_error *err);

/* ---- Removing jobs ---- (tidemill_clean_new() selects jobs; look at them, then remove them) */

struct tidemill_clean_options {
  size_t size;
  const char *const *jobs; /* these jobs in any state; named as for tidemill_record_open() */
  /* 0: all jobs of the workspace that are neither Completed nor running, copies of scripts that no
   * job needs, and, unless there are `states`, prepared models. */
  size_t jobs_len;
  bool all;                          /* also Completed jobs */
  const enum tidemill_state *states; /* only jobs in these states */
  size_t states_len;
  /* only jobs that ended, and models that were prepared, longer ago than this */
  int64_t older_than_ns;
};
#define TIDEMILL_CLEAN_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_clean_options)

struct tidemill_clean_job {
  size_t size;
  const char *dir;
  enum tidemill_state state;
  /* Why it is kept: it is running, is a registered dataset, or contains files that no job made. "":
   * it will be removed. */
  const char *kept;
  int64_t bytes;    /* of its files, if it will be removed */
  bool is_leftover; /* an interrupted removal left it; `dir` is not a job */
};

/* Selects jobs; removes nothing yet. Always selects the leftovers of interrupted removals, whatever
 * the options are. `ws` may be NULL if `jobs` are named; otherwise close it after this object.
 * TIDEMILL_EUSAGE: there is no such job. */
TIDEMILL_API int tidemill_clean_new(struct tidemill_clean **out, struct tidemill_workspace *ws,
                                    const struct tidemill_clean_options *options,
                                    struct tidemill_error *err);
/* Selected job `i`. NULL: there is none. */
TIDEMILL_API const struct tidemill_clean_job *tidemill_clean_job(const struct tidemill_clean *c,
                                                                 size_t i);
/* The number of copies of scripts that will be removed. *bytes: their size. */
TIDEMILL_API size_t tidemill_clean_scripts(const struct tidemill_clean *c, int64_t *bytes);
/* The number of prepared models that will be removed: copies in the workspace, which workers share,
 * and which they make again. *bytes: their size. */
TIDEMILL_API size_t tidemill_clean_models(const struct tidemill_clean *c, int64_t *bytes);
/* Removes the directory of job `i`, all of it or nothing. TIDEMILL_EINUSE: it must be kept now. */
TIDEMILL_API int tidemill_clean_remove(struct tidemill_clean *c, size_t i,
                                       struct tidemill_error *err);
/* Removes the copies of scripts. TIDEMILL_EUSAGE: a selected job has not been removed, and may need
 * them. */
TIDEMILL_API int tidemill_clean_remove_scripts(struct tidemill_clean *c,
                                               struct tidemill_error *err);
/* Removes the prepared models, except those that a worker makes at the moment. */
TIDEMILL_API int tidemill_clean_remove_models(struct tidemill_clean *c, struct tidemill_error *err);
TIDEMILL_API void tidemill_clean_free(struct tidemill_clean *c);

#ifdef __cplusplus
}
#endif
#endif
