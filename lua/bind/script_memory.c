/* script_memory.c - see script_memory.h. */
#include "bind/script_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define NORMAL 200 /* LuaJIT's own pause and step multiplier, percent */
#define PAUSE  110 /* under (2): a cycle begins when a tenth has been added, ... */
#define STEP   400 /* ... and works four times as fast as memory is allocated */

/* Sets only numbers of the collector, which is allowed during an allocation. */
static void set_pace(struct tm_lua_memory *m) /* keeps (2) */
{
  bool is_tight = m->is_tight ? m->used > m->limit / 8 : m->used > m->limit / 4;
  if (is_tight == m->is_tight)
    return;
  m->is_tight = is_tight;
  lua_gc(m->L, LUA_GCSETPAUSE, is_tight ? PAUSE : NORMAL);
  lua_gc(m->L, LUA_GCSETSTEPMUL, is_tight ? STEP : NORMAL);
}

static void *allocate(void *data, void *p, size_t old, size_t size)
{
  struct tm_lua_memory *m = data;
  size_t left = m->used < m->limit ? m->limit - m->used : 0;
  if (m->is_on && size > old && size - old > left) { /* keeps (1) */
    m->refused = size;
    return NULL;
  }
  void *now = m->below(m->below_data, p, old, size);
  if (now != NULL || size == 0) {
    m->used = m->used - old + size;
    set_pace(m);
  }
  return now;
}

void tm_lua_memory_limit(struct tm_lua_memory *m, lua_State *L, int64_t worker_limit)
{
  if (worker_limit <= TM_LUA_MEMORY_BESIDE)
    return;
  tm_require(!m->L && m->used == 0);
  m->L = L;
  m->worker_limit = worker_limit;
  m->limit = (size_t)(worker_limit - TM_LUA_MEMORY_BESIDE);
  m->used = (size_t)lua_gc(L, LUA_GCCOUNT, 0) * 1024 + (size_t)lua_gc(L, LUA_GCCOUNTB, 0);
  m->below = lua_getallocf(L, &m->below_data);
  lua_setallocf(L, allocate, m);
}

void tm_lua_memory_set_on(struct tm_lua_memory *m, bool is_on)
{
  m->is_on = is_on;
}

void tm_lua_memory_release(struct tm_lua_memory *m)
{
  tm_require(!m->L || m->below);
  if (m->L != NULL)
    /* it frees its own memory when the state is closed */
    lua_setallocf(m->L, m->below, m->below_data);
  m->L = NULL;
}

static int collect(lua_State *L)
{
  lua_gc(L, LUA_GCCOLLECT, 0); /* may raise: it calls finalizers */
  return 0;
}

void tm_lua_memory_settle(struct tm_lua_memory *m, struct tm_buf *message)
{
  tm_require(!m->is_on); /* what follows may need memory */
  bool is_for_it = strstr(tm_buf_str(message), "not enough memory") != NULL;
  size_t refused = m->refused;
  m->refused = 0; /* a script may have caught it itself */
  if (m->L == NULL || refused == 0 || !is_for_it)
    return;
  char asked[32];
  if (refused < (1 << 20))
    snprintf(asked, sizeof(asked), "%zu bytes", refused);
  else
    snprintf(asked, sizeof(asked), "%.1f MB", (double)refused / (1 << 20));
  tm_buf_printf(message,
                " (worker_memory_limit is %" PRId64
                " MB: Lua may have %zu MB of it, had %zu MB, and asked for %s in one piece)",
                m->worker_limit >> 20, m->limit >> 20, m->used >> 20, asked);
  if (lua_cpcall(m->L, collect, NULL) != 0)
    lua_pop(m->L, 1);
}
