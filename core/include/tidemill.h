/* tidemill.h - run tidemill pipelines from a host application; the only installed header.
 *
 *   runtime -> pipeline (a file, a string, Lua, or step by step) -> job -> events -> result
 *   workspace -> records of jobs, logs, registered datasets
 *   entry scripts in this process, consoles, what definitions accept
 *
 *     struct tm_err err = { 0 };
 *     struct tidemill_runtime *rt;
 *     struct tidemill_pipeline *p;
 *     struct tidemill_job *job;
 *     if (tidemill_runtime_new(&rt, NULL, &err) < 0 ||
 *         tidemill_pipeline_load(&p, rt, "pipeline.lua", &err) < 0 ||
 *         tidemill_job_submit(&job, p, NULL, &err) < 0 || tidemill_job_wait(job, -1, &err) < 0)
 *       fprintf(stderr, "%s\n", err.text);
 *
 * The loop. The options of the runtime and the calls that you make choose one of three ways:
 *   block     tidemill_job_wait() and tidemill_runtime_run() turn the runtime's own loop.
 *   poll      Any loop polls tidemill_runtime_fd() for reading, for at most
 *             tidemill_runtime_timeout() ms, then calls tidemill_runtime_turn(), which never waits.
 *   share     Give the runtime a uv_loop_t. Jobs make progress while the host runs that loop.
 * A process may have several runtimes, and a runtime several running jobs.
 *
 * Threads. One thread at a time uses a runtime and the objects made with it: the thread that made
 * it, or one to which the host hands it over under its own lock. tidemill_runtime_wake() is the
 * exception. Job callbacks run only during a turn of the loop, on the thread that turns it, and
 * never before tidemill_job_submit() has returned. A callback may call everything except the
 * functions that turn the loop or close the runtime; these fail. Loading or planning a pipeline
 * also calls on_log, on_lua and functions of the host. These must not close the runtime, and may
 * turn its loop only if the load or plan was not itself called from a callback.
 *
 * The process. While a job runs, the host has one more child: the keeper, which starts the workers.
 * The library starts it with posix_spawn, watches it by a descriptor, and reaps only that process.
 * The library installs no signal handler, raises no signal (not even SIGPIPE), prints nothing (but
 * see is_command), changes no process-wide setting (locale, directory, mask, limits) and never
 * calls exit(). Its threads block all signals. It never uses descriptors 0 to 2, even if they are
 * closed. After a fork, only the parent may use a runtime. LuaJIT's profiler and its timer signals
 * are used only in workers, and in the host for scripts and consoles that can be interrupted.
 */
#ifndef TIDEMILL_H
#define TIDEMILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Errors. A function that can fail returns 0 or more on success, and a negative code on failure:
 * one of TM_E... below, or a negated errno value. `err` then holds the message; `err` may be NULL.
 * Calls in a wrong order fail with TM_EUSAGE, and the message names the missing call. The library
 * aborts when memory runs out or when one of its own assertions fails, because it must not write
 * any file after that. The function given to tidemill_set_on_fault() is called first.
 *
 * Memory. Objects are opaque. The library copies the strings that you pass in. A string that a
 * function returns belongs to the object that it came from. It stays valid until you call the same
 * function again or close the object; a string in an event, until the callback returns. Text is
 * UTF-8 as it was read. Closing or freeing NULL does nothing. If another required argument is NULL,
 * the call fails with TM_EUSAGE and names the argument. A function that cannot fail then does
 * nothing, and returns NULL, 0, or -1 if its description gives -1 a meaning.
 *
 * Stability. Before version 1.0, each minor version has its own ABI, and the name of the shared
 * library says so (libtidemill.so.0.1). From 1.0 on, each major version has. Within one ABI,
 * functions, enumerators and codes are added, but never changed or removed. A struct that begins
 * with `size` may grow at its end; set `size` to the size that the host was compiled with (the
 * _INIT macros do). Other structs do not change. Ignore enumerators that you do not know. Symbols
 * that this header does not declare are hidden. The files in a job's directory have versions of
 * their own.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define TM_API __attribute__((visibility("default")))

/* The version of the library at run time: "0.1.0". Static memory. Any thread. */
TM_API const char *tm_version(void);

/* Error codes and their meanings.
 * XX(name, code, text) */
#define TM_ERR_MAP(XX)                                                                             \
  XX(EUSAGE, -10001, "wrong usage or definition")                                                  \
  XX(EDAMAGE, -10002, "damaged file")                                                              \
  XX(EINUSE, -10003, "in use")                                                                     \
  XX(EVERSION, -10004, "another version")                                                          \
  XX(ECHANGED, -10005, "changed since")                                                            \
  XX(ESCRIPT, -10006, "error in the script")                                                       \
  XX(EPROTOCOL, -10007, "unexpected bytes on a channel")                                           \
  XX(ENOINPUT, -10008, "no input")                                                                 \
  XX(ETHRESHOLD, -10009, "a threshold was exceeded")                                               \
  XX(ENODE, -10010, "a node was lost")                                                             \
  XX(ELIMIT, -10011, "a limit was exceeded")                                                       \
  XX(EINPUT, -10012, "the input is not as it is defined")

enum tm_code {
#define XX(name, code, text) TM_##name = code,
  TM_ERR_MAP(XX)
#undef XX
};

/* An error and its message, in the caller's memory. The message is lower case without a full stop,
 * and begins with what failed. */
struct tm_err {
  int code;        /* 0: no error */
  char text[2040]; /* truncated if it is too long; always ends in NUL */
};

/* "EUSAGE", "ENOENT", or "UNKNOWN". Static memory. Any thread. */
TM_API const char *tm_code_name(int code);
/* "wrong usage or definition", "no such file or directory". Static memory. Any thread. */
TM_API const char *tm_code_text(int code);

/* Sets the function that is called on internal errors: failed assertions, out of memory. If
 * `is_fatal`, the library calls abort() after it. Call this once per process, before any other
 * function. Without it, the library reports internal errors nowhere. */
TM_API void tidemill_set_on_fault(void (*on_fault)(const char *text, bool is_fatal, void *data),
                                  void *data);

struct tidemill_runtime;
struct tidemill_pipeline;
struct tidemill_job;
struct uv_loop_s; /* uv_loop_t */
struct lua_State;

/* ---- Runtimes ---- */

enum tidemill_level {
  TIDEMILL_DEBUG,
  TIDEMILL_INFO,
  TIDEMILL_WARNING,
  TIDEMILL_ERROR,
};

