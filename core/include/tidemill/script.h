/* tidemill/script.h - entry scripts in the host's process.
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
#ifndef TIDEMILL_SCRIPT_H
#define TIDEMILL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemill/pipeline.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tidemill_script;

struct tidemill_script_options {
  size_t size;
  const char *step; /* whose script; NULL: the pipeline has only one step */
  /* Makes tidemill_script_interrupt() work. Until the script is closed, LuaJIT uses SIGPROF and the
   * timer of CPU time; then the previous handler is restored. A process can have only one
   * interruptible script or console at a time. TIDEMILL_EINUSE: one is open already. */
  bool interruptible;
  bool no_timeout; /* ignores the timeouts of the step */
  /* Called with the text of each print() and io.write() of the script (INFO), and with messages
   * about it. NULL: these are dropped. Do not call any function with the script from there. */
  void (*on_log)(enum tidemill_level level, const char *text, void *data);
  void *data;
};
#define TIDEMILL_SCRIPT_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_script_options)

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
  size_t rows_bytes;
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
 * it. `options` may be NULL. You may free `p` afterwards. TIDEMILL_EUSAGE: the definition is wrong,
 * or the step reads the output of another one and needs a job. TIDEMILL_ESCRIPT: the file is not
 * valid Lua. */
TIDEMILL_API int tidemill_script_load(struct tidemill_script **out, struct tidemill_pipeline *p,
                                      const struct tidemill_script_options *options,
                                      struct tidemill_error *err);
/* Loads the script of a job as it was then, to run one of its mini-batches again. Does not change
 * the job. `job`: a directory, a name, or "latest" for the newest job of the workspace. `options`
 * may be NULL. TIDEMILL_EUSAGE: there is no such job, step or mini-batch. TIDEMILL_EINUSE: the job
 * is running. TIDEMILL_ECHANGED: the items are gone. TIDEMILL_EDAMAGE, TIDEMILL_EVERSION, or a
 * system error. */
TIDEMILL_API int tidemill_script_load_again(struct tidemill_script **out,
                                            struct tidemill_runtime *rt, const char *job,
                                            int64_t mini_batch,
                                            const struct tidemill_script_options *options,
                                            struct tidemill_error *err);
TIDEMILL_API const struct tidemill_script_info *tidemill_script_info(
    const struct tidemill_script *s);
/* Environment variable `i` of the step's workers: "NAME=VALUE". NULL: there is none. */
TIDEMILL_API const char *tidemill_script_variable(const struct tidemill_script *s, size_t i);

enum tidemill_next {
  TIDEMILL_NEXT_NONE, /* there are no more */
  TIDEMILL_NEXT_MINI_BATCH,
};
/* Moves to the next mini-batch of the step's inputs, for tidemill_script_run(). A script of
 * tidemill_script_load_again() has only the one that it was loaded for. Returns one of the
 * enumerators above, or fails. TIDEMILL_ENOINPUT: the inputs are empty. TIDEMILL_EINPUT, or a
 * system error. */
TIDEMILL_API int tidemill_script_next(struct tidemill_script *s,
                                      const struct tidemill_mini_batch **out,
                                      struct tidemill_error *err);
/* Runs the file in a new Lua state and calls its init(). Call it again to reload an edited file.
 * TIDEMILL_ESCRIPT: it failed, or the file defines no run(). */
TIDEMILL_API int tidemill_script_init(struct tidemill_script *s, struct tidemill_error *err);
/* Calls run() with the current mini-batch, and checks the result as a job does. May be repeated.
 * TIDEMILL_ESCRIPT: run() failed, or returned something that is not allowed. TIDEMILL_EINPUT or a
 * system error: the mini-batch could not be loaded. */
TIDEMILL_API int tidemill_script_run(struct tidemill_script *s,
                                     const struct tidemill_returned **out,
                                     struct tidemill_error *err);
/* Calls shutdown(). To run the script again, call tidemill_script_init() first. */
TIDEMILL_API int tidemill_script_shutdown(struct tidemill_script *s, struct tidemill_error *err);
/* The error of the last call that failed with TIDEMILL_ESCRIPT, with its stack; NULL: none has
 * failed. */
TIDEMILL_API const struct tidemill_script_error *tidemill_script_error(
    const struct tidemill_script *s);
/* Makes a running init() or run() fail as soon as possible, also in a compiled loop; the error
 * names the line. A C function is interrupted when it returns. From any thread or signal handler,
 * any number of times, but not while tidemill_script_close() runs. */
TIDEMILL_API void tidemill_script_interrupt(struct tidemill_script *s);
/* Call this if the process is about to exit inside a call with the script, for example by
 * os.exit(). Removes the folders as tidemill_script_close() does, without touching Lua. After it,
 * the script can only be closed. */
TIDEMILL_API void tidemill_script_leave(struct tidemill_script *s);
/* Frees the script without calling shutdown(). Removes its temp_dir, and its other folders if they
 * are empty; otherwise on_log gets a message with their place. */
TIDEMILL_API void tidemill_script_close(struct tidemill_script *s);

#ifdef __cplusplus
}
#endif
#endif
