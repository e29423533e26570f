/* profiler.c - see profiler.h.
 *
 * LuaJIT's profiler is static: a second start replaces the first, and a stop restores the signal's
 * old disposition. So only this file starts it, with what all three users need together: the
 * shortest interval, and lines if one needs lines. Each user gets as many samples as its own
 * interval asks for.
 *
 *  (1) Before it is started, SIGPROF does nothing: LuaJIT restores that when it stops, and a late
 *      tick then ends no process.
 *  (2) LuaJIT's handler writes to the state, so it is called only on the state's thread.
 *  (3) A trace that is being recorded is aborted around a script's function, whose steps must not
 *      be part of the trace.
 *  (4) It is stopped before it is started again: LuaJIT's start would stop it too, but forgets the
 *      mode then.
 */
#include "bind/profiler.h"

#include <lauxlib.h>
#include <luajit.h>
#include <stdio.h>

#include "base/check.h"
#include "sys/alarm.h"

#define NEVER_MS   2000000 /* of CPU time: 23 days; LuaJIT's profiler always needs a clock */
#define DEFAULT_MS 10      /* LuaJIT's own */

static int shorter(int a, int b)
{
  return a == 0 || (b != 0 && b < a) ? b : a;
}

static void on_tick(void *data, lua_State *L, int samples, int state);

/* Starts, restarts or stops the profiler if the settings have changed. */
static void settle(struct tm_lua_profiler *p)
{
  tm_require(p->L && p->own_ms >= 0 && p->user_ms >= 0);
  bool lines = p->checks_lines || p->own_ms > 0 || (p->user_ms > 0 && p->user_lines);
  int ms = shorter(p->own_ms, p->user_ms);
  char mode[32];
  if (ms == 0 && p->checks_lines)
    ms = NEVER_MS;
  if (ms == p->base_ms && lines == p->base_lines)
    return;
  if (p->base_ms != 0)
    luaJIT_profile_stop(p->L); /* keeps (4) */
  else
    tm_tick_hush(); /* keeps (1) */
  p->base_ms = ms;
  p->base_lines = lines;
  if (ms == 0)
    return;
  /* Mode 'f' is enough for a script that asked for functions, or for nothing. */
  snprintf(mode, sizeof mode, "%ci%d", lines ? 'l' : 'f', ms);
  luaJIT_profile_start(p->L, mode, on_tick, p);
  tm_tick_wrap(); /* keeps (2) */
}

/* ---- ticks ---- */

static void hook_nothing(lua_State *L, lua_Debug *ar)
{
}

/* Keeps (3). The profiler owns the mask of hooks now, and LuaJIT restores it afterwards. This sets
 * the function and the count. */
static void give_up_trace(lua_State *L)
{
  lua_Hook hook = lua_gethook(L);
  lua_sethook(L, hook ? hook : hook_nothing, LUA_MASKCOUNT, lua_gethookcount(L));
}

/* Like LuaJIT, calls function(thread, samples, state) on a thread of its own. */
static void tell_user(struct tm_lua_profiler *p, lua_State *L, int samples, int state)
{
  char word = (char)state;
  lua_State *T;
  if (!lua_checkstack(L, 2))
    return;
  lua_rawgeti(p->L, LUA_REGISTRYINDEX, p->user_ref); /* {thread, function} */
  lua_rawgeti(p->L, -1, 1);
  T = lua_tothread(p->L, -1);
  tm_require(T);
  lua_pop(p->L, 1);
  lua_rawgeti(p->L, -1, 2);
  lua_xmove(p->L, T, 1);
  lua_pop(p->L, 1);
  lua_pushthread(L);
  lua_xmove(L, T, 1);
  lua_pushinteger(T, samples);
  lua_pushlstring(T, &word, 1);
  give_up_trace(L);
  if (lua_pcall(T, 3, 0, 0) != 0) {
    const char *text = lua_tostring(T, -1);
    fprintf(stderr, "the function given to jit.profile failed, and is not called any more: %s\n",
            text ? text : "no words");
    p->user_ms = 0; /* the next start or stop applies it */
  }
  lua_settop(T, 0);
  give_up_trace(L);
}

