/* tidemill.h - the public header of libtidemill, the only one that is installed: pipelines, run by a host application.
 *
 *   runtime -> pipeline (a file, a string, Lua, or step by step) -> job -> events -> result
 *   workspace -> records of jobs, logs, registered datasets
 *   entry scripts in this process, consoles, what definitions accept
 *
 *     struct tm_err err = { 0 };
 *     struct tidemill_runtime *rt;
 *     struct tidemill_pipeline *p;
 *     struct tidemill_job *job;
 *     if (tidemill_runtime_new(&rt, NULL, &err) < 0 || tidemill_pipeline_load(&p, rt, "pipeline.lua", &err) < 0 ||
 *         tidemill_job_submit(&job, p, NULL, &err) < 0 || tidemill_job_wait(job, -1, &err) < 0)
 *       fprintf(stderr, "%s\n", err.text);
 *
 * Whose loop. One of three, chosen when the runtime is made and by what is called then:
 *   block     tidemill_job_wait(), tidemill_runtime_run(): the runtime's own loop turns while they wait.
 *   poll      poll tidemill_runtime_fd() for reading, for at most tidemill_runtime_timeout() milliseconds, from a loop of any
 *             kind, and call tidemill_runtime_turn() then. It never waits.
 *   share     give the runtime a uv_loop_t: jobs go on while the host runs that.
 * Several jobs may run on a runtime at once, and several runtimes in a process.
 *
 * Threads. A runtime, and what was made with it, is used by one thread at a time: the one that made it, or another to which the
 * host hands it over (under a lock of its own). All calls come from there, but for tidemill_runtime_wake(). Callbacks come on the
 * thread that turns the loop, and from within a turn only: none comes before the call that asked for it has returned. From one
 * everything may be called but what turns the loop or closes the runtime, which is refused. on_log and on_lua, and functions
 * that a host adds, come from within the load, or plan, that they are told of: there the runtime is not closed, and its loop is
 * turned only where that itself was not called from a callback.
 *
 * The process. A job that runs has one child, the keeper, which starts the workers: started with posix_spawn, watched by a
 * descriptor, reaped by its number. No signal handler is installed and no signal raised, also not SIGPIPE; no other child is
 * waited for; nothing is printed (but see is_command), no process-wide setting is changed (locale, directory, mask, limits), and
 * exit() is not called. Threads of the library block all signals. Descriptors 0 to 2 are never taken, whether they are open or
 * not. A host that forks leaves its runtimes to the parent. LuaJIT's profiler and timer signals are used in workers alone, and for what
 * a host wants to interrupt (struct tidemill_script_options, tidemill_console_new()).
 */
#ifndef TIDEMILL_H
#define TIDEMILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Errors. What can fail returns 0 or more, or a negative code: TM_E... below, or a negated errno value; `err` (may be NULL) has
 * the words. Calls in a wrong order are TM_EUSAGE, with words that say what is missing. Out of memory, and where one of its own
 * conditions does not hold, the library aborts, as no file may be written then: tidemill_set_on_fault() hears of it before.
 *
 * Memory. Objects are opaque. A string that is given is copied. One that is returned belongs to the object it was asked of, and
 * is valid until that is asked again, or closed; one in an event, until the callback returns. Text is UTF-8 as it came. Closing or
 * freeing NULL is no error and does nothing; where else something is needed, NULL is TM_EUSAGE with its name; a call that cannot fail
 * does nothing then, and what it gives is NULL, 0, or -1 where that has a meaning.
 *
 * What is stable. Before version 1.0 each minor version is an interface of its own, and the name of the shared library says so
 * (libtidemill.so.0.1); from 1.0 on each major version is. Within one, functions, enumerators and codes are added and never
 * changed or taken away. A struct that begins with `size` may grow at its end, and is given with the size that the host was
 * compiled with (the _INIT macros set it); others do not change. Values of an enumeration that a host does not know are to be
 * ignored. What this header does not name is hidden. Formats of files in a job's directory have versions of their own.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define TM_API __attribute__((visibility("default")))

/* The version of the library that is loaded: "0.1.0". Static memory. Any thread. */
TM_API const char *tm_version(void);

/* Codes and words of errors.
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

/* An error with its words: lower case, what failed first, no full stop. In memory of the caller's. */
struct tm_err {
  int code;        /* 0: no error */
  char text[2040]; /* cut, never overrun; always ends in NUL */
};

/* "EUSAGE", "ENOENT", or "UNKNOWN". Static memory. Any thread. */
TM_API const char *tm_code_name(int code);
/* "wrong usage or definition", "no such file or directory". Static memory. Any thread. */
TM_API const char *tm_code_text(int code);

/* Told of faults of the library's own; `is_fatal` when abort() follows. Before any other call, once for the process; without it
 * nothing is written. */
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
  struct uv_loop_s *loop; /* the host's, which it runs; NULL: one of the runtime's own */
  /* The folder where jobs live that are given no directory; NULL: that of TIDEMILL_WORKSPACE, else the nearest `.tidemill` in the
   * pipeline's folder or above, else a new one there. One that is found, but belongs to another user or can be written to by
   * others, is refused (TM_EUSAGE): naming it here or in the variable is consent. */
  const char *workspace;
  /* The tidemill program of this version, which keepers and workers are; NULL: that of TIDEMILL_PROGRAM, else the one that was
   * installed with the library. */
  const char *program;
  /* What pipeline files and Lua files of parameters print, and what there is to say of them, a line each; NULL: nobody hears it. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  /* With a loop of the host's: all is closed, and nothing of the runtime is left. Else not called. */
  void (*on_closed)(void *data);
  void *data;
  /* The host is a command, whose standard descriptors its jobs may use: what pipeline files print goes to standard output, keepers
   * speak on standard error, and a list of paths "-" is read from standard input. Errors name options as they are typed. */
  bool is_command;
};
#define TIDEMILL_RUNTIME_OPTIONS_INIT                                                              \
  {                                                                                                \
    sizeof(struct tidemill_runtime_options), NULL, NULL, NULL, NULL, NULL, NULL, false             \
  }

/* `options` NULL: all as NULL says. -ENOENT: there is no program; the words say where it was looked for. */
TM_API int tidemill_runtime_new(struct tidemill_runtime **out,
                                const struct tidemill_runtime_options *options, struct tm_err *err);
/* Closes its jobs, as tidemill_job_close(), and frees all; pipelines of it are freed by the host before. On its own loop all is
 * done when this returns; on a host's when on_closed comes. TM_EUSAGE, and nothing is done: from within a callback, on its own
 * loop; or a pipeline is left, or a console. */
TM_API int tidemill_runtime_close(struct tidemill_runtime *rt, struct tm_err *err);

/* Waits until no job runs, or for `timeout_ms` (-1: no limit): 0, -ETIMEDOUT, or -EINTR after tidemill_runtime_wake(). TM_EUSAGE: the
 * loop is the host's; or from within a callback. */