struct tidemill_runtime_options {
  size_t size;            /* of this struct */
  struct uv_loop_s *loop; /* a loop that the host runs; NULL: the runtime makes its own */
  /* The folder for jobs that have no directory of their own. NULL: the folder in
   * TIDEMILL_WORKSPACE, or the nearest `.tidemill` in the pipeline's folder or above, or a new one
   * in the pipeline's folder. A folder that was found there, but belongs to another user or is
   * writable by others, fails with TM_EUSAGE. To use it anyway, name it here or in the variable. */
  const char *workspace;
  /* The tidemill program of the same version; keepers and workers run it. NULL: the one in
   * TIDEMILL_PROGRAM, or the one installed with the library. */
  const char *program;
  /* Called with each line that pipeline files and Lua parameter files print, and with messages
   * about them. NULL: these lines are dropped. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  /* With a loop of the host: called when everything is closed and the runtime is freed. */
  void (*on_closed)(void *data);
  void *data;
  /* The host is a command whose jobs may use its standard descriptors: pipeline files print to
   * standard output, keepers write to standard error, and a list of paths "-" is read from standard
   * input. Messages name options as a user types them. */
  bool is_command;
};
#define TIDEMILL_RUNTIME_OPTIONS_INIT                                                              \
  {                                                                                                \
    sizeof(struct tidemill_runtime_options), NULL, NULL, NULL, NULL, NULL, NULL, false             \
  }

/* Makes a runtime. `options` may be NULL; all defaults apply then. -ENOENT: the tidemill program
 * was not found, and the message lists where the library looked. */
TM_API int tidemill_runtime_new(struct tidemill_runtime **out,
                                const struct tidemill_runtime_options *options, struct tm_err *err);
/* Closes the runtime's jobs, as tidemill_job_close() does, and frees the runtime. Free its
 * pipelines and close its console first. With its own loop, everything is done when this returns;
 * with a loop of the host, when on_closed is called. TM_EUSAGE, and nothing is closed: the call
 * comes from a callback, or a pipeline or console is left. */
TM_API int tidemill_runtime_close(struct tidemill_runtime *rt, struct tm_err *err);

/* Waits until no job runs, for at most `timeout_ms` (-1: no limit), and turns the loop meanwhile.
 * 0: no job runs; -ETIMEDOUT; -EINTR: tidemill_runtime_wake() was called. TM_EUSAGE: the loop is
 * the host's, or the call comes from a callback. */
TM_API int tidemill_runtime_run(struct tidemill_runtime *rt, int timeout_ms, struct tm_err *err);
/* Does the work that is due without waiting, and returns how many jobs are still running. TM_EUSAGE
 * as for tidemill_runtime_run(). */
TM_API int tidemill_runtime_turn(struct tidemill_runtime *rt, struct tm_err *err);
/* A descriptor that becomes readable when there is work for tidemill_runtime_turn(). The runtime
 * owns it, and it never changes. -1: the loop is the host's. */
TM_API int tidemill_runtime_fd(const struct tidemill_runtime *rt);
/* The timeout for polling that descriptor, in milliseconds: call tidemill_runtime_turn() when it
 * expires, too. 0: at once; -1: no timeout. Ask again before each poll. */
TM_API int tidemill_runtime_timeout(struct tidemill_runtime *rt);
/* Makes the current wait, or the next one, end with -EINTR. From any thread or signal handler. */
TM_API void tidemill_runtime_wake(struct tidemill_runtime *rt);

/* The absolute path of the program that keepers and workers run. */
TM_API const char *tidemill_runtime_program(const struct tidemill_runtime *rt);

/* ---- Pipelines ----
 *
 * A pipeline is a definition and the values of its parameters. You may submit it any number of
 * times, and free it as soon as its jobs are submitted. Errors in it name the file and line if it
 * came from a file. */

/* Loads a Lua file that returns tidemill.Pipeline { ... }. */
TM_API int tidemill_pipeline_load(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                  const char *path, struct tm_err *err);
/* Loads the same from a string. Messages call it `name`. Relative paths start in the folder of
 * `name`; with "" or a bare name, in the current directory. */
TM_API int tidemill_pipeline_load_string(struct tidemill_pipeline **out,
                                         struct tidemill_runtime *rt, const char *text,
                                         const char *name, struct tm_err *err);
/* Takes the tidemill.Pipeline at `index` of a Lua stack. The state must come from
 * tidemill_lua_open() or on_lua. `name` is as for tidemill_pipeline_load_string(). Leaves the stack
 * as it was, and raises nothing. */
TM_API int tidemill_pipeline_from_lua(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                      struct lua_State *L, int index, const char *name,
                                      struct tm_err *err);

/* Loads the pipeline of an earlier job from the job's record: the pipeline file as it is now, or
 * else the recorded definition, with the parameters of that job, which you may set again. Submit it
 * with `resume` to resume that job. `job`: a directory, a name, or "latest" for the newest job of
 * the workspace. TM_EUSAGE: there is no such job, or its record holds no definition. */
TM_API int tidemill_pipeline_load_job(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                      const char *job, struct tm_err *err);

/* Begins an empty pipeline, which you build with the calls below. Relative paths start in `dir`;
 * NULL: the current directory. */
TM_API int tidemill_pipeline_new(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                 const char *name, const char *dir, struct tm_err *err);
/* Adds a step that runs the script at the path `entry_script`. The calls below apply to the step
 * that was added last. */
TM_API int tidemill_pipeline_add_step(struct tidemill_pipeline *p, const char *name,
                                      const char *entry_script, struct tm_err *err);
/* Sets a parameter of ParallelRunStep or ParallelRunConfig (`tidemill help parameters` lists them)
 * from text: "mini_batch_size" "5". Separate the names of a list by commas. The value of
 * "environment_variables" is "NAME=VALUE", and each call adds one. */
TM_API int tidemill_pipeline_set(struct tidemill_pipeline *p, const char *key, const char *value,
                                 struct tm_err *err);
/* Adds an input of files. `path`: a file, a folder or a pattern. The script reads `name` as
 * context.dataset_name; `name` may be NULL. */
TM_API int tidemill_pipeline_add_files(struct tidemill_pipeline *p, const char *path,
                                       const char *name, struct tm_err *err);
/* Adds an input of rows. `path` is read as JSON lines if it ends in .jsonl, .ndjson or .json, or in
 * one of these followed by .gz, in upper or lower case; otherwise as a delimited file. */
TM_API int tidemill_pipeline_add_table(struct tidemill_pipeline *p, const char *path,
                                       const char *name, struct tm_err *err);
/* Adds an input whose items are the entries of archives. `path`: a file, a folder or a pattern. */
TM_API int tidemill_pipeline_add_archives(struct tidemill_pipeline *p, const char *path,
                                          const char *name, struct tm_err *err);
/* Adds an input of the files that the file `path` lists, one path per line. The list is read while
 * the job runs. */
TM_API int tidemill_pipeline_add_manifest(struct tidemill_pipeline *p, const char *path,
                                          const char *name, struct tm_err *err);
/* Adds one more path to the input that was added last. Its items come after the others. */
TM_API int tidemill_pipeline_add_path(struct tidemill_pipeline *p, const char *path,
                                      struct tm_err *err);
/* Sets an option of the input that was added last, as text. `key` is one of:
 * - an option of the dataset's constructor (`tidemill help parameters` lists them), as "separator"
 *   ";" or "partition_format" "{store}/{date:yyyy/MM/dd}". "set_column_types" is
 *   "id=long,day=datetime", or JSON: {"day": {"type": "datetime", "formats": ["%d.%m.%Y"]}};
 * - "limit": the largest number of items;
 * - "format", for a table: "csv", "tsv" or "jsonl". Set it before the other options, if the name of
 *   the first file does not tell. */