/* Returns how many samples of `ms` fit into the time that has passed, and keeps the rest. */
static int count_samples(int *gone_ms, int ms, int samples, int base_ms)
{
  int n;
  if (ms == 0)
    return 0;
  *gone_ms += samples * base_ms;
  n = *gone_ms / ms;
  *gone_ms %= ms;
  return n;
}

static void on_tick(void *data, lua_State *L, int samples, int state)
{
  struct tm_lua_profiler *p = data;
  int own, user;
  if (p->is_muted || p->base_ms == NEVER_MS)
    return;
  tm_require(p->own_ms == 0 || p->on_sample);
  own = count_samples(&p->own_gone_ms, p->own_ms, samples, p->base_ms);
  user = count_samples(&p->user_gone_ms, p->user_ms, samples, p->base_ms);
  if (own > 0)
    p->on_sample(p->data, L, own, state);
  if (user > 0)
    tell_user(p, L, user, state);
}

/* ---- jit.profile ---- */

static struct tm_lua_profiler *profiler_of(lua_State *L)
{
  return lua_touserdata(L, lua_upvalueindex(1));
}

static void forget_user(struct tm_lua_profiler *p)
{
  luaL_unref(p->L, LUA_REGISTRYINDEX, p->user_ref);
  p->user_ref = LUA_NOREF;
  p->user_ms = 0;
}

/* The interval in a mode, such as "i20", in ms. */
static int interval_of(const char *mode)
{
  int ms = DEFAULT_MS;
  for (; *mode; mode++) {
    if (*mode != 'i')
      continue;
    for (ms = 0; mode[1] >= '0' && mode[1] <= '9' && ms < NEVER_MS / 10; mode++)
      ms = ms * 10 + (mode[1] - '0');
  }
  return ms > 0 ? ms : 1;
}

static int user_start(lua_State *L) /* start(mode, function) */
{
  struct tm_lua_profiler *p = profiler_of(L);
  const char *mode = luaL_optstring(L, 1, "");
  luaL_checktype(L, 2, LUA_TFUNCTION);
  forget_user(p);
  lua_createtable(L, 2, 0); /* [mode, function, pair] */
  lua_newthread(L);
  lua_rawseti(L, -2, 1);
  lua_pushvalue(L, 2);
  lua_rawseti(L, -2, 2);
  p->user_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  p->user_lines = false;
  for (const char *c = mode; *c; c++)
    p->user_lines = p->user_lines || *c == 'l';
  p->user_gone_ms = 0;
  p->user_ms = interval_of(mode);
  settle(p);
  return 0;
}

static int user_stop(lua_State *L)
{
  struct tm_lua_profiler *p = profiler_of(L);
  forget_user(p);
  settle(p);
  return 0;
}

/* Replaces LuaJIT's loader. Upvalue 1 is the profiler, upvalue 2 opens LuaJIT's module. */
static int open_jit_profile(lua_State *L)
{
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1); /* [module] */
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, user_start, 1);
  lua_setfield(L, -2, "start");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushcclosure(L, user_stop, 1);
  lua_setfield(L, -2, "stop");
  return 1;
}

/* ---- for C ---- */

void tm_lua_profiler_open(lua_State *L, struct tm_lua_profiler *p)
{
  tm_require(!p->L && p->base_ms == 0);
  p->L = L;
  p->user_ref = LUA_NOREF;
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload"); /* [package, preload] */
  lua_pushlightuserdata(L, p);
  lua_getfield(L, -2, "jit.profile");
  lua_pushcclosure(L, open_jit_profile, 2);
  lua_setfield(L, -2, "jit.profile");
  lua_pop(L, 2);
}

void tm_lua_profiler_close(struct tm_lua_profiler *p)
{
  if (!p->L)
    return;
  p->checks_lines = false;
  p->own_ms = p->user_ms = 0;
  settle(p);
}

void tm_lua_profiler_check_lines(struct tm_lua_profiler *p)
{
  p->checks_lines = true;
  settle(p);
}

void tm_lua_profiler_sample(struct tm_lua_profiler *p, int ms,
                            void (*on_sample)(void *data, lua_State *L, int samples, int state),
                            void *data)
{
  tm_require(p->L && ms >= 0 && (ms == 0 || on_sample));
  p->on_sample = on_sample;
  p->data = data;
  p->own_gone_ms = 0;
  p->own_ms = ms;
  settle(p);
}
