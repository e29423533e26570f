/* profiler.h - shares LuaJIT's profiler, of which a process has only one, between three users: the
 * interruption of calls, which makes compiled code check a flag in every line; the samples of
 * profiling_module; and scripts that use jit.profile or jit.p.
 *
 * Once per process: tm_lua_profiler_open() on the thread that runs the state, before user code is
 * loaded.
 */
#ifndef TM_BIND_PROFILER_H
#define TM_BIND_PROFILER_H

#include <signal.h>
#include <stdbool.h>

#include <lua.h>

struct tm_lua_profiler {
  lua_State *L;
  bool checks_lines; /* for interruptions */
  int own_ms;        /* between two of our samples, CPU time; 0: none */
  void (*on_sample)(void *data, lua_State *L, int samples, int state);
  void *data;
  int user_ms;                   /* the same for a script that started jit.profile; 0: it has not */
  bool user_lines;               /* it asked for mode 'l' */
  int user_ref;                  /* its function, and the thread that calls it, in the registry */
  int own_gone_ms, user_gone_ms; /* since its last sample */
  int base_ms;                   /* the interval of the running profiler; 0: it is stopped */
  bool base_lines;
  volatile sig_atomic_t is_muted; /* a tick does not come from the clock */
};

/* Replaces jit.profile. May raise (memory). Zero `p` before; it must live as long as the state. */
void tm_lua_profiler_open(lua_State *L, struct tm_lua_profiler *p);
/* Stops all ticks. */
void tm_lua_profiler_close(struct tm_lua_profiler *p);
/* Makes compiled code check the flag from now on. Drops code that was compiled before. */
void tm_lua_profiler_check_lines(struct tm_lua_profiler *p);
/* Calls on_sample for every `ms` of CPU time that this process has used in Lua code; it must not
 * call Lua. `state`: 'N'
 * compiled code, 'I' interpreted, 'C' a C function, 'G' the collector, 'J' the compiler. */
void tm_lua_profiler_sample(struct tm_lua_profiler *p, int ms,
                            void (*on_sample)(void *data, lua_State *L, int samples, int state),
                            void *data);

#endif