TM_API int tidemill_runtime_run(struct tidemill_runtime *rt, int timeout_ms, struct tm_err *err);
/* Does what is due and does not wait: how many jobs run yet. TM_EUSAGE as above. */
TM_API int tidemill_runtime_turn(struct tidemill_runtime *rt, struct tm_err *err);
/* A descriptor of which "can be read" says that there is something to do. The runtime's; the same for all its life. -1: the loop
 * is the host's. */
TM_API int tidemill_runtime_fd(const struct tidemill_runtime *rt);
/* After how many milliseconds there is something to do though the descriptor says nothing; 0 at once, -1 never. To be asked
 * anew before each poll. */
TM_API int tidemill_runtime_timeout(struct tidemill_runtime *rt);
/* From any thread, also from a signal handler: a wait that goes on, or the next one, ends with -EINTR. */
TM_API void tidemill_runtime_wake(struct tidemill_runtime *rt);

/* Absolute path of the program that keepers and workers are. */
TM_API const char *tidemill_runtime_program(const struct tidemill_runtime *rt);

/* ---- Pipelines ----
 *
 * A definition, with values for its parameters. It may be submitted any number of times, and freed at once when its jobs have been
 * submitted. What is wrong with it is said with file and line where there are any. */

/* A file that returns tidemill.Pipeline { ... }. */
TM_API int tidemill_pipeline_load(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                  const char *path, struct tm_err *err);
/* The same from text. `name` is what messages call it, and its folder what relative paths are against ("" or a bare name: the
 * current directory). */
TM_API int tidemill_pipeline_load_string(struct tidemill_pipeline **out,
                                         struct tidemill_runtime *rt, const char *text,
                                         const char *name, struct tm_err *err);
/* The tidemill.Pipeline at `index` of a Lua stack, in a state of tidemill_lua_open() or of on_lua. `name` as above. The stack is
 * left as it was, and nothing is raised. */
TM_API int tidemill_pipeline_from_lua(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                      struct lua_State *L, int index, const char *name,
                                      struct tm_err *err);

/* The pipeline of a job, as its record says: the file as it is now, and the parameters that were given then, which may be set anew. A
 * submission with `resume` goes on with that job. `job`: its directory, its name, or "latest" of the workspace. TM_EUSAGE: there
 * is none, or it was not begun from a file. */
TM_API int tidemill_pipeline_load_job(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                      const char *job, struct tm_err *err);

/* One that is built here. `dir` is what relative paths are against; NULL: the current directory. */
TM_API int tidemill_pipeline_new(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                 const char *name, const char *dir, struct tm_err *err);
/* A step that runs a script, which is a path; what follows is of the step that was added last. */
TM_API int tidemill_pipeline_add_step(struct tidemill_pipeline *p, const char *name,
                                      const char *entry_script, struct tm_err *err);
/* A parameter of ParallelRunStep or ParallelRunConfig by its name (`tidemill help parameters`), as text: "mini_batch_size" "5".
 * Names of a list are separated by commas; "environment_variables" is "NAME=VALUE", and adds one. */
TM_API int tidemill_pipeline_set(struct tidemill_pipeline *p, const char *key, const char *value,
                                 struct tm_err *err);
/* An input of files: a path, a folder or a pattern. `name` (or NULL) is what the script finds in context.dataset_name. */
TM_API int tidemill_pipeline_add_files(struct tidemill_pipeline *p, const char *path,
                                       const char *name, struct tm_err *err);
/* An input of rows: of delimited files, or of JSON lines where `path` ends in .jsonl, .ndjson or .json (and .gz), in either case. */
TM_API int tidemill_pipeline_add_table(struct tidemill_pipeline *p, const char *path,
                                       const char *name, struct tm_err *err);
/* An input whose items are the entries of archives: a path, a folder or a pattern. */
TM_API int tidemill_pipeline_add_archives(struct tidemill_pipeline *p, const char *path,
                                          const char *name, struct tm_err *err);
/* An input of files whose paths stand in this one, one a line; they are read as the job goes on. */
TM_API int tidemill_pipeline_add_manifest(struct tidemill_pipeline *p, const char *path,
                                          const char *name, struct tm_err *err);
/* One more path of the input that was added last, whose items come behind the others. */
TM_API int tidemill_pipeline_add_path(struct tidemill_pipeline *p, const char *path,
                                      struct tm_err *err);
/* What the input that was added last is besides, as text: an option of its constructor in Lua by its name (`tidemill help
 * parameters`), "separator" ";", "partition_format" "{store}/{date:yyyy/MM/dd}"; or "limit": so many items at most; or, of a table and
 * before its other options, "format": "csv", "tsv" or "jsonl", where the name of its first file does not say it. The value of
 * "set_column_types" is "id=long,day=datetime", or JSON: {"day": {"type": "datetime", "formats": ["%d.%m.%Y"]}}. */
TM_API int tidemill_pipeline_set_input(struct tidemill_pipeline *p, const char *key,
                                       const char *value, struct tm_err *err);
/* An input: the files that an earlier step writes. */
TM_API int tidemill_pipeline_add_output_of(struct tidemill_pipeline *p, const char *step,
                                           const char *name, struct tm_err *err);
/* Of one that is built here: workers of all steps are in `dir`, in place of the folder with the copy of their script. */
TM_API int tidemill_pipeline_set_working_dir(struct tidemill_pipeline *p, const char *dir,
                                             struct tm_err *err);
/* One more argument of the script. */
TM_API int tidemill_pipeline_add_argument(struct tidemill_pipeline *p, const char *text,
                                          struct tm_err *err);

/* An entry script as text, for the steps so far that name `path`, whether there is such a file or not; TM_EUSAGE: none does. It is written to the
 * workspace, by its contents, so that a job of it can be resumed. */
TM_API int tidemill_pipeline_set_script(struct tidemill_pipeline *p, const char *path,
                                        const char *text, struct tm_err *err);
/* The value of a PipelineParameter, as text; the last one counts. */
TM_API int tidemill_pipeline_set_param(struct tidemill_pipeline *p, const char *name,
                                       const char *value, struct tm_err *err);
/* The same. `origin` is what a record and a plan say of where the value is from, as "--param"; NULL: "given". `dir` is what paths
 * of datasets in it are against; NULL: the folder of the pipeline. */
TM_API int tidemill_pipeline_set_param_from(struct tidemill_pipeline *p, const char *name,
                                            const char *value, const char *origin, const char *dir,
                                            struct tm_err *err);
/* Values out of a file: a JSON object, or a Lua file (.lua) that returns a table. Paths of datasets are against its folder. */
TM_API int tidemill_pipeline_set_params_file(struct tidemill_pipeline *p, const char *path,
                                             struct tm_err *err);
/* The values that parameters of these names had in an earlier job (`job` as above), and its items, where these had been those that
 * failed in another. What else is different from that job comes to on_log with each plan and submission. */
TM_API int tidemill_pipeline_set_like(struct tidemill_pipeline *p, const char *job,
                                      struct tm_err *err);
/* The items alone that failed in an earlier job: each step has those of the step of its name, and one without any is left out. The
 * parameters are set before. 1: none has failed, and there is nothing to do, as `err` says; a submission is TM_ENOINPUT. */