TM_API int tidemill_pipeline_set_input(struct tidemill_pipeline *p, const char *key,
                                       const char *value, struct tm_err *err);
/* Adds an input of the files that the earlier step `step` writes. */
TM_API int tidemill_pipeline_add_output_of(struct tidemill_pipeline *p, const char *step,
                                           const char *name, struct tm_err *err);
/* Sets the current directory of all workers. The default is the folder with the copy of their
 * script. Only for a pipeline of tidemill_pipeline_new(). */
TM_API int tidemill_pipeline_set_working_dir(struct tidemill_pipeline *p, const char *dir,
                                             struct tm_err *err);
/* Adds one argument for the script. */
TM_API int tidemill_pipeline_add_argument(struct tidemill_pipeline *p, const char *text,
                                          struct tm_err *err);

/* Gives the entry script `path` as text, for all steps added so far that name it. The file need not
 * exist. The text is written to the workspace under its hash, so that the job can be resumed.
 * TM_EUSAGE: no step names `path`. */
TM_API int tidemill_pipeline_set_script(struct tidemill_pipeline *p, const char *path,
                                        const char *text, struct tm_err *err);
/* Sets the value of a PipelineParameter from text. The last call for a name wins. */
TM_API int tidemill_pipeline_set_param(struct tidemill_pipeline *p, const char *name,
                                       const char *value, struct tm_err *err);
/* Like tidemill_pipeline_set_param(), and records where the value comes from. `origin` is shown in
 * plans and in the job's record, for instance "--param"; NULL: "given". Relative paths of datasets
 * start in `dir`; NULL: the folder of the pipeline. */
TM_API int tidemill_pipeline_set_param_from(struct tidemill_pipeline *p, const char *name,
                                            const char *value, const char *origin, const char *dir,
                                            struct tm_err *err);
/* Sets parameters from a file: a JSON object, or a Lua file (.lua) that returns a table. Relative
 * paths of datasets start in its folder. */
TM_API int tidemill_pipeline_set_params_file(struct tidemill_pipeline *p, const char *path,
                                             struct tm_err *err);
/* Takes the parameters of an earlier job (`job` as for tidemill_pipeline_load_job()). If that job
 * ran only the failed items of another job, takes these items too. Each plan and submission reports
 * the other differences from that job to on_log. */
TM_API int tidemill_pipeline_set_like(struct tidemill_pipeline *p, const char *job,
                                      struct tm_err *err);
/* Runs only the items that failed in an earlier job. Each step gets the failed items of the step
 * with its name; a step without failed items is left out. Set the parameters first. 1: no item
 * failed, so there is nothing to do. `err` then has a message with code 0, and a submission fails
 * with TM_ENOINPUT. */
TM_API int tidemill_pipeline_set_only_failed(struct tidemill_pipeline *p, const char *job,
                                             struct tm_err *err);
/* Records where the caller will put the rows of the first step with tidemill_job_put_output(), so
 * that a later process that resumes the job knows the place. The library itself puts nothing there.
 * `path`: absolute, or relative to the current directory. The job of a pipeline file records no
 * such place. */
TM_API int tidemill_pipeline_set_output_file(struct tidemill_pipeline *p, const char *path,
                                             bool overwrite, struct tm_err *err);
/* The absolute path of that place, also of a job that was loaded with tidemill_pipeline_load_job().
 * NULL: none was given. `overwrite` may be NULL. */
TM_API const char *tidemill_pipeline_output_file(const struct tidemill_pipeline *p,
                                                 bool *overwrite);
/* Records the command line that submits the job, so that `tidemill status` can show it: its words,
 * NULL-ended, the first one the program, and the current directory. Leave out passwords. A resumed
 * job keeps the command that started it. */
TM_API int tidemill_pipeline_set_command(struct tidemill_pipeline *p, const char *const *words,
                                         struct tm_err *err);
/* Checks the pipeline as a submission does. Creates nothing. */
TM_API int tidemill_pipeline_check(struct tidemill_pipeline *p, struct tm_err *err);
TM_API const char *tidemill_pipeline_name(const struct tidemill_pipeline *p);

enum tidemill_graph {
  TIDEMILL_GRAPH_TEXT, /* a tree of lines */
  TIDEMILL_GRAPH_DOT,  /* for Graphviz */
  TIDEMILL_GRAPH_MERMAID,
};
/* Renders which step waits for which. Does not compile the scripts. Uses the result of an earlier
 * check if the pipeline has not changed since. */
TM_API int tidemill_pipeline_graph(const char **out, struct tidemill_pipeline *p,
                                   enum tidemill_graph format, struct tm_err *err);

struct tidemill_plan_options {
  size_t size;
  bool json; /* one JSON object, as `tidemill run --dry-run --json` prints; else lines of text */
  /* Also says for each step whether an earlier result would be reused and why, or what changed. */
  bool explain;
  bool no_reuse; /* as for a job: a full destination does not count as an earlier result */
};
#define TIDEMILL_PLAN_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_plan_options), false, false, false                                      \
  }

/* Says what a job of this pipeline would do, as `tidemill run --dry-run` prints it: for each step
 * its number of mini-batches, the first and last of them, and the settings with their origins. It
 * checks all that a submission checks, and reads the inputs as a job does, which takes as long. It
 * creates nothing. `options` may be NULL. Messages about the inputs go to the runtime's on_log
 * before this returns; do not free `p` from there.
 * TM_EUSAGE: the definition is wrong, an input is a list on standard input, or something would stop
 * the job, such as a destination that is not empty. TM_ESCRIPT: a script is not valid Lua.
 * TM_ENOINPUT: an input is empty. TM_EINPUT, or a system error. */
TM_API int tidemill_pipeline_plan(const char **out, struct tidemill_pipeline *p,
                                  const struct tidemill_plan_options *options, struct tm_err *err);
TM_API void tidemill_pipeline_free(struct tidemill_pipeline *p);

/* ---- Jobs ---- */

enum tidemill_state {
  TIDEMILL_RUNNING, /* or waits for its turn */
  TIDEMILL_COMPLETED,
  TIDEMILL_FAILED,
  TIDEMILL_CANCELED,
  TIDEMILL_SKIPPED, /* a step: the outputs that it reads were not all written */
  /* Only in records: */
  TIDEMILL_INTERRUPTED, /* it has no result, and no process runs it */
  TIDEMILL_WAITING,     /* a step that has not begun */
};
/* "Running", "Completed", ...; "Unknown". Static memory. Any thread. */
TM_API const char *tidemill_state_name(enum tidemill_state state);

/* Counts of a job or step, including its earlier sessions. */
struct tidemill_counts {
  int64_t created;                              /* mini-batches */
  bool all_created;                             /* `created` is final */
  int64_t succeeded, failed, running;           /* mini-batches */
  int64_t items, items_succeeded, items_failed; /* of mini-batches that have ended */
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
};

enum tidemill_outcome {
  TIDEMILL_DONE = 1, /* committed; a part is held until its whole mini-batch has ended */
  TIDEMILL_GIVEN_UP, /* failed, with no tries left */
  TIDEMILL_RETRIED,  /* failed, and will be tried again */
};

