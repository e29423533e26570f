/* prefetched.c - see prefetched.h. */
#include "entry/prefetched.h"

#include <lauxlib.h>

#include "base/check.h"

void tm_lua_prefetches_init(struct tm_lua_prefetches *s)
{
  for (int i = 0; i < TM_LUA_PREFETCHED_MAX; i++) {
    s->all[i] =
        (struct tm_lua_prefetched) { .mini_batch_ref = LUA_NOREF, .returned_ref = LUA_NOREF };
    tm_list_init(&s->all[i].begun.items);
  }
}

struct tm_lua_prefetched *tm_lua_prefetched_new(struct tm_lua_prefetches *s, uint64_t seq)
{
  int i = 0;
  tm_require(!tm_lua_prefetched_find(s, seq));
  while (i < TM_LUA_PREFETCHED_MAX && s->all[i].is_used)
    i++;
  tm_require(i < TM_LUA_PREFETCHED_MAX);
  s->all[i].is_used = true;
  s->all[i].seq = seq;
  return &s->all[i];
}

struct tm_lua_prefetched *tm_lua_prefetched_find(struct tm_lua_prefetches *s, uint64_t seq)
{
  for (int i = 0; i < TM_LUA_PREFETCHED_MAX; i++)
    if (s->all[i].is_used && s->all[i].seq == seq)
      return &s->all[i];
  return NULL;
}

void tm_lua_prefetched_end(lua_State *L, struct tm_lua_prefetched *p)
{
  tm_lua_begun_end(&p->begun);
  luaL_unref(L, LUA_REGISTRYINDEX, p->mini_batch_ref);
  luaL_unref(L, LUA_REGISTRYINDEX, p->returned_ref);
  p->mini_batch_ref = p->returned_ref = LUA_NOREF;
  p->is_used = false;
}

void tm_lua_prefetches_end_all(lua_State *L, struct tm_lua_prefetches *s)
{
  for (int i = 0; i < TM_LUA_PREFETCHED_MAX; i++)
    if (s->all[i].is_used)
      tm_lua_prefetched_end(L, &s->all[i]);
}