TM_API int tidemill_pipeline_set_only_failed(struct tidemill_pipeline *p, const char *job,
                                             struct tm_err *err);
/* Whether all is well with it, as a submission would say. Nothing is made. */
TM_API int tidemill_pipeline_check(struct tidemill_pipeline *p, struct tm_err *err);
TM_API const char *tidemill_pipeline_name(const struct tidemill_pipeline *p);

enum tidemill_graph {
  TIDEMILL_GRAPH_TEXT, /* a tree of lines */
  TIDEMILL_GRAPH_DOT,  /* for Graphviz */
  TIDEMILL_GRAPH_MERMAID,
};
/* Which step waits for which. Scripts are not compiled. What a check has found is used, where nothing was changed since. */
TM_API int tidemill_pipeline_graph(const char **out, struct tidemill_pipeline *p,
                                   enum tidemill_graph format, struct tm_err *err);

struct tidemill_plan_options {
  size_t size;
  bool json; /* one JSON object, as of `tidemill run --dry-run --json`; else lines of text */
  /* Of each step too whether an earlier result would be in its place, and why, or what has changed. */
  bool explain;
  bool no_reuse; /* as of a job: what is at a destination is not taken for an earlier result */
};
#define TIDEMILL_PLAN_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_plan_options), false, false, false                                      \
  }

/* What a job of it would do, as of `tidemill run --dry-run`: of each step its mini-batches, the first and the last of them, and the
 * settings with where each came from. All is checked as by a submission, and the inputs are read as a job reads them, which takes as
 * long; nothing is made. `options` may be NULL. What there is to say of the inputs comes to the runtime's on_log, before this
 * returns; from there `p` is not freed. TM_EUSAGE: the definition, an input that is a list on standard input, or what stands in a
 * job's way, as a destination that is full; TM_ESCRIPT: a script is no Lua; TM_ENOINPUT: an input holds nothing; TM_EINPUT, or of the
 * system. */
TM_API int tidemill_pipeline_plan(const char **out, struct tidemill_pipeline *p,
                                  const struct tidemill_plan_options *options, struct tm_err *err);
TM_API void tidemill_pipeline_free(struct tidemill_pipeline *p);

/* ---- Jobs ---- */

enum tidemill_state {
  TIDEMILL_RUNNING, /* or waits for its turn */
  TIDEMILL_COMPLETED,
  TIDEMILL_FAILED,
  TIDEMILL_CANCELED,
  TIDEMILL_SKIPPED, /* a step: what it reads was not all written */
  /* Of records alone: */
  TIDEMILL_INTERRUPTED, /* it has no result, and nobody runs it */
  TIDEMILL_WAITING,     /* a step: not begun */
};
/* "Running", "Completed", ...; "Unknown". Static memory. Any thread. */
TM_API const char *tidemill_state_name(enum tidemill_state state);

/* Numbers of a job or step; those of earlier sessions are in them. */
struct tidemill_counts {
  int64_t created;                              /* mini-batches */
  bool all_created;                             /* `created` is final */
  int64_t succeeded, failed, running;           /* mini-batches */
  int64_t items, items_succeeded, items_failed; /* of mini-batches that have ended */
  int64_t
      uncounted; /* failed mini-batches of tables whose rows nobody could count; each counts as one item */
};
/* A job's, in this order: STATE Running; the others as they come; STATE with its end, the last one. */
enum tidemill_event_kind {
  TIDEMILL_EVENT_STATE = 1,  /* state, counts; text: why it failed */
  TIDEMILL_EVENT_PROGRESS,   /* counts, of all steps: when they change, ten times a second */
  TIDEMILL_EVENT_STEP,       /* step, state, counts, text: it has begun, or is over */
  TIDEMILL_EVENT_MINI_BATCH, /* step, worker, mini_batch, outcome, ...: a try has ended */
  TIDEMILL_EVENT_WORKER,     /* step, worker, pid, worker_state, text: how it ended */
  TIDEMILL_EVENT_LOG,        /* level, text, step or NULL: a line of the job's log */
  TIDEMILL_EVENT_ROWS,       /* step, output_bytes: more rows are committed, and can be read */
};

enum tidemill_outcome {
  TIDEMILL_DONE = 1, /* committed; a part: held until all of it is */
  TIDEMILL_GIVEN_UP, /* failed, and not tried again */
  TIDEMILL_RETRIED,  /* failed, and will be tried again */
};

enum tidemill_worker_state {
  TIDEMILL_WORKER_STARTED = 1,
  TIDEMILL_WORKER_READY,  /* its init() has returned */
  TIDEMILL_WORKER_FAILED, /* its init() has failed: text, stack, where */
  TIDEMILL_WORKER_ENDED,
};

/* What is not said of a kind is 0, or "" for text. */
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
  const char *step;   /* its name, or NULL: of the job */
  const char *worker; /* "process000", or NULL */
  int64_t pid;        /* of the worker */
  /* MINI_BATCH and WORKER_FAILED: the error's words. Of a MINI_BATCH that is done: why items of it failed all the same, or "". */
  const char *text;
  const char *stack;   /* of the script, with the error */
  const char *where;   /* "score.lua:12": the innermost line of the script */
  uint64_t mini_batch; /* its number, from 0 */
  /* While bad items are isolated: number of the part's first item, from 1; 0: it is all of it. */
  int64_t part_first;
  const char *status;     /* of the try: "RUN_DONE", "RUN_EXCEPTION", "RUN_TIMEOUT", ... */
  const char *first_item; /* path of the first item, or of the file that it is in */
  int64_t items, items_succeeded, items_failed; /* of the mini-batch, or part */
  int64_t run_ns;                               /* how long run() took */
  struct tidemill_counts counts;
  int64_t output_bytes; /* as of struct tidemill_step */
};

/* How far it is, for people. */
enum tidemill_progress {
  TIDEMILL_PROGRESS_NONE,
  TIDEMILL_PROGRESS_PLAIN, /* a line about every ten seconds */
  TIDEMILL_PROGRESS_BAR,   /* one line of a terminal, redrawn in its place */
};
/* What people read while a job runs: what there is to say, how far it is, and at the end what came of it. */
struct tidemill_screen {
  size_t size;
  void (*write)(void *data, const char *text, size_t len);
  bool (*is_ready)(void *data); /* a line would be taken without waiting; NULL: always */
  int (*width)(void *data);     /* columns, for a bar; NULL: 80 */
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
  /* Goes on with the job in `dir`, else with the one that the pipeline is of, else with this pipeline's newest that is not Completed. */
  bool resume;
  /* As of `tidemill run --resume`; also with --resume_from among the arguments of a step, else TM_EUSAGE. */
  bool keep_failed, accept_changes, verify_input;
  /* Every step is run, whatever earlier jobs have done; later ones may reuse this one. */
  bool no_reuse;
  /* Of all steps together; 0: as many as there are cores, or as the step with the most has. */
  int64_t max_workers;
  /* Called for each event. What it points to is valid until it returns. */
  void (*on_event)(void *data, const struct tidemill_event *event);
  void *data;
  /* With `resume`: goes on with the job's own copy of the script, whatever that is now. */
  bool keep_script;
  const struct tidemill_screen
      *screen; /* copied, and called until the job is closed; NULL: nobody reads along */
  /* With `resume`: reads all committed rows and failure lines, and compares them with the journal before anything runs. The call that
   * opens the job blocks meanwhile. TM_EDAMAGE names the first difference. */
  bool verify_output;
};
#define TIDEMILL_JOB_OPTIONS_INIT                                                                  \
  {                                                                                                \
    sizeof(struct tidemill_job_options), NULL, false, false, false, false, false, 0, NULL, NULL,   \
        false, NULL, false                                                                         \
  }

