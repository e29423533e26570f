/* interrupt.h - user code that is taken out of whatever it does, compiled loops too.
 *
 *   tm_lua_interrupt_open()      once a state
 *   _arm()                       from here on calls can be interrupted; until then a call costs the same
 *   _enter(); user code; _leave()
 *   _poke()                      from a signal handler, on the state's thread: raises in user code, until _leave()
 *
 * It does not take hold within a C function (a pattern that backtracks for ever, an FFI call, a program that is waited for),
 * in a finalizer, or in the function of a running jit.profile.
 */
#ifndef TM_LUA_INTERRUPT_H
#define TM_LUA_INTERRUPT_H

#include <lua.h>

#include "base/buf.h"
#include "lua/profiler.h"

struct tm_lua_interrupt {
  lua_State *L;
  struct tm_lua_profiler *profiler;
  volatile sig_atomic_t is_in_user; /* between _enter() and _leave() */
  volatile sig_atomic_t is_hooked;  /* since _enter(): what follows is the hook that was there */
  lua_Hook hook;
  int mask, count;
  volatile sig_atomic_t
      is_poked; /* since _enter(), also where nothing was raised: a read that was the last call ends with EINTR */
  bool has_raised;            /* since _enter() */
  struct tm_buf stack, where; /* of where it was when it raised first */
};

/* May raise (memory). `i` is zeroed before, and lives as long as the state. */
void tm_lua_interrupt_open(lua_State *L, struct tm_lua_interrupt *i, struct tm_lua_profiler *p);
void tm_lua_interrupt_release(struct tm_lua_interrupt *i);
void tm_lua_interrupt_arm(struct tm_lua_interrupt *i);

void tm_lua_interrupt_enter(struct tm_lua_interrupt *i);
/* Always, also after an error, and when nothing was entered. A hook of the user's is put back. True: it was interrupted, whatever user code made of
 * it; `stack` and `where` say where. */
bool tm_lua_interrupt_leave(struct tm_lua_interrupt *i);
/* Whether user code was poked since _enter(): a C function that is about to wait asks. */
bool tm_lua_interrupt_is_due(lua_State *L);
/* Async-signal-safe. May come again. */
void tm_lua_interrupt_poke(struct tm_lua_interrupt *i);

#endif
