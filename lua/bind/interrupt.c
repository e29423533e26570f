/* interrupt.c - see interrupt.h.
 *
 * Only the interpreter sees a debug hook. Compiled code checks nothing, unless the profiler runs in
 * line mode: then it checks a flag in every line, and returns to the interpreter when a tick has
 * set it. So we start the profiler with a clock that never ticks. To interrupt, we set the hook and
 * make one tick.
 *
 *   _poke(): lua_sethook(raise, every instruction) + SIGPROF --> trace ends --> interpreter -->
 *   hook --> error
 *
 *  (1) The hook stays until _leave(): if user code catches the error with pcall, the next
 *      instruction raises again.
 *  (2) A hook that is set while the profiler's function runs is overwritten when that returns. So
 *      is one that is set while a script's own hook runs. The caller must poke again.
 *  (3) The first poke saves a hook of the script, and _leave() restores it.
 *  (4) Nothing is raised outside user code: the flag is_in_user is set last and cleared first, on
 *      the thread on which the handler runs.
 *  (5) The first error is raised only where the stack shows code of the user. It does not between
 *      _enter() and that code, or in a C function of a tail call. A later instruction raises then.
 *  (6) A poke sets its flag, then asks the call that runs to stop. Whoever arms the slot looks at
 *      the flag afterwards. So no poke is lost between them.
 */
#include "bind/interrupt.h"

#include <lauxlib.h>
#include <stdatomic.h>

#include "base/check.h"
#include "bind/state.h"
#include "sys/alarm.h"

static const char key = 0; /* its address names the struct in the registry */

struct tm_lua_interrupt *tm_lua_interrupt_of(lua_State *L)
{
  struct tm_lua_interrupt *i;
  lua_pushlightuserdata(L, (void *)&key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  i = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return i;
}

/* Notes where the code is. For a coroutine, only the place of the main thread is known, not which
 * coroutine resumed it. False: the stack shows no code of the user. */
static bool take_place(struct tm_lua_interrupt *i, lua_State *L)
{
  tm_buf_clear(&i->stack);
  tm_buf_clear(&i->where);
  tm_lua_add_stack(L, 0, &i->stack);
  if (i->stack.len == 0)
    return false;
  tm_lua_user_line(L, &i->where);
  if (L == i->L)
    return true;
  tm_buf_add_str(&i->stack, "\nin a coroutine; outside of it:\n");
  tm_lua_add_stack(i->L, 0, &i->stack);
  return true;
}

static void raise_now(struct tm_lua_interrupt *i, lua_State *L)
{
  i->has_raised = true;
  lua_pushliteral(L, "interrupted: it took too long");
  lua_error(L);
}

static void raise_error(lua_State *L, lua_Debug *ar) /* the hook */
{
  struct tm_lua_interrupt *i = tm_lua_interrupt_of(L);
  tm_require(i);
  if (!i->is_in_user)
    return;
  if (!i->has_raised && !take_place(i, L)) /* keeps (5) */
    return;
  raise_now(i, L);
}

void tm_lua_interrupt_open(lua_State *L, struct tm_lua_interrupt *i, struct tm_lua_profiler *p)
{
  tm_require(p->L == L && !i->L); /* the profiler is opened first */
  i->L = L;
  i->profiler = p;
  lua_pushlightuserdata(L, (void *)&key);
  lua_pushlightuserdata(L, i);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

void tm_lua_interrupt_release(struct tm_lua_interrupt *i)
{
  tm_buf_release(&i->stack);
  tm_buf_release(&i->where);
}

void tm_lua_interrupt_arm(struct tm_lua_interrupt *i)
{
  tm_require(i->profiler);
  tm_lua_profiler_check_lines(i->profiler);
}

void tm_lua_interrupt_enter(struct tm_lua_interrupt *i)
{
  i->has_raised = false;
  i->is_hooked = i->is_poked = 0;
  tm_running_call_disarm(&i->running);
  atomic_signal_fence(memory_order_seq_cst);
  i->is_in_user = 1; /* keeps (4) */
}

bool tm_lua_interrupt_leave(struct tm_lua_interrupt *i)
{
  i->is_in_user = 0; /* keeps (4) */
  atomic_signal_fence(memory_order_seq_cst);
  if (i->is_hooked) {
    i->is_hooked = 0;
    lua_sethook(i->L, i->hook, i->mask, i->count); /* keeps (3) */
    i->profiler->is_muted = 0;
  }
  return i->has_raised;
}

bool tm_lua_interrupt_is_due(lua_State *L)
{
  struct tm_lua_interrupt *i = tm_lua_interrupt_of(L);
  return i != NULL && i->is_in_user && i->is_poked;
}

void tm_lua_interrupt_raise_if_due(lua_State *L)
{
  struct tm_lua_interrupt *i = tm_lua_interrupt_of(L);
  if (!i || !i->is_in_user || !i->is_poked)
    return;
  if (!i->has_raised)
    take_place(i, L); /* after a tail call there is none */
  raise_now(i, L);
}

void tm_lua_interrupt_poke(struct tm_lua_interrupt *i)
{
  if (!i->is_in_user)
    return;
  i->is_poked = 1;
  tm_running_call_stop(&i->running); /* keeps (6) */
  if (!i->is_hooked) {
    i->hook = lua_gethook(i->L);
    i->mask = lua_gethookmask(i->L);
    i->count = lua_gethookcount(i->L);
    i->is_hooked = 1;
    i->profiler->is_muted = 1;
  }
  /* Sets no hook first: an earlier signal may have interrupted a change of the hook in LuaJIT, and
   * two changes repair it. */
  lua_sethook(i->L, NULL, 0, 0);
  lua_sethook(i->L, raise_error, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
  if (i->profiler->base_ms != 0) /* otherwise no compiled code checks the flag */
    tm_tick_raise();
}