/* Checks the pipeline, makes (or opens) the job's directory, copies the scripts; the job begins with the loop's next turn. It may
 * wait up to 5 s for a directory that another process has only just left. TM_EUSAGE: the definition, or `dir`; TM_ESCRIPT: a
 * script is no Lua; TM_ECHANGED: it is not the job's definition; TM_EINUSE, TM_EVERSION, TM_EDAMAGE, or of the system.
 * `options` may be NULL. */
TM_API int tidemill_job_submit(struct tidemill_job **out, struct tidemill_pipeline *p,
                               const struct tidemill_job_options *options, struct tm_err *err);
/* Goes on with a job from what its own record says: the pipeline file, and the parameters of then. `job` is its directory, its
 * name, or "latest" of the workspace; `options` may be NULL, and its `dir` and `resume` count for nothing. */
TM_API int tidemill_job_resume(struct tidemill_job **out, struct tidemill_runtime *rt,
                               const char *job, const struct tidemill_job_options *options,
                               struct tm_err *err);
/* Waits for its end, for at most `timeout_ms` (-1: no limit); other jobs of the runtime go on meanwhile. 0: it has ended, however;
 * -ECANCELED: a callback has closed it; else as of tidemill_runtime_run(). */
TM_API int tidemill_job_wait(struct tidemill_job *job, int timeout_ms, struct tm_err *err);
/* No more mini-batches are handed out, and the running ones may end; with `now` they are killed. The job is Canceled when its event
 * says so, and can be resumed. One that has ended: nothing is done. */
TM_API void tidemill_job_cancel(struct tidemill_job *job, bool now);
/* A line of the host's own on the job's screen, between its progress: "warning: ..." by its level, below that as it is. A text that
 * was said is not said again. */
TM_API void tidemill_job_say(struct tidemill_job *job, enum tidemill_level level, const char *text);

TM_API enum tidemill_state tidemill_job_state(const struct tidemill_job *job);
/* What `tidemill run` would exit with: 0 Completed, 1 Failed, 2 wrong definition, 3 system error, 130 Canceled; -1: it runs. */
TM_API int tidemill_job_exit_status(const struct tidemill_job *job);
TM_API const char *tidemill_job_name(const struct tidemill_job *job); /* of its pipeline */
TM_API const char *tidemill_job_dir(const struct tidemill_job *job);  /* absolute */
/* Why it Failed; "" otherwise. */
TM_API const char *tidemill_job_cause(const struct tidemill_job *job);
/* Of all steps. */
TM_API void tidemill_job_counts(const struct tidemill_job *job, struct tidemill_counts *out);
/* The result as one JSON object, as in job_result.json and of `tidemill run --json`; NULL while it runs, and when the inputs of a
 * Completed job were only compared. */
TM_API const char *tidemill_job_result(struct tidemill_job *job);

struct tidemill_step {
  size_t size;
  const char *name;
  enum tidemill_state state;
  const char *output_dir;
  /* The rows, when it is Completed; before, they are in a file of this name and ".partial". NULL with summary_only. */
  const char *output_file;
  const char *logs_dir;
  const char *cause; /* why it Failed or was Skipped; "" else */
  struct tidemill_counts counts;
  /* So much of the file, while it is ".partial", are rows that are committed, of earlier sessions too: who reads along reads to there. */
  int64_t output_bytes;
};
#define TIDEMILL_STEP_INIT                                                                         \
  {                                                                                                \
    sizeof(struct tidemill_step), NULL, TIDEMILL_RUNNING, NULL, NULL, NULL, NULL,                  \
        { 0, false, 0, 0, 0, 0, 0, 0, 0 }, 0                                                       \
  }

TM_API size_t tidemill_job_steps_len(const struct tidemill_job *job);
/* TM_EUSAGE: there is no such step. */
TM_API int tidemill_job_step(const struct tidemill_job *job, size_t i, struct tidemill_step *out,
                             struct tm_err *err);
/* Puts a copy of the rows of a step, which is Completed, at `path`: all of it or nothing, on the disk when this returns. A regular file
 * that is there is replaced with `overwrite`. TM_EUSAGE: that cannot be; or of the system. */
TM_API int tidemill_job_put_output(struct tidemill_job *job, size_t step, const char *path,
                                   bool overwrite, struct tm_err *err);
/* Whether it could be put there, as things are now: to be asked before a job is begun. */
TM_API int tidemill_output_check(struct tidemill_runtime *rt, const char *path, bool overwrite,
                                 struct tm_err *err);

/* Frees it. One that runs is ended at once, its processes killed, without an event; it can be resumed. From within a callback it
 * is done in the loop's next turn, and no event comes before. Nothing of a job lives when it is closed, so a job that runs is waited
 * for: some hundredths of a second, and seconds (5 for its child, 5 for what that left) where the machine does not let processes
 * die. Whose loop must not stand still for that cancels with `now`, and closes behind the last event: then there is nothing to wait
 * for. */
TM_API void tidemill_job_close(struct tidemill_job *job);

/* ---- Lua ---- (LuaJIT 2.1, the one that the library is linked to) */

/* Called with each new state that a pipeline file, or a Lua file of parameters, will run in, before it does, beneath a protected call:
 * it may raise, and the load fails with the words. What it puts into the state is the file's. */
TM_API void tidemill_runtime_on_lua(struct tidemill_runtime *rt,
                                    void (*on_lua)(void *data, struct lua_State *L), void *data);
/* `require "host"` of a pipeline file is a table with what is added here: a C function, or a value, as JSON text. */
TM_API int tidemill_runtime_add_function(struct tidemill_runtime *rt, const char *name,
                                         int (*function)(struct lua_State *L), struct tm_err *err);
TM_API int tidemill_runtime_add_value(struct tidemill_runtime *rt, const char *name,
                                      const char *json, struct tm_err *err);
/* Makes `require "tidemill"` and its modules known to a state of the host's; pipeline:submit { ... } in it gives a job on `rt`, which
 * must live as long as the state. Nothing is raised. */
TM_API int tidemill_lua_open(struct lua_State *L, struct tidemill_runtime *rt, struct tm_err *err);

/* ---- Parameters ---- (what definitions accept, for forms and for help: the one table that checks them) */