enum tidemill_worker_state {
  TIDEMILL_WORKER_STARTED = 1,
  TIDEMILL_WORKER_READY,  /* its init() has returned */
  TIDEMILL_WORKER_FAILED, /* its init() has failed: text, stack, where */
  TIDEMILL_WORKER_ENDED,
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
  struct tidemill_counts counts;
  int64_t output_bytes; /* as in struct tidemill_step */
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
  void (*write)(void *data, const char *text, size_t len);
  bool (*is_ready)(void *data); /* whether write() would not block; NULL: it never blocks */
  int (*width)(void *data);     /* columns of the terminal, for a bar; NULL: 80 */
  void *data;
  enum tidemill_progress progress;
  bool has_color;
};
#define TIDEMILL_SCREEN_INIT                                                                       \
  {                                                                                                \
    sizeof(struct tidemill_screen), NULL, NULL, NULL, NULL, TIDEMILL_PROGRESS_NONE, false          \
  }

struct tidemill_job_options {
  size_t size;
  const char *dir; /* the job's directory; NULL: a new one in the workspace */
  /* Resumes a job: the one in `dir`, or else the one that the pipeline was loaded from, or else the
   * newest job of this pipeline that is not Completed. */
  bool resume;
  /* The options of `tidemill run --resume`. Without `resume`, they are TM_EUSAGE, unless the
   * arguments of a step contain --resume_from. */
  bool keep_failed, accept_changes, verify_input;
  /* Runs every step, even if an earlier job has its result. Later jobs may reuse this one. */
  bool no_reuse;
  /* Limit for all steps together. 0: the number of cores, or the largest process_count_per_node if
   * that is more. */
  int64_t max_workers;
  /* Called for each event. The event is valid until it returns. */
  void (*on_event)(void *data, const struct tidemill_event *event);
  void *data;
  /* With `resume`: uses the job's own copy of the script, even if the script has changed. */
  bool keep_script;
  /* Copied, and called until the job is closed. NULL: nothing is shown. */
  const struct tidemill_screen *screen;
  /* With `resume`: before anything runs, reads all committed rows and failure lines and compares
   * them with the journal. The call that opens the job blocks meanwhile. TM_EDAMAGE: the message
   * names the first difference. */
  bool verify_output;
  /* Asked every few milliseconds while the call that opens the job waits for another process to
   * leave its directory. True ends the call with -ECANCELED. NULL: the call waits. */
  bool (*is_stopped)(void *data);
};
#define TIDEMILL_JOB_OPTIONS_INIT                                                                  \
  {                                                                                                \
    sizeof(struct tidemill_job_options), NULL, false, false, false, false, false, 0, NULL, NULL,   \
        false, NULL, false, NULL                                                                   \
  }

/* Checks the pipeline, creates (or opens) the job's directory and copies the scripts. The job
 * begins with the next turn of the loop. If another process is just leaving the directory, the call
 * may wait up to 5 s for it. `options` may be NULL.
 * TM_EUSAGE: the definition or `dir` is wrong. TM_ESCRIPT: a script is not valid Lua. TM_ECHANGED:
 * the definition is not that of the job. TM_EINUSE, TM_EVERSION, TM_EDAMAGE, or a system error. */
TM_API int tidemill_job_submit(struct tidemill_job **out, struct tidemill_pipeline *p,
                               const struct tidemill_job_options *options, struct tm_err *err);
/* Resumes a job with the pipeline and the parameters in its record. `job`: a directory, a name, or
 * "latest" for the newest job of the workspace. `options` may be NULL; `dir` and `resume` in it are
 * ignored. */
TM_API int tidemill_job_resume(struct tidemill_job **out, struct tidemill_runtime *rt,
                               const char *job, const struct tidemill_job_options *options,
                               struct tm_err *err);
/* Waits until the job has ended, for at most `timeout_ms` (-1: no limit). The runtime's other jobs
 * make progress meanwhile. 0: it has ended, in whatever state; -ECANCELED: a callback closed it;
 * other codes as for tidemill_runtime_run(). */
TM_API int tidemill_job_wait(struct tidemill_job *job, int timeout_ms, struct tm_err *err);
/* Cancels the job: no further mini-batch starts, and running ones may end; with `now` they are
 * killed. The job is Canceled once its last event says so, and can be resumed. Does nothing if the
 * job has ended. */
TM_API void tidemill_job_cancel(struct tidemill_job *job, bool now);
/* Shows a line of the host on the job's screen, above the progress. The level becomes a prefix
 * ("warning: ..."), except for INFO and below. A text that was shown already is not repeated. */
TM_API void tidemill_job_say(struct tidemill_job *job, enum tidemill_level level, const char *text);

TM_API enum tidemill_state tidemill_job_state(const struct tidemill_job *job);
/* The exit status that `tidemill run` would have: 0 Completed, 1 Failed, 2 wrong definition, 3
 * system error, 130 Canceled. -1: the job is running. */
TM_API int tidemill_job_exit_status(const struct tidemill_job *job);
TM_API const char *tidemill_job_name(const struct tidemill_job *job); /* of its pipeline */
TM_API const char *tidemill_job_dir(const struct tidemill_job *job);  /* absolute */
/* Why the job Failed; "" otherwise. */
TM_API const char *tidemill_job_cause(const struct tidemill_job *job);
/* The sum over all steps. */
TM_API void tidemill_job_counts(const struct tidemill_job *job, struct tidemill_counts *out);
/* The result as one JSON object, as in job_result.json; `run --json` adds the errors of a record.
 * NULL while the job runs, and when a Completed job was resumed only to compare its inputs. */
TM_API const char *tidemill_job_result(struct tidemill_job *job);

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
  const char *cause; /* why it Failed or was Skipped; "" otherwise */
  struct tidemill_counts counts;
  /* The length of the committed rows in the ".partial" file, earlier sessions included. Do not read
   * beyond it. */
  int64_t output_bytes;
};
#define TIDEMILL_STEP_INIT                                                                         \
  {                                                                                                \
    sizeof(struct tidemill_step), NULL, TIDEMILL_RUNNING, NULL, NULL, NULL, NULL,                  \
        { 0, false, 0, 0, 0, 0, 0, 0, 0 }, 0                                                       \
  }

TM_API size_t tidemill_job_steps_len(const struct tidemill_job *job);
/* TM_EUSAGE: there is no step `i`. */
TM_API int tidemill_job_step(const struct tidemill_job *job, size_t i, struct tidemill_step *out,
                             struct tm_err *err);
/* Copies the rows of a Completed step to `path`, all of them or none. The copy is on disk when this
 * returns. With `overwrite`, it replaces an existing regular file. A job that was already Completed
 * when it was resumed has its rows, too. TM_EUSAGE: this step or path is not possible; or a system
 * error. */
TM_API int tidemill_job_put_output(struct tidemill_job *job, size_t step, const char *path,
                                   bool overwrite, struct tm_err *err);
/* Whether tidemill_job_put_output() could write to `path` now. Ask before you submit a job. */
TM_API int tidemill_output_check(struct tidemill_runtime *rt, const char *path, bool overwrite,
                                 struct tm_err *err);

