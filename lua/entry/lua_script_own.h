/* lua_script_own.h - what the files of an entry script in Lua share; only they include it. */
#ifndef TM_ENTRY_LUA_SCRIPT_OWN_H
#define TM_ENTRY_LUA_SCRIPT_OWN_H

#include "bind/begun.h"
#include "bind/interrupt.h"
#include "bind/script_memory.h"
#include "bind/state.h"
#include "entry/context.h"
#include "entry/lua_script.h"
#include "entry/prefetched.h"
#include "entry/samples.h"

enum hook { HOOK_INIT, HOOK_RUN, HOOK_SHUTDOWN, HOOK_RECOVER, HOOK_PREFETCH, HOOK_COUNT };

struct script {
  lua_State *L;
  int hooks[HOOK_COUNT]; /* in the registry; LUA_NOREF: none */
  const char *run_is;    /* the type of `run` if it is not a function, "string"; else NULL */
  int run_body_ref;
  int lease_ref;                /* in the registry: the lease of the last frame; false before */
  const struct tm_setup *setup; /* the agent's; set by load() */
  bool has_prefetch;
  bool is_guest;                                /* tm_lua_script_open_in(): the state is not ours */
  int environment_ref, given_ref, returned_ref; /* of a guest: globals, given value, result */
  struct tm_lua_context context;
  struct tm_lua_memory memory;
  struct tm_lua_profiler profiler;
  struct tm_lua_interrupt interrupt;
  _Atomic uint64_t *waits; /* the agent's */
  struct tm_lua_samples samples;
  struct tm_lua_begun begun; /* in run() or prefetch() */
  struct tm_lua_prefetches prefetches;
  struct tm_buf retires; /* why this process must not run another mini-batch; empty: it may */
};

/* lua_script.c. Each gives an error to the agent, and returns a negative code. */
int tm_lua_script_give_error(struct script *s, struct tm_script_error *out, enum tm_status status,
                             struct tm_lua_error *e);
int tm_lua_script_give_words(struct tm_script_error *out, enum tm_status status,
                             const struct tm_err *err);
int tm_lua_script_give_interrupted(struct script *s, struct tm_script_error *out,
                                   enum tm_status status);
/* Calls a function without results that can be interrupted. `timeout`: the status in that case.
 * `hook`: what it calls; HOOK_COUNT: none, the file itself. */
int tm_lua_script_call(struct script *s, int nargs, enum hook hook, enum tm_status status,
                       enum tm_status timeout, struct tm_script_error *error);

/* script_run.c. What the agent calls; for a guest the mini-batch is on top of the stack. */
int tm_lua_script_run_body(lua_State *L); /* (struct run *) */
int tm_lua_script_prefetch(void *data, const struct tm_run_call *of, struct tm_script_error *error);
int tm_lua_script_guest_prefetch(void *data, const struct tm_run_call *call,
                                 struct tm_script_error *error);
void tm_lua_script_drop(void *data, uint64_t seq);
int tm_lua_script_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                      uint32_t *returned, struct tm_script_error *error);
int tm_lua_script_guest_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                            uint32_t *returned, struct tm_script_error *error);

#endif