enum tidemill_parameter_type {
  TIDEMILL_PARAMETER_INTEGER = 1,
  TIDEMILL_PARAMETER_SECONDS, /* a number */
  TIDEMILL_PARAMETER_PERCENT, /* a number */
  TIDEMILL_PARAMETER_SIZE,    /* bytes, or "10MB" */
  TIDEMILL_PARAMETER_AMOUNT,  /* items, "10MB" or "500rows" */
  TIDEMILL_PARAMETER_CHOICE,  /* one of `choices` */
  TIDEMILL_PARAMETER_BOOL,    /* "true", "false" */
  TIDEMILL_PARAMETER_TEXT,
  TIDEMILL_PARAMETER_CHARACTER, /* one */
  TIDEMILL_PARAMETER_NAME,
  TIDEMILL_PARAMETER_NAMES,     /* a list of them */
  TIDEMILL_PARAMETER_FILE_NAME, /* without a folder */
  TIDEMILL_PARAMETER_PATH,
  TIDEMILL_PARAMETER_VARIABLES, /* names with values */
  TIDEMILL_PARAMETER_TYPES,     /* of columns: names with types */
  TIDEMILL_PARAMETER_OTHER,     /* what only a definition in Lua can make: lists, objects */
};

struct tidemill_parameter {
  size_t size;
  const char *name; /* "run_max_try" */
  enum tidemill_parameter_type type;
  const char *help;          /* one line */
  const char *default_value; /* as text; NULL: none, or worked out */
  const char *choices;       /* "append_row|summary_only"; NULL: it is no CHOICE */
  double min, max;           /* of numbers; both 0: any */
  bool required;
  bool may_be_parameter; /* a PipelineParameter may stand in its place */
  bool changeable;       /* it may be another when a job is resumed */
  char accepted[256];    /* "an integer from 1 on" */
};
#define TIDEMILL_PARAMETER_INIT                                                                    \
  {                                                                                                \
    sizeof(struct tidemill_parameter), NULL, TIDEMILL_PARAMETER_OTHER, NULL, NULL, NULL, 0, 0,     \
        false, false, false, ""                                                                    \
  }

/* The constructors, functions and methods of Lua that take parameters by name, in the order of the manual: "ParallelRunConfig",
 * "ParallelRunStep", ...; "arguments": of a step, those that are the runner's own. NULL behind the last. Static memory. Any
 * thread. */
TM_API const char *tidemill_constructor(size_t i);
/* Its parameters, in the order of the manual. `out` is given with its `size`; its texts are static memory, or its own. False: there
 * is none of that number, or no such constructor. Any thread. */
TM_API bool tidemill_parameter(const char *constructor, size_t i, struct tidemill_parameter *out);

/* ---- Entry scripts ----
 *
 * One that runs in this process, for who works on it: tidemill.load_script() of Lua, `tidemill try` and `replay`. No job is made, and no
 * worker started: what it does to a process is done to the host's.
 *
 *   load -> next, init -> run, next, run, ... -> shutdown -> close
 *
 * It has a Lua state of its own, and fresh folders below TMPDIR, or /tmp. It belongs to one thread at a time, and from init() on to the
 * one that called that. Nothing of the process is changed for it: who wants that it finds its variables sets them, and goes to its
 * `working_dir`. Structs that these calls give have the library's `size`, and are valid until the next call with the script.
 */

struct tidemill_script;

struct tidemill_script_options {
  size_t size;
  const char *step; /* of this one; NULL: of the only one */
  /* tidemill_script_interrupt() takes hold. One script of a process at a time: SIGPROF, and the timer of its CPU time, are LuaJIT's until
   * it is closed, and then a handler's that was there before; TM_EINUSE: another has them. */
  bool interruptible;
  bool no_timeout; /* without the timeouts of the step */
  /* What it prints (INFO, a text for each print() and io.write()), and what there is to say of it; NULL: nobody hears it. From there
   * nothing is called with the script. */
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
  const char *job;                             /* its directory; "": of a pipeline */
  const char *dir;                             /* its own, with the next three in it */
  const char *output_dir, *log_dir, *temp_dir; /* as of a worker */
  const char *working_dir;                     /* where a worker of the step is, or would be */
  bool interruptible;                          /* it was asked for, and the step allows it */
  /* Of the step; 0: none. The host's clock keeps them, with tidemill_script_interrupt(). */
  int64_t init_timeout_ns, run_timeout_ns, interrupt_grace_ns;
};

struct tidemill_mini_batch {
  size_t size;
  int64_t mini_batch; /* its number, from 0 */
  int64_t items;
  const char *dataset; /* name of the input; "": it has none */
  const char *head;    /* of a table, for people: its columns, and a few of the rows; "" else */
};

struct tidemill_returned {
  size_t size;
  int64_t items;    /* that run() was given: of an archive what could be read */
  int64_t elements; /* that it returned; fewer: items have failed */
  const char *rows; /* as they would stand in the output file; may hold NUL */
  size_t len;
};

struct tidemill_script_error {
  size_t size;
  const char *text;  /* "run() failed at score.lua:12: ..."; may be of several lines */
  const char *stack; /* of the script; "": none is known */
  const char *where; /* "score.lua:12": its innermost line, or "" */
};

/* The script of a step, with the settings and arguments that it has there. The file is compiled, and not run yet. TM_EUSAGE: the
 * definition, or a step that is not ready without a job, as it reads what another one writes; TM_ESCRIPT: it is no Lua. `options` may be
 * NULL, also below. */
TM_API int tidemill_script_load(struct tidemill_script **out, struct tidemill_pipeline *p,
                                const struct tidemill_script_options *options, struct tm_err *err);
/* The script of a job, as it was then, to run this mini-batch of it again; the job is not changed. `job`: its directory, its name, or
 * "latest" of the workspace. TM_EUSAGE: there is no such job, step or mini-batch; TM_EINUSE: it runs; TM_ECHANGED: the items are gone;
 * TM_EDAMAGE, TM_EVERSION, or of the system. */
TM_API int tidemill_script_load_again(struct tidemill_script **out, struct tidemill_runtime *rt,
                                      const char *job, int64_t mini_batch,
                                      const struct tidemill_script_options *options,
                                      struct tm_err *err);
TM_API const struct tidemill_script_info *tidemill_script_info(const struct tidemill_script *s);
/* "NAME=VALUE": what workers of the step find in their environment. NULL: there is none of that number. */
TM_API const char *tidemill_script_variable(const struct tidemill_script *s, size_t i);

/* The next mini-batch of the step's inputs, which a run() is then for; of a job the one that it was loaded for. 1; 0: there is none.
 * TM_ENOINPUT: the inputs hold nothing; TM_EINPUT, or of the system. */
TM_API int tidemill_script_next(struct tidemill_script *s, const struct tidemill_mini_batch **out,
                                struct tm_err *err);
/* Runs the file, in a new Lua state, and calls its init(). Again, after an edit: the file as it is now. TM_ESCRIPT: it has failed, or has
 * no run(). */
TM_API int tidemill_script_init(struct tidemill_script *s, struct tm_err *err);
/* Calls run() over the mini-batch, as often as is wanted. What it returns is judged as in a job. TM_ESCRIPT: it has failed, or has
 * returned what it may not; TM_EINPUT, or of the system: the mini-batch cannot be loaded. */