/* Frees the job. If it is running, it ends at once without an event, and its processes are killed;
 * it can be resumed. From a callback, this happens in the next turn of the loop, and no event comes
 * before that. Closing a running job blocks until its processes are gone: hundredths of a second,
 * or up to 5 s for the keeper and 5 s for its leftovers if the machine is slow to kill them. To
 * avoid blocking, call tidemill_job_cancel(job, true) and close the job after its last event. */
TM_API void tidemill_job_close(struct tidemill_job *job);

/* ---- Lua ---- (LuaJIT 2.1, the one that the library is linked to) */

/* Sets a function that is called with each new state of a pipeline file or Lua parameter file,
 * before the file runs. It may put anything into the state. It runs in a protected call: if it
 * raises, the load fails with its message. */
TM_API void tidemill_runtime_on_lua(struct tidemill_runtime *rt,
                                    void (*on_lua)(void *data, struct lua_State *L), void *data);
/* Adds a field to the table that `require "host"` returns in a pipeline file: a C function, or a
 * value as JSON text. */
TM_API int tidemill_runtime_add_function(struct tidemill_runtime *rt, const char *name,
                                         int (*function)(struct lua_State *L), struct tm_err *err);
TM_API int tidemill_runtime_add_value(struct tidemill_runtime *rt, const char *name,
                                      const char *json, struct tm_err *err);
/* Makes `require "tidemill"` and its modules available in a Lua state of the host. In it,
 * pipeline:submit { ... } makes a job on `rt`, which must live as long as the state. Raises
 * nothing. */
TM_API int tidemill_lua_open(struct lua_State *L, struct tidemill_runtime *rt, struct tm_err *err);

/* ---- Parameters ---- (what definitions accept, for forms and help; the library checks them by the
 * same table) */

enum tidemill_parameter_type {
  TIDEMILL_PARAMETER_INTEGER = 1,
  TIDEMILL_PARAMETER_SECONDS, /* a number */
  TIDEMILL_PARAMETER_PERCENT, /* a number */
  TIDEMILL_PARAMETER_SIZE,    /* bytes, or "10MB" */
  TIDEMILL_PARAMETER_AMOUNT,  /* items, "10MB" or "500rows" */
  TIDEMILL_PARAMETER_CHOICE,  /* one of `choices` */
  TIDEMILL_PARAMETER_BOOL,    /* "true", "false" */
  TIDEMILL_PARAMETER_TEXT,
  TIDEMILL_PARAMETER_CHARACTER, /* exactly one */
  TIDEMILL_PARAMETER_NAME,
  TIDEMILL_PARAMETER_NAMES,     /* a list of names */
  TIDEMILL_PARAMETER_FILE_NAME, /* without a folder */
  TIDEMILL_PARAMETER_PATH,
  TIDEMILL_PARAMETER_VARIABLES, /* names with values */
  TIDEMILL_PARAMETER_TYPES,     /* column names with types */
  TIDEMILL_PARAMETER_OTHER,     /* lists and objects, which only a definition in Lua can make */
};

struct tidemill_parameter {
  size_t size;
  const char *name; /* "run_max_try" */
  enum tidemill_parameter_type type;
  const char *help;          /* one line */
  const char *default_value; /* as text; NULL: there is none, or it is computed */
  const char *choices;       /* "append_row|summary_only"; NULL: the type is not CHOICE */
  double min, max;           /* of numbers; both 0: any number */
  bool required;
  bool may_be_parameter; /* a PipelineParameter may give its value */
  bool changeable;       /* it may have another value when a job is resumed */
  char accepted[256];    /* "an integer from 1 on" */
};
#define TIDEMILL_PARAMETER_INIT                                                                    \
  {                                                                                                \
    sizeof(struct tidemill_parameter), NULL, TIDEMILL_PARAMETER_OTHER, NULL, NULL, NULL, 0, 0,     \
        false, false, false, ""                                                                    \
  }

/* The name of constructor `i`, in the order of the manual: "ParallelRunConfig", "ParallelRunStep",
 * ... Here a constructor is any Lua function or method that takes parameters by name. "arguments"
 * has those arguments of a step that the runner itself takes. NULL: there is no constructor `i`.
 * Static memory. Any thread. */
TM_API const char *tidemill_constructor(size_t i);
/* Describes parameter `i` of a constructor, in the order of the manual. Set the `size` of `out`
 * first. The texts are in static memory, or in `out`. False: there is no such parameter or
 * constructor. Any thread. */
TM_API bool tidemill_parameter(const char *constructor, size_t i, struct tidemill_parameter *out);

/* ---- Entry scripts ----
 *
 * Runs an entry script in this process, to develop or debug it. tidemill.load_script() in Lua,
 * `tidemill try` and `tidemill replay` do the same. There is no job and no worker: whatever the
 * script does to its process, it does to the host.
 *
 *   load -> next, init -> run, next, run, ... -> shutdown -> close
 *
 * The script has its own Lua state, and new folders in TMPDIR, or in /tmp. One thread at a time may
 * use it; from init() on, only the thread that called init(). The library changes nothing in the
 * process for the script. If the script needs its environment variables and its `working_dir`, the
 * host sets them. The structs that these calls return have the library's `size`, and are valid
 * until the next call with the script.
 */

struct tidemill_script;

struct tidemill_script_options {
  size_t size;
  const char *step; /* whose script; NULL: the pipeline has only one step */
  /* Makes tidemill_script_interrupt() work. Until the script is closed, LuaJIT uses SIGPROF and the
   * timer of CPU time; then the previous handler is restored. A process can have only one
   * interruptible script or console at a time. TM_EINUSE: one is open already. */
  bool interruptible;
  bool no_timeout; /* ignores the timeouts of the step */
  /* Called with the text of each print() and io.write() of the script (INFO), and with messages
   * about it. NULL: these are dropped. Do not call any function with the script from there. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  void *data;
};
#define TIDEMILL_SCRIPT_OPTIONS_INIT                                                               \
  {                                                                                                \
    sizeof(struct tidemill_script_options), NULL, false, false, NULL, NULL                         \
  }

struct tidemill_script_info {
  size_t size;
  const char *step;
  const char *job;                             /* the job's directory; "": it has none */
  const char *dir;                             /* contains the next three */
  const char *output_dir, *log_dir, *temp_dir; /* as in a worker */
  const char *working_dir;                     /* current directory of the step's workers */
  bool interruptible;                          /* it was asked for, and the step allows it */
  /* The timeouts of the step; 0: none. The host enforces them, with tidemill_script_interrupt(). */
  int64_t init_timeout_ns, run_timeout_ns, interrupt_grace_ns;
};

struct tidemill_mini_batch {
  size_t size;
  int64_t mini_batch; /* its number, from 0 */
  int64_t items;
  const char *dataset; /* name of the input; "": it has none */
  const char *head;    /* a table's columns and a few rows, as text for a user; else "" */
};

struct tidemill_returned {
  size_t size;
  int64_t items; /* given to run(); for archives, only those that could be read */
  /* The elements that run() returned. Fewer than `items`: items have failed, unless any_number. */
  int64_t elements;
  const char *rows; /* as in the output file; may contain NUL */
  size_t len;
  bool any_number; /* `elements` may differ from `items`: the parameter returns */
  /* As a job counts them: unreadable entries of archives, items that the script has marked, and,
   * unless any_number, items without an element. */
  int64_t items_failed;
};

