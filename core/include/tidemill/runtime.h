/* tidemill/runtime.h - runtimes and their loops; Lua states. */
#ifndef TIDEMILL_RUNTIME_H
#define TIDEMILL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <tidemill/error.h>
#include <tidemill/sized.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tidemill_runtime;
struct uv_loop_s; /* uv_loop_t */
struct lua_State;

enum tidemill_level {
  TIDEMILL_LEVEL_DEBUG,
  TIDEMILL_LEVEL_INFO,
  TIDEMILL_LEVEL_WARNING,
  TIDEMILL_LEVEL_ERROR,
};

struct tidemill_runtime_options {
  size_t size;            /* of this struct */
  struct uv_loop_s *loop; /* a loop that the host runs; NULL: the runtime makes its own */
  /* The folder for jobs that have no directory of their own. NULL: the folder in
   * TIDEMILL_WORKSPACE, or the nearest `.tidemill` in the pipeline's folder or above, or a new one
   * in the pipeline's folder. A folder that was found there, but belongs to another user or is
   * writable by others, fails with TIDEMILL_EUSAGE. To use it anyway, name it here or in the
   * variable. */
  const char *workspace;
  /* The tidemill program of the same version; keepers and workers run it. NULL: the one in
   * TIDEMILL_PROGRAM, or the one installed with the library. */
  const char *program;
  /* Called with each line that pipeline files and Lua parameter files print, and with messages
   * about them. NULL: these lines are dropped. */
  void (*on_log)(enum tidemill_level level, const char *text, void *data);
  /* With a loop of the host: called when everything is closed and the runtime is freed. */
  void (*on_closed)(void *data);
  void *data;
};
#define TIDEMILL_RUNTIME_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_runtime_options)

/* Makes a runtime. `options` may be NULL; all defaults apply then. -ENOENT: the tidemill program
 * was not found, and the message lists where the library looked. */
TIDEMILL_API int tidemill_runtime_new(struct tidemill_runtime **out,
                                      const struct tidemill_runtime_options *options,
                                      struct tidemill_error *err);
/* Closes the runtime's jobs, as tidemill_job_close() does, and frees the runtime. Free its
 * pipelines and close its console first. With its own loop, everything is done when this returns;
 * with a loop of the host, when on_closed is called. TIDEMILL_EUSAGE, and nothing is closed: the
 * call comes from a callback, or a pipeline or console is left. */
TIDEMILL_API int tidemill_runtime_close(struct tidemill_runtime *rt, struct tidemill_error *err);

/* Waits until no job runs, for at most `timeout_ms` (-1: no limit), and turns the loop meanwhile.
 * 0: no job runs; -ETIMEDOUT; -EINTR: tidemill_runtime_wake() was called. TIDEMILL_EUSAGE: the loop
 * is the host's, or the call comes from a callback. */
TIDEMILL_API int tidemill_runtime_run(struct tidemill_runtime *rt, int timeout_ms,
                                      struct tidemill_error *err);
/* Does the work that is due without waiting, and returns how many jobs are still running.
 * TIDEMILL_EUSAGE as for tidemill_runtime_run(). */
TIDEMILL_API int tidemill_runtime_turn(struct tidemill_runtime *rt, struct tidemill_error *err);
/* A descriptor that becomes readable when there is work for tidemill_runtime_turn(). The runtime
 * owns it, and it never changes. -1: the loop is the host's. */
TIDEMILL_API int tidemill_runtime_fd(const struct tidemill_runtime *rt);
/* The timeout for polling that descriptor: call tidemill_runtime_turn() when it
 * expires, too. 0: at once; -1: no timeout. Ask again before each poll. */
TIDEMILL_API int tidemill_runtime_timeout_ms(struct tidemill_runtime *rt);
/* Makes the current wait, or the next one, end with -EINTR. From any thread or signal handler. */
TIDEMILL_API void tidemill_runtime_wake(struct tidemill_runtime *rt);

/* The absolute path of the program that keepers and workers run. It never changes. */
TIDEMILL_API const char *tidemill_runtime_program(const struct tidemill_runtime *rt);

/* ---- Lua ---- (LuaJIT 2.1, the one that the library is linked to) */

/* Sets the function (NULL: none) that is called with each new state of a pipeline file or Lua
 * parameter file, before the file runs. It may put anything into the state. It runs in a protected
 * call: if it raises, the load fails with its message. */
TIDEMILL_API void tidemill_runtime_on_lua(struct tidemill_runtime *rt,
                                          void (*on_lua)(struct lua_State *L, void *data),
                                          void *data);
/* Adds a field to the table that `require "host"` returns in a pipeline file: a C function, or a
 * value as JSON text. The function must stay callable until the runtime is closed. TIDEMILL_EUSAGE:
 * `name` is empty or was added before. TIDEMILL_EDAMAGE: `json` is not JSON. */
TIDEMILL_API int tidemill_runtime_add_function(struct tidemill_runtime *rt, const char *name,
                                               int (*function)(struct lua_State *L),
                                               struct tidemill_error *err);
TIDEMILL_API int tidemill_runtime_add_value(struct tidemill_runtime *rt, const char *name,
                                            const char *json, struct tidemill_error *err);
/* Makes `require "tidemill"` and its modules available in a Lua state of the host. In it,
 * pipeline:submit { ... } makes a job on `rt`, which must live as long as the state. Raises
 * nothing. */
TIDEMILL_API int tidemill_lua_open(struct lua_State *L, struct tidemill_runtime *rt,
                                   struct tidemill_error *err);

#ifdef __cplusplus
}
#endif
#endif