TM_API int tidemill_script_run(struct tidemill_script *s, const struct tidemill_returned **out,
                               struct tm_err *err);
TM_API int tidemill_script_shutdown(struct tidemill_script *s, struct tm_err *err);
/* All of what was wrong with the call that was TM_ESCRIPT last; NULL: none was. */
TM_API const struct tidemill_script_error *tidemill_script_error(const struct tidemill_script *s);
/* From any thread, also from a signal handler: init() or run(), where one goes on, fails as soon as can be, and says where it was; compiled
 * loops too. Within a C function it takes hold when that returns. May come again; not beside a tidemill_script_close(). */
TM_API void tidemill_script_interrupt(struct tidemill_script *s);
/* The process is about to end within a call, by os.exit() for instance: removes the folders as closing does, and touches no Lua.
 * The script can only be closed afterwards. */
TM_API void tidemill_script_leave(struct tidemill_script *s);
/* Without a shutdown(). Its temp_dir is removed, and its other folders when nothing is in them; else on_log is told where. */
TM_API void tidemill_script_close(struct tidemill_script *s);

/* ---- Consoles ----
 *
 * Lua for people: what `tidemill repl` is behind its terminal, for a console of the host's. What is typed is run piece by piece, its
 * values are shown as text; names are completed, help(x) says what the manual does. Jobs that are submitted there go on beside it,
 * on a thread of its own; the console hears of them between two pieces, and while one waits for them.
 *
 * It belongs to the thread that made it, and its runtime to it alone: no job of the host's, and no loop. What it prints goes to
 * standard output. One of a process at a time, and SIGPROF is its own, as of a script that can be interrupted.
 */

struct tidemill_console;

struct tidemill_console_options {
  size_t size;
  bool has_color;           /* what it shows may have escape codes */
  int (*width)(void *data); /* columns; NULL: 80 */
  /* Of jobs: whole lines, the last without its break; and a line that is renewed in its place, NULL: none any more. NULL: nobody
   * hears it. They come from within the calls below, as all of these do: from there nothing is called with the console, but to
   * interrupt it, or to cancel. */
  void (*on_say)(void *data, const char *text);
  void (*on_status)(void *data, const char *text);
  /* What help(topic) says of a topic that is neither a value nor a function: valid until it is asked again. NULL: nothing is known. */
  const char *(*help)(void *data, const char *topic);
  void *data;
};
#define TIDEMILL_CONSOLE_OPTIONS_INIT                                                              \
  {                                                                                                \
    sizeof(struct tidemill_console_options), false, NULL, NULL, NULL, NULL, NULL                   \
  }

/* `options` may be NULL. TM_EINUSE: another console, or a script, can be interrupted in this process; TM_EUSAGE: the runtime is on a loop
 * of the host's. */
TM_API int tidemill_console_new(struct tidemill_console **out, struct tidemill_runtime *rt,
                                const struct tidemill_console_options *options, struct tm_err *err);
/* Runs a piece, an expression too; `name` is what messages call it. 0: *out is its values as text, or ""; 1: it is not complete, and comes
 * once more with the next line behind it; TM_ESCRIPT: *out has the words and the stack; -EINTR: it was interrupted, where is in *out, which is
 * the console's until its next call. */
TM_API int tidemill_console_feed(struct tidemill_console *c, const char *text, size_t len,
                                 const char *name, const char **out);
/* The same of a file; `words` are what it finds in `arg`, from 0 on, and all but the first in `...`; may be NULL. */
TM_API int tidemill_console_feed_file(struct tidemill_console *c, const char *path,
                                      char *const *words, size_t words_len, const char **out);
/* How goes on what stands before the cursor, lines before it too? *insert: what all that fits has in common, without what is there;
 * *list: lines for people, where several fit. Both may be "". */
TM_API void tidemill_console_complete(struct tidemill_console *c, const char *text, size_t len,
                                      const char **insert, const char **list);
/* From any thread, also from a signal handler: what is run is taken out of what it does, compiled loops and waits too. Within a C
 * function it takes hold when that returns. May come again; not beside a tidemill_console_close(). False: nothing was run. */
TM_API bool tidemill_console_interrupt(struct tidemill_console *c);
/* Can be read when something is to be heard: then, between two pieces, tidemill_console_hear(). */
TM_API int tidemill_console_fd(const struct tidemill_console *c);
TM_API void tidemill_console_hear(struct tidemill_console *c);
/* How many jobs run whose end was not heard of yet. */
TM_API int tidemill_console_running(struct tidemill_console *c);
/* From any thread, also from a signal handler: cancels its jobs, as tidemill_job_cancel(). How many ran last. */
TM_API int tidemill_console_cancel(struct tidemill_console *c, bool now);
/* Its jobs that run are ended at once, and can be resumed. */
TM_API void tidemill_console_close(struct tidemill_console *c);

/* ---- Workspaces ----
 *
 * What is on disk: jobs of any process, as their files say, and registered datasets. No runtime is needed, no loop turns, and nothing
 * stays open between calls. A workspace, and what was made with it, belongs to one thread at a time, whichever. Structs that these
 * calls give have the library's `size`, and are valid until what they were asked of is closed. Moments are nanoseconds since the
 * epoch; 0: not known.
 * A callback that returns another number than 0 ends the call, which returns that.
 */

struct tidemill_workspace;
struct tidemill_record;
struct tidemill_dataset;
struct tidemill_clean;