struct tidemill_script_error {
  size_t size;
  const char *text;  /* "run() failed at score.lua:12: ..."; may have several lines */
  const char *stack; /* of the script; "": not known */
  const char *where; /* "score.lua:12", the innermost line of the script, or "" */
};

/* Loads the script of a step with its settings and arguments. Compiles the file, but does not run
 * it. `options` may be NULL. TM_EUSAGE: the definition is wrong, or the step reads the output of
 * another one and needs a job. TM_ESCRIPT: the file is not valid Lua. */
TM_API int tidemill_script_load(struct tidemill_script **out, struct tidemill_pipeline *p,
                                const struct tidemill_script_options *options, struct tm_err *err);
/* Loads the script of a job as it was then, to run one of its mini-batches again. Does not change
 * the job. `job`: a directory, a name, or "latest" for the newest job of the workspace. `options`
 * may be NULL. TM_EUSAGE: there is no such job, step or mini-batch. TM_EINUSE: the job is running.
 * TM_ECHANGED: the items are gone. TM_EDAMAGE, TM_EVERSION, or a system error. */
TM_API int tidemill_script_load_again(struct tidemill_script **out, struct tidemill_runtime *rt,
                                      const char *job, int64_t mini_batch,
                                      const struct tidemill_script_options *options,
                                      struct tm_err *err);
TM_API const struct tidemill_script_info *tidemill_script_info(const struct tidemill_script *s);
/* Environment variable `i` of the step's workers: "NAME=VALUE". NULL: there is none. */
TM_API const char *tidemill_script_variable(const struct tidemill_script *s, size_t i);

/* Moves to the next mini-batch of the step's inputs, for tidemill_script_run(). A script of
 * tidemill_script_load_again() has only the one that it was loaded for. 1: there is one; 0: no
 * more. TM_ENOINPUT: the inputs are empty. TM_EINPUT, or a system error. */
TM_API int tidemill_script_next(struct tidemill_script *s, const struct tidemill_mini_batch **out,
                                struct tm_err *err);
/* Runs the file in a new Lua state and calls its init(). Call it again to reload an edited file.
 * TM_ESCRIPT: it failed, or the file defines no run(). */
TM_API int tidemill_script_init(struct tidemill_script *s, struct tm_err *err);
/* Calls run() with the current mini-batch, and checks the result as a job does. May be repeated.
 * TM_ESCRIPT: run() failed, or returned something that is not allowed. TM_EINPUT or a system error:
 * the mini-batch could not be loaded. */
TM_API int tidemill_script_run(struct tidemill_script *s, const struct tidemill_returned **out,
                               struct tm_err *err);
/* Calls shutdown(). To run the script again, call tidemill_script_init() first. */
TM_API int tidemill_script_shutdown(struct tidemill_script *s, struct tm_err *err);
/* The error of the last call that failed with TM_ESCRIPT, with its stack; NULL: none has failed. */
TM_API const struct tidemill_script_error *tidemill_script_error(const struct tidemill_script *s);
/* Makes a running init() or run() fail as soon as possible, also in a compiled loop; the error
 * names the line. A C function is interrupted when it returns. From any thread or signal handler,
 * any number of times, but not while tidemill_script_close() runs. */
TM_API void tidemill_script_interrupt(struct tidemill_script *s);
/* Call this if the process is about to exit inside a call with the script, for example by
 * os.exit(). Removes the folders as tidemill_script_close() does, without touching Lua. After it,
 * the script can only be closed. */
TM_API void tidemill_script_leave(struct tidemill_script *s);
/* Frees the script without calling shutdown(). Removes its temp_dir, and its other folders if they
 * are empty; otherwise on_log gets a message with their place. */
TM_API void tidemill_script_close(struct tidemill_script *s);

/* ---- Consoles ----
 *
 * An interactive Lua prompt: all of `tidemill repl` except its terminal, for a console in the host.
 * The user's input is run piece by piece, and its values are shown as text. The console completes
 * names and answers help(x) from the manual. Jobs that are submitted there run on a thread of
 * their own; the console reports their events between two pieces, and while a piece waits for them.
 *
 * One thread, the one that made it, uses a console. Its runtime must have its own loop, and must be
 * used for nothing else. The console prints to standard output. It uses SIGPROF, so a process can
 * have only one console or interruptible script at a time.
 */

struct tidemill_console;

struct tidemill_console_options {
  size_t size;
  bool has_color;           /* the output may contain escape codes */
  int (*width)(void *data); /* columns; NULL: 80 */
  /* Messages of jobs. on_say gets whole lines, the last one without its line break. on_status gets
   * a line to redraw in place; a NULL text removes it. If a function is NULL, its messages are
   * dropped. They are called during the calls below, as all functions of this struct are. From
   * there, call only tidemill_console_interrupt() and tidemill_console_cancel(). */
  void (*on_say)(void *data, const char *text);
  void (*on_status)(void *data, const char *text);
  /* What help(topic) shows for a topic that is neither a value nor a function; NULL: nothing is
   * known. The text must stay valid until the next call. */
  const char *(*help)(void *data, const char *topic);
  void *data;
};
#define TIDEMILL_CONSOLE_OPTIONS_INIT                                                              \
  {                                                                                                \
    sizeof(struct tidemill_console_options), false, NULL, NULL, NULL, NULL, NULL                   \
  }

/* Makes a console. `options` may be NULL. TM_EINUSE: another console or interruptible script exists
 * in this process. TM_EUSAGE: the runtime uses a loop of the host. */
TM_API int tidemill_console_new(struct tidemill_console **out, struct tidemill_runtime *rt,
                                const struct tidemill_console_options *options, struct tm_err *err);
/* Runs a piece of Lua, or evaluates an expression. Messages call it `name`.
 * 0: *out has its values as text, or "". 1: the piece is incomplete; pass it again with the next
 * line appended. TM_ESCRIPT: *out has the error and the stack. -EINTR: it was interrupted, and *out
 * says where. *out belongs to the console until the next call. */
TM_API int tidemill_console_feed(struct tidemill_console *c, const char *text, size_t len,
                                 const char *name, const char **out);
/* Runs a Lua file, with results as for tidemill_console_feed(). The file finds `words` in `arg`,
 * from index 0 on, and all but the first in `...`. `words` may be NULL. */
TM_API int tidemill_console_feed_file(struct tidemill_console *c, const char *path,
                                      char *const *words, size_t words_len, const char **out);
/* Completes the text before the cursor, including earlier lines of the same piece. *insert: what
 * all candidates have in common, without the part that is there already. *list: if there are
 * several candidates, lines that list them. Both may be "". */
TM_API void tidemill_console_complete(struct tidemill_console *c, const char *text, size_t len,
                                      const char **insert, const char **list);
/* Interrupts the running piece, also in a compiled loop or a wait. A C function is interrupted when
 * it returns. From any thread or signal handler, any number of times, but not while
 * tidemill_console_close() runs. False: nothing was running. */
TM_API bool tidemill_console_interrupt(struct tidemill_console *c);
/* A descriptor that becomes readable when jobs have news. Then call tidemill_console_hear(), not
 * during a piece. */
