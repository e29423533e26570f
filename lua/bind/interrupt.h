/* interrupt.h - interrupts user code, also in compiled loops.
 *
 *   tm_lua_interrupt_open()      once per state
 *   _arm()                       calls can be interrupted from now on; before, a call costs no more
 *   _enter(); user code; _leave()
 *   _poke()                      from a signal handler, on the state's thread: raises in user code
 *                                until _leave()
 *
 * It does not work in a C function (an endless pattern match, an FFI call, a wait for a program),
 * in a finalizer, or in the function of a running jit.profile. A C function of ours that may take
 * long makes its call by stoppable.h: a poke asks that call to stop.
 */
#ifndef TM_BIND_INTERRUPT_H
#define TM_BIND_INTERRUPT_H

#include <lua.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "bind/profiler.h"
#include "sys/running_call.h"

struct tm_lua_interrupt {
  lua_State *L;
  struct tm_lua_profiler *profiler;
  /* between _enter() and _leave(); the only member that other threads may read */
  atomic_int is_in_user;
  volatile sig_atomic_t is_hooked; /* since _enter(): the previous hook is saved below */
  lua_Hook hook;
  int mask, count;
  /* since _enter(), even if nothing was raised: a read that was the last call ends with EINTR */
  volatile sig_atomic_t is_poked;
  bool has_raised;                /* since _enter() */
  struct tm_running_call running; /* a call in C that a poke asks to stop */
  struct tm_buf stack, where;     /* at the first raise */
};

/* May raise (memory). Zero `i` before; it must live as long as the state. */
void tm_lua_interrupt_open(lua_State *L, struct tm_lua_interrupt *i, struct tm_lua_profiler *p);
void tm_lua_interrupt_release(struct tm_lua_interrupt *i);
void tm_lua_interrupt_arm(struct tm_lua_interrupt *i);

void tm_lua_interrupt_enter(struct tm_lua_interrupt *i);
/* Call it in every case, also after an error, and if nothing was entered. Restores a hook of the
 * user. True: the code was interrupted, even if it caught the error; `stack` and `where` say
 * where. */
bool tm_lua_interrupt_leave(struct tm_lua_interrupt *i);
/* Of the state; NULL: it has none. */
struct tm_lua_interrupt *tm_lua_interrupt_of(lua_State *L);
/* Whether user code was poked since _enter(). A C function asks before it waits. */
bool tm_lua_interrupt_is_due(lua_State *L);
/* Raises as the hook does, if user code was poked since _enter(). */
void tm_lua_interrupt_raise_if_due(lua_State *L);

/* Async-signal-safe. May be repeated. */
void tm_lua_interrupt_poke(struct tm_lua_interrupt *i);

#endif