struct tidemill_workspace_options {
  size_t size;
  /* NULL: that of TIDEMILL_WORKSPACE, else the nearest `.tidemill` in the current directory or above. One that is found, but
   * belongs to another user or can be written to by others, is refused (TM_EUSAGE): naming it is consent. */
  const char *path;
  bool make; /* when it is not there: one that is named so, else in the current directory */
  /* What there is to say beside what was asked for; NULL: nobody hears it. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  void *data;
};
#define TIDEMILL_WORKSPACE_OPTIONS_INIT                                                            \
  {                                                                                                \
    sizeof(struct tidemill_workspace_options), NULL, false, NULL, NULL                             \
  }

/* `options` may be NULL. TM_EUSAGE: it is not there; the words say where it was looked for. */
TM_API int tidemill_workspace_open(struct tidemill_workspace **out,
                                   const struct tidemill_workspace_options *options,
                                   struct tm_err *err);
TM_API const char *tidemill_workspace_path(const struct tidemill_workspace *ws); /* absolute */
TM_API void tidemill_workspace_close(struct tidemill_workspace *ws);

/* ---- Records ---- (what the files of a job say of it, whoever runs it or has run it) */

struct tidemill_record_info {
  size_t size;
  const char *dir;      /* absolute */
  const char *pipeline; /* its name */
  const char *file;     /* of the pipeline; "": it had none */
  enum tidemill_state state;
  bool is_removed;          /* the directory is gone, and with it the steps */
  const char *fault;        /* why it cannot be read: there is `dir` alone; "" else */
  const char *cause;        /* why it Failed; "" else */
  int64_t begin_ns, end_ns; /* of the first session, of the last one; while it runs it has no end */
  int64_t elapsed_ns;       /* from the one to the other, or to now; -1: not known */
  int64_t pid;              /* of the process that runs it, or did last; 0: not known */
  const char *host;         /* of that; "": not known */
  size_t steps_len, steps_reused;
  struct tidemill_counts counts; /* of all steps */
};

struct tidemill_record_step {
  size_t size;
  const char *name;
  enum tidemill_state state;
  const char *cause;       /* why it Failed or was Skipped; "" else */
  const char *waits_for;   /* "'a', 'b'": steps; "" else */
  const char *reused_from; /* directory of the job whose result it is; "" else */
  const char *output;      /* the file with its rows, or its folder; "": not known yet */
  const char *logs_dir;
  const char *error_file; /* all errors of the script; "": there is none */
  int64_t sessions;       /* how often it was begun, or gone on with */
  struct tidemill_counts counts;
  int64_t items_total;            /* -1: not known before all are listed */
  double mini_batches_per_second; /* of the session that runs; 0: not known */
  int64_t damage_at;              /* the first bad byte of its journal; -1: there is none */
  /* Tries that failed by an error, by a timeout, with their worker; -1: not known. */
  int64_t try_errors, try_timeouts, try_lost;
  size_t outputs_len, errors_len;
  bool
      errors_cut; /* the list of failed items is long: more items and reasons than these may be in it */
};

struct tidemill_record_output {
  size_t size;
  const char *name, *path;
  const char *destination; /* where it was uploaded to, or moved; "": nowhere */
};

struct tidemill_failure {
  size_t size;
  const char *step;
  int64_t mini_batch;
  const char *item;  /* "": which one is not known, of those that are meant */
  const char *error; /* may be of several lines */
  const char *status;
  const char *log;    /* the file with the whole; "": there is none */
  int64_t try_number; /* the last one; 0: not known */
  /* How many items it stands for. Of tidemill_record_error(): all that failed for this reason, as far as the end of a long
   * list says; `mini_batch` and `item` are those of the first. */
  int64_t items;
  bool are_rows; /* `item` is the file of a table, and rows of it failed */
};

/* `job`: its directory, its name, or "latest". `ws` NULL: that of TIDEMILL_WORKSPACE, else the nearest; a directory needs none.
 * Says what is so now; a job is Running until who runs it has closed it. TM_EUSAGE: there is none; TM_EVERSION, TM_EDAMAGE, or of
 * the system. */
TM_API int tidemill_record_open(struct tidemill_record **out, struct tidemill_workspace *ws,
                                const char *job, struct tm_err *err);
/* The jobs of a workspace, the newest first; with `removed` those too whose directory is gone, as far as they are remembered. One
 * that cannot be read comes with its `fault`. The record is closed by this call. */
TM_API int tidemill_workspace_jobs(struct tidemill_workspace *ws, bool removed,
                                   int (*on_job)(void *data, struct tidemill_record *job),
                                   void *data, struct tm_err *err);
TM_API void tidemill_record_close(struct tidemill_record *r);

TM_API const struct tidemill_record_info *tidemill_record_info(const struct tidemill_record *r);
/* These are NULL where there is none of that number. */
TM_API const struct tidemill_record_step *tidemill_record_step(const struct tidemill_record *r,
                                                               size_t step);
TM_API const struct tidemill_record_output *tidemill_record_output(const struct tidemill_record *r,
                                                                   size_t step, size_t i);
/* Why items of a step failed: a few distinct reasons, the newest first. */
TM_API const struct tidemill_failure *tidemill_record_error(const struct tidemill_record *r,
                                                            size_t step, size_t i);
/* All items that have failed, of a step, or with NULL of all that are over. */
TM_API int tidemill_record_failures(struct tidemill_record *r, const char *step,
                                    int (*on_failure)(void *data,
                                                      const struct tidemill_failure *failure),
                                    void *data, struct tm_err *err);
/* All of it as one JSON object, as of `tidemill status --json`. */
TM_API const char *tidemill_record_json(struct tidemill_record *r);
/* Its job.json, the definition with the parameters and where each setting came from, and its job_result.json; NULL: there is none. */
TM_API const char *tidemill_record_definition(struct tidemill_record *r);
TM_API const char *tidemill_record_result(struct tidemill_record *r);

struct tidemill_logs_options {
  size_t size;
  const char *step;   /* of this one; NULL: of all */
  const char *worker; /* all there is of this one, its tries too: "process000"; NULL: of all */
  bool errors; /* errors with their stacks, warnings, and why workers and the job ended, alone */
  bool follow; /* goes on with what is written, until nobody runs the job any more */
  /* From 0: all there is of this mini-batch, for people: its tries, and what their workers logged meanwhile; with `step` alone.
   * -1: of all. */
  int64_t mini_batch;
};
#define TIDEMILL_LOGS_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_logs_options), NULL, NULL, false, false, -1                             \
  }

struct tidemill_log_line {
  size_t size;
  const char *step;
  const char *source; /* "process000.stdout" for what was printed; "": the line says it itself */
  const char *text;   /* without its line break; may hold NUL */
  size_t len;
  size_t steps_len; /* how many steps are told of */
};

/* What a job, its workers and its script have said, in the order of time. `ws` and `job` as of tidemill_record_open(), `options` may be
 * NULL. `line` NULL: that is all for now. With `follow` the call blocks, on a loop of its own. That a mini-batch has not been tried
 * comes to the on_log of `ws`. TM_EUSAGE: there is no such step, worker or mini-batch. */
TM_API int tidemill_workspace_logs(struct tidemill_workspace *ws, const char *job,
                                   const struct tidemill_logs_options *options,
                                   int (*on_line)(void *data, const struct tidemill_log_line *line),
                                   void *data, struct tm_err *err);

struct tidemill_verified {
  size_t size;
  const char *step, *output;                   /* the file that was checked; "": there is none */
  int64_t records, committed, failed, entries; /* of the journal; mini-batches; of the manifest */
  int64_t output_bytes, failure_bytes;         /* that were compared */
  /* Behind what counts, of an interrupted job: a resume takes it away. */
  int64_t torn_records, torn_bytes;
  int64_t faults;
  /* A line for each destination of an upload: what was compared with the step's own output, or
   * which job has replaced it since; "": there is none. */
  const char *uploads;
};

/* Whether the files of a job are what its journals say, to the byte, and destinations of uploads
 * what was uploaded: how many faults there are. `ws` and `job` as of tidemill_record_open().
 * `on_fault` is told of each (`at`: the first bad byte, -1: of the whole file), `on_step` of
 * each step; both may be NULL. TM_EINUSE: somebody runs it, or has gone on with it meanwhile. */
TM_API int tidemill_workspace_verify(struct tidemill_workspace *ws, const char *job,
                                     void (*on_fault)(void *data, const char *path, int64_t at,
                                                      const char *what),
                                     void (*on_step)(void *data,
                                                     const struct tidemill_verified *step),
                                     void *data, struct tm_err *err);