TM_API int tidemill_console_fd(const struct tidemill_console *c);
/* Reports the news of jobs, through the functions in the options. */
TM_API void tidemill_console_hear(struct tidemill_console *c);
/* The number of jobs whose end has not been reported yet. */
TM_API int tidemill_console_running(struct tidemill_console *c);
/* Cancels the console's jobs, as tidemill_job_cancel() does. Returns how many were running after
 * the last turn of their loop. From any thread or signal handler. */
TM_API int tidemill_console_cancel(struct tidemill_console *c, bool now);
/* Frees the console. Running jobs end at once, and can be resumed. */
TM_API void tidemill_console_close(struct tidemill_console *c);

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
   * fails with TM_EUSAGE. To use it anyway, name it here or in the variable. */
  const char *path;
  bool make; /* creates it if there is none: at the path named, or else in the current directory */
  /* Called with messages about the calls below. NULL: these are dropped. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  void *data;
};
#define TIDEMILL_WORKSPACE_OPTIONS_INIT                                                            \
  {                                                                                                \
    sizeof(struct tidemill_workspace_options), NULL, false, NULL, NULL                             \
  }

/* Opens a workspace. `options` may be NULL. TM_EUSAGE: there is none, and the message says where
 * the library looked. */
TM_API int tidemill_workspace_open(struct tidemill_workspace **out,
                                   const struct tidemill_workspace_options *options,
                                   struct tm_err *err);
TM_API const char *tidemill_workspace_path(const struct tidemill_workspace *ws); /* absolute */
TM_API void tidemill_workspace_close(struct tidemill_workspace *ws);

/* ---- Records ---- (a job as its files describe it, whichever process runs it or ran it) */

struct tidemill_record_info {
  size_t size;
  const char *dir;      /* absolute */
  const char *pipeline; /* its name */
  const char *file;     /* the pipeline file; "": it had none */
  enum tidemill_state state;
  bool is_removed;          /* its directory is gone, and the record has no steps */
  const char *fault;        /* why it cannot be read; only `dir` is set then. "": it can */
  const char *cause;        /* why it Failed; "" otherwise */
  int64_t begin_ns, end_ns; /* of the first and of the last session; no end while it runs */
  int64_t elapsed_ns;       /* from the begin to the end, or to now; -1: not known */
  int64_t pid;              /* of the process that runs it, or ran it last; 0: not known */
  const char *host;         /* of that process; "": not known */
  size_t steps_len, steps_reused;
  struct tidemill_counts counts; /* of all steps */
  /* "user ada on host mill (pid 4711)": who has asked to cancel it while it runs; "": nobody has.
   */
  const char *cancel_asked_by;
  bool cancel_is_taken; /* the process that runs it has heard of it */
  bool is_stopped;      /* the process that runs it was stopped, by Ctrl-Z or SIGSTOP */
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
  struct tidemill_counts counts;
  int64_t items_total;            /* -1: not known before all are listed */
  double mini_batches_per_second; /* of the running session; 0: not known */
  int64_t damage_at;              /* the first bad byte of its journal; -1: none */
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
  /* "start", "init", "load", "run", "return", "shutdown" or "recover"; "": not known yet */
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
 * A job is Running until the process that runs it has closed it. TM_EUSAGE: there is no such job.
 * TM_EVERSION, TM_EDAMAGE, or a system error. */
TM_API int tidemill_record_open(struct tidemill_record **out, struct tidemill_workspace *ws,
                                const char *job, struct tm_err *err);
/* Lists the jobs of a workspace, the newest first. With `removed`, also those whose directory is
 * gone, as far as the workspace remembers them. If a job cannot be read, its record has a `fault`.
 * The record is closed when on_job() returns. */
TM_API int tidemill_workspace_jobs(struct tidemill_workspace *ws, bool removed,
                                   int (*on_job)(void *data, struct tidemill_record *job),
                                   void *data, struct tm_err *err);
TM_API void tidemill_record_close(struct tidemill_record *r);

TM_API const struct tidemill_record_info *tidemill_record_info(const struct tidemill_record *r);
/* Step `step` of the job, and below output `i` and error `i` of a step. NULL: there is none. */
TM_API const struct tidemill_record_step *tidemill_record_step(const struct tidemill_record *r,
                                                               size_t step);
TM_API const struct tidemill_record_output *tidemill_record_output(const struct tidemill_record *r,
                                                                   size_t step, size_t i);
/* Why items of a step failed: a few distinct reasons, the newest first. */
TM_API const struct tidemill_failure *tidemill_record_error(const struct tidemill_record *r,
                                                            size_t step, size_t i);
/* What the workers of a running step are doing, the longest first. A worker is listed once it has
 * been doing the same thing for a second; the list is at most a few seconds old. */
TM_API const struct tidemill_activity *tidemill_record_running(const struct tidemill_record *r,
                                                               size_t step, size_t i);
/* Calls on_failure() for each failed item of a step; `step` NULL: of all steps that have ended. */
TM_API int tidemill_record_failures(struct tidemill_record *r, const char *step,
                                    int (*on_failure)(void *data,
                                                      const struct tidemill_failure *failure),
                                    void *data, struct tm_err *err);
/* The record as one JSON object, as `tidemill status --json` prints it. */
TM_API const char *tidemill_record_json(struct tidemill_record *r);
/* The job's job.json: the definition, the parameters, and the origin of each setting. NULL: there
 * is none. */
TM_API const char *tidemill_record_definition(struct tidemill_record *r);
/* The command line that started the job, as it can be typed in a shell in `directory`. It has "..."
 * instead of values of environment variables. NULL: it is not recorded. */
TM_API const char *tidemill_record_command(struct tidemill_record *r, const char **directory);
/* The job's job_result.json. NULL: there is none. */
TM_API const char *tidemill_record_result(struct tidemill_record *r);

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
};
#define TIDEMILL_LOGS_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_logs_options), NULL, NULL, false, false, -1                             \
  }

struct tidemill_log_line {
  size_t size;
  const char *step;
  const char *source; /* "process000.stdout" for printed lines; "": the line itself names it */
  const char *text;   /* without its line break; may contain NUL */
  size_t len;
  size_t steps_len; /* how many steps this call reads */
};

/* Reads the log lines of a job, its workers and its scripts, in the order of time. `ws` and `job`
 * are as for tidemill_record_open(); `options` may be NULL. `line` is NULL when no more lines are
 * there for now. With `follow` the call blocks, on a loop of its own. If a mini-batch has not been
 * tried, the on_log of `ws` gets a message. TM_EUSAGE: there is no such step, worker or mini-batch.
 */
TM_API int tidemill_workspace_logs(struct tidemill_workspace *ws, const char *job,
                                   const struct tidemill_logs_options *options,
                                   int (*on_line)(void *data, const struct tidemill_log_line *line),
                                   void *data, struct tm_err *err);

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
 * (`at`: the first bad byte; -1: the whole file), on_step() for each step; both may be NULL.
 * TM_EINUSE: a process runs the job, or has resumed it meanwhile. */
