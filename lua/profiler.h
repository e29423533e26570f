/* profiler.h - LuaJIT's profiler, of which a process has one, shared by three: the interruption of calls, which needs compiled
 * code to look at a flag in every line; the samples of profiling_module; and scripts that use jit.profile or jit.p.
 *
 * Once per process: tm_lua_profiler_open() on the thread that runs the state, before user code is loaded.
 */
#ifndef TM_LUA_PROFILER_H
#define TM_LUA_PROFILER_H

#include <signal.h>
#include <stdbool.h>

#include <lua.h>

struct tm_lua_profiler {
  lua_State *L;
  bool checks_lines; /* for the interruption of calls */
  int own_ms;        /* between two of our samples, CPU time; 0: none */
  void (*on_sample)(void *data, lua_State *L, int samples, int state);
  void *data;
  int user_ms;     /* the same of a script that has started jit.profile; 0: it has not */
  bool user_lines; /* it asked for mode 'l' */
  int user_ref;    /* its function, and the thread that calls it, in the registry */
  int own_gone_ms, user_gone_ms; /* since its last sample */
  int base_ms;                   /* what the profiler runs with; 0: it does not run */
  bool base_lines;
  volatile sig_atomic_t is_muted; /* a tick is none of the clock's */
};

/* Takes jit.profile over. May raise (memory). `p` is zeroed before, and lives as long as the state. */
void tm_lua_profiler_open(lua_State *L, struct tm_lua_profiler *p);
/* Nothing ticks any more. */
void tm_lua_profiler_close(struct tm_lua_profiler *p);
/* From here on compiled code looks at the flag. Code that was compiled before is dropped. */
void tm_lua_profiler_check_lines(struct tm_lua_profiler *p);
/* on_sample is called for every `ms` of CPU time that this process has used, within Lua code; it calls no Lua. `state`: 'N'
 * compiled code, 'I' interpreted, 'C' a C function, 'G' the collector, 'J' the compiler. */
void tm_lua_profiler_sample(struct tm_lua_profiler *p, int ms,
                            void (*on_sample)(void *data, lua_State *L, int samples, int state),
                            void *data);

#endif