enum tidemill_resume_way {
  TIDEMILL_RESUME_BY_JOB,       /* tidemill_job_resume(); `tidemill resume JOB` */
  TIDEMILL_RESUME_BY_ACCEPTING, /* the same with `accept_changes`: inputs were found to have changed */
  TIDEMILL_RESUME_BY_COMMAND, /* submit its pipeline again with `dir` and `resume`: the record lacks it */
  TIDEMILL_RESUME_BY_LIST, /* the same, with the same list on standard input */
  TIDEMILL_RESUME_NEVER
};
/* How a job that is not running can be resumed, judged from its files as its next session will judge them. `dir`: its
 * directory. For TIDEMILL_RESUME_NEVER, `err` says why. Reads the journals and the lists of mini-batches, and changes nothing. */
TM_API enum tidemill_resume_way tidemill_resume_way(const char *dir, struct tm_err *err);

/* ---- Registered datasets ---- */

struct tidemill_dataset_info {
  size_t size;
  const char *name;
  int64_t version; /* from 1 */
  const char *type;
  const char *description; /* "": it has none */
  int64_t registered_ns;
  int64_t files, bytes;   /* then */
  const char *job, *step; /* whose output it is: the directory, the name; "": of none */
  size_t paths_len, tags_len;
};

struct tidemill_registration {
  size_t size;
  const char *name;
  const char *const *paths; /* files, folders, patterns; against the current directory */
  size_t paths_len;
  bool is_manifest;       /* each path is a list of paths, one a line */
  bool is_null_separated; /* these end in NUL */
  bool
      create_new_version; /* where the name is there; else that is refused, but for the same definition */
  const char *description; /* NULL, and no tags: those of the version before */
  const char *const *tags; /* "NAME=VALUE" */
  size_t tags_len;
};
#define TIDEMILL_REGISTRATION_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_registration), NULL, NULL, 0, false, false, false, NULL, NULL, 0        \
  }

/* All versions of `name`, the newest first; NULL: the newest of each name. The dataset is closed by this call. */
TM_API int tidemill_workspace_datasets(struct tidemill_workspace *ws, const char *name,
                                       int (*on_dataset)(void *data, struct tidemill_dataset *d),
                                       void *data, struct tm_err *err);
/* `version` 0: the newest. TM_EUSAGE: there is none. */
TM_API int tidemill_dataset_open(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                                 const char *name, int64_t version, struct tm_err *err);
/* 1: a version has been made; 0: it was there. `out` may be NULL. */
TM_API int tidemill_dataset_register(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                                     const struct tidemill_registration *registration,
                                     struct tm_err *err);
/* `version` 0: all. Says how many; the files stay as they are. */
TM_API int tidemill_dataset_unregister(struct tidemill_workspace *ws, const char *name,
                                       int64_t version, struct tm_err *err);
TM_API void tidemill_dataset_close(struct tidemill_dataset *d);

TM_API const struct tidemill_dataset_info *tidemill_dataset_info(const struct tidemill_dataset *d);
/* Absolute; "NAME=VALUE". NULL: there is none of that number. */
TM_API const char *tidemill_dataset_path(const struct tidemill_dataset *d, size_t i);
TM_API const char *tidemill_dataset_tag(const struct tidemill_dataset *d, size_t i);
/* As a line of `tidemill dataset show --json`: with "changed" when its files have been looked at. */
TM_API const char *tidemill_dataset_json(struct tidemill_dataset *d);
/* Looks at its files now. 1: they are others, and *words says what has changed; 0: as they were. */
TM_API int tidemill_dataset_changes(struct tidemill_dataset *d, const char **words,
                                    struct tm_err *err);

/* ---- Tables ---- */

struct tidemill_head_options {
  size_t size;
  const char *const *paths; /* files, folders, patterns; against the current directory */
  size_t paths_len;
  int64_t rows; /* so many at most; 0: the columns alone */
  /* A line of text, without its line break, until it returns. */
  int (*on_line)(void *data, const char *line);
  /* What is not as it should be in these rows; NULL: nobody hears it. */
  void (*on_log)(void *data, enum tidemill_level level, const char *text);
  void *data;
  /* Options of the dataset by name, as tidemill_pipeline_set_input() takes them: "max_columns", "100", and so on in pairs. */
  const char *const *settings;
  size_t settings_len; /* strings, an even number */
  bool is_command;     /* refusals name a setting as an option of a command: '--max-columns' */
};
#define TIDEMILL_HEAD_OPTIONS_INIT                                                                 \
  {                                                                                                \
    sizeof(struct tidemill_head_options), NULL, 0, 10, NULL, NULL, NULL, NULL, 0, false            \
  }

/* What a table looks like, for people: its columns with their types, and its first rows, read as a job would read them (.csv, .tsv or
 * .jsonl, also .gz). Needs neither a runtime nor a workspace. TM_ENOINPUT: it has no rows, or is not there; TM_EUSAGE, TM_EINPUT, or
 * of the system. */
TM_API int tidemill_head(const struct tidemill_head_options *options, struct tm_err *err);

/* ---- Removing jobs ---- (tidemill_clean_new() chooses, what it has chosen is looked at, and then is removed one by one) */

struct tidemill_clean_options {
  size_t size;
  const char *const *jobs; /* these, as of tidemill_record_open(), whatever their state */
  size_t
      jobs_len; /* 0: of the workspace those that are neither Completed nor run, and copies of scripts that no job needs */
  bool all;     /* Completed ones too */
  const enum tidemill_state *states; /* of these states alone */
  size_t states_len;
  int64_t older_than_ns; /* which ended longer ago */
};
#define TIDEMILL_CLEAN_OPTIONS_INIT                                                                \
  {                                                                                                \
    sizeof(struct tidemill_clean_options), NULL, 0, false, NULL, 0, 0                              \
  }

struct tidemill_clean_job {
  size_t size;
  const char *dir;
  enum tidemill_state state;
  const char *
      kept; /* why it stays: it runs, is a registered dataset, or holds files that no job has made; "": it goes */
  int64_t bytes;    /* of its files, when it goes */
  bool is_leftover; /* of a removal that was interrupted: `dir` is not a job any more */
};

/* Chooses; removes nothing yet. Leftovers of interrupted removals are chosen whatever the options say. `ws` may be NULL where `jobs`
 * are named. */
TM_API int tidemill_clean_new(struct tidemill_clean **out, struct tidemill_workspace *ws,
                              const struct tidemill_clean_options *options, struct tm_err *err);
TM_API const struct tidemill_clean_job *tidemill_clean_job(const struct tidemill_clean *c,
                                                           size_t i);
/* How many copies of scripts go, and their bytes. */
TM_API size_t tidemill_clean_scripts(const struct tidemill_clean *c, int64_t *bytes);
/* All of the job's directory, or nothing. TM_EINUSE: it stays now. */
TM_API int tidemill_clean_remove(struct tidemill_clean *c, size_t i, struct tm_err *err);
/* TM_EUSAGE: one of the jobs that go is still there, and may need them. */
TM_API int tidemill_clean_remove_scripts(struct tidemill_clean *c, struct tm_err *err);
TM_API void tidemill_clean_free(struct tidemill_clean *c);

#ifdef __cplusplus
}
#endif
#endif /* lint: allow file-length, a host includes one header */
