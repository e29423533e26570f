/* stoppable.h - calls in C that may take long, made so that an interruption of the script stops
 * them: run_invocation_timeout, init_timeout, Ctrl-C.
 *
 * The user sees the interruption with the script's line, not what the stopped call says.
 */
#ifndef TM_BIND_STOPPABLE_H
#define TM_BIND_STOPPABLE_H

#include <lua.h>
#include <stdbool.h>

#include "sys/running_call.h"

/* body() must not raise. stop() is async-signal-safe, and may be called several times while body()
 * runs (sys/running_call.h). */
struct tm_lua_stoppable {
  int (*body)(void *data);
  tm_running_call_fn stop;
  void *data; /* for both */
};

/* Returns what body() returned. If the script was interrupted before or meanwhile, raises that
 * instead; if before, body() is not called. So everything that the caller holds must then belong to
 * the collector. In a state without interruptions it only calls body(). */
int tm_lua_call_stoppable(lua_State *L, const struct tm_lua_stoppable *call);

/* The same for a caller that has to clean up before anything is raised. If *is_interrupted, it then
 * calls tm_lua_interrupt_raise_if_due(). Returns -ECANCELED if body() was not called. */
int tm_lua_try_stoppable(lua_State *L, const struct tm_lua_stoppable *call, bool *is_interrupted);

#endif