TM_API int tidemill_workspace_verify(struct tidemill_workspace *ws, const char *job,
                                     void (*on_fault)(void *data, const char *path, int64_t at,
                                                      const char *what),
                                     void (*on_step)(void *data,
                                                     const struct tidemill_verified *step),
                                     void *data, struct tm_err *err);

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
TM_API enum tidemill_resume_way tidemill_resume_way(const char *dir, struct tm_err *err);

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

/* `ws` and `job` as of tidemill_record_open(), but a job or workspace that was found, and belongs
 * to another user or can be written to by others, is refused. `now`: running mini-batches are
 * killed. 0 also when nobody runs the job: the info says so, and no request is left. TM_EUSAGE:
 * there is no such job, or it is refused; else of the system. */
TM_API int tidemill_cancel_new(struct tidemill_cancel **out, struct tidemill_workspace *ws,
                               const char *job, bool now, struct tm_err *err);
/* Looks at the files of the job again. TM_EUSAGE: the process that runs it refuses the request. */
TM_API int tidemill_cancel_look(struct tidemill_cancel *c, struct tm_err *err);
/* As of the last look; valid until the next one. */
TM_API const struct tidemill_cancel_info *tidemill_cancel_info(const struct tidemill_cancel *c);
TM_API void tidemill_cancel_free(struct tidemill_cancel *c); /* the request stays */

/* ---- Registered datasets ---- */

struct tidemill_dataset_info {
  size_t size;
  const char *name;
  int64_t version; /* from 1 */
  const char *type;
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
#define TIDEMILL_REGISTRATION_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_registration), NULL, NULL, 0, false, false, false, NULL, NULL, 0        \
  }

/* Lists all versions of `name`, the newest first; `name` NULL: the newest version of each name. The
 * dataset is closed when on_dataset() returns. */
TM_API int tidemill_workspace_datasets(struct tidemill_workspace *ws, const char *name,
                                       int (*on_dataset)(void *data, struct tidemill_dataset *d),
                                       void *data, struct tm_err *err);
/* Opens a registered dataset. `version` 0: the newest. TM_EUSAGE: there is no such dataset. */
TM_API int tidemill_dataset_open(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                                 const char *name, int64_t version, struct tm_err *err);
/* Registers a dataset. 1: a version was made; 0: it existed already. `out` may be NULL. */
TM_API int tidemill_dataset_register(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                                     const struct tidemill_registration *registration,
                                     struct tm_err *err);
/* Forgets a version; `version` 0: all versions. Keeps the files. Returns how many it forgot. */
TM_API int tidemill_dataset_unregister(struct tidemill_workspace *ws, const char *name,
                                       int64_t version, struct tm_err *err);
TM_API void tidemill_dataset_close(struct tidemill_dataset *d);

TM_API const struct tidemill_dataset_info *tidemill_dataset_info(const struct tidemill_dataset *d);
/* Path `i`, absolute; tag `i`, "NAME=VALUE". NULL: there is none. */
TM_API const char *tidemill_dataset_path(const struct tidemill_dataset *d, size_t i);
TM_API const char *tidemill_dataset_tag(const struct tidemill_dataset *d, size_t i);
/* The line that `tidemill dataset show --json` prints. It has "changed" if
 * tidemill_dataset_changes() was called before. */
TM_API const char *tidemill_dataset_json(struct tidemill_dataset *d);
/* Compares the files with what was registered. 1: *words says what has changed; 0: nothing has. */
TM_API int tidemill_dataset_changes(struct tidemill_dataset *d, const char **words,
                                    struct tm_err *err);

/* ---- Tables ---- */

struct tidemill_head_options {
  size_t size;
  const char *const *paths; /* files, folders, patterns; relative to the current directory */
  size_t paths_len;
  int64_t rows; /* at most this many; 0: only the columns */
  /* Called with each line of text, without its line break. The line is valid until it returns. */
  int (*on_line)(void *data, const char *line);
  /* Called with warnings about these rows. NULL: these are dropped. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  void *data;
  /* Options of the dataset as names and values in turn, as for tidemill_pipeline_set_input():
   * "max_columns", "100", ... */
  const char *const *settings;
  size_t settings_len; /* number of strings; even */
  bool is_command;     /* errors name a setting as an option of a command: '--max-columns' */
};
#define TIDEMILL_HEAD_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_head_options), NULL, 0, 10, NULL, NULL, NULL, NULL, 0, false            \
  }

/* Shows the columns of a table with their types, and its first rows, read as a job would read them
 * (.csv, .tsv or .jsonl, also .gz). Needs neither a runtime nor a workspace. TM_ENOINPUT: the table
 * does not exist, or has no rows. TM_EUSAGE, TM_EINPUT, or a system error. */
TM_API int tidemill_head(const struct tidemill_head_options *options, struct tm_err *err);

/* ---- Removing jobs ---- (tidemill_clean_new() selects jobs; look at them, then remove them) */

struct tidemill_clean_options {
  size_t size;
  const char *const *jobs; /* these jobs in any state; named as for tidemill_record_open() */
  /* 0: all jobs of the workspace that are neither Completed nor running, and copies of scripts that
   * no job needs. */
  size_t jobs_len;
  bool all;                          /* also Completed jobs */
  const enum tidemill_state *states; /* only jobs in these states */
  size_t states_len;
  int64_t older_than_ns; /* only jobs that ended longer ago than this */
};
#define TIDEMILL_CLEAN_OPTIONS_INIT                                                                \
  {                                                                                                \
    sizeof(struct tidemill_clean_options), NULL, 0, false, NULL, 0, 0                              \
  }

struct tidemill_clean_job {
  size_t size;
  const char *dir;
  enum tidemill_state state;
  /* Why it is kept: it is running, is a registered dataset, or contains files that no job made. "":
   * it will be removed. */
  const char *kept;
  int64_t bytes;    /* of its files, if it will be removed */
  bool is_leftover; /* of an interrupted removal: `dir` is no longer a job */
};

/* Selects jobs; removes nothing yet. Always selects the leftovers of interrupted removals, whatever
 * the options are. `ws` may be NULL if `jobs` are named. */
TM_API int tidemill_clean_new(struct tidemill_clean **out, struct tidemill_workspace *ws,
                              const struct tidemill_clean_options *options, struct tm_err *err);
/* Selected job `i`. NULL: there is none. */
TM_API const struct tidemill_clean_job *tidemill_clean_job(const struct tidemill_clean *c,
                                                           size_t i);
/* The number of copies of scripts that will be removed. *bytes: their size. */
TM_API size_t tidemill_clean_scripts(const struct tidemill_clean *c, int64_t *bytes);
/* Removes the directory of job `i`, all of it or nothing. TM_EINUSE: it must be kept now. */
TM_API int tidemill_clean_remove(struct tidemill_clean *c, size_t i, struct tm_err *err);
/* Removes the copies of scripts. TM_EUSAGE: a selected job has not been removed, and may need
 * them. */
TM_API int tidemill_clean_remove_scripts(struct tidemill_clean *c, struct tm_err *err);
TM_API void tidemill_clean_free(struct tidemill_clean *c);

#ifdef __cplusplus
}
#endif
#endif /* lint: allow file-length, a host includes one header */
