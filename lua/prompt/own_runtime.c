/* own_runtime.c - see own_runtime.h. */
#include "prompt/own_runtime.h"

#include <stdlib.h>

#include <tidemill.h>

#include "base/mem.h"
#include "bind/state.h"

/* Their addresses name places in the registry. */
static const char host_key = 0, own_key = 0;

struct tm_lua_runtime {
  struct tidemill_runtime *rt;
  size_t shares;
};

void tm_lua_register(lua_State *L, const char *key, void *p)
{
  lua_pushlightuserdata(L, (void *)key);
  lua_pushlightuserdata(L, p);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

void *tm_lua_registered(lua_State *L, const char *key)
{
  lua_pushlightuserdata(L, (void *)key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  void *p = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return p;
}

void tm_lua_set_runtime(lua_State *L, struct tidemill_runtime *rt)
{
  tm_lua_register(L, &host_key, rt);
}

struct tm_lua_runtime *tm_lua_runtime_share(struct tm_lua_runtime *own)
{
  if (own)
    own->shares++;
  return own;
}

void tm_lua_runtime_release(struct tm_lua_runtime *own)
{
  if (!own || --own->shares > 0)
    return;
  tidemill_runtime_close(own->rt, NULL);
  free(own);
}

static int collect(lua_State *L)
{
  struct tm_lua_runtime **own = lua_touserdata(L, 1);
  tm_lua_runtime_release(*own);
  *own = NULL;
  return 0;
}

/* The place of the state's share, which the collector gives back. Raises. */
static struct tm_lua_runtime **place_of(lua_State *L)
{
  struct tm_lua_runtime **own = tm_lua_registered(L, &own_key);
  if (own)
    return own;
  lua_pushlightuserdata(L, (void *)&own_key);
  own = lua_newuserdata(L, sizeof(*own));
  *own = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, collect);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return own;
}

struct tidemill_runtime *tm_lua_runtime(lua_State *L, struct tm_lua_runtime **own)
{
  struct tidemill_runtime *rt = tm_lua_registered(L, &host_key);
  struct tm_err err = TM_ERR_NONE;
  *own = NULL;
  if (rt)
    return rt;
  struct tm_lua_runtime **place = place_of(L);
  if (!*place) {
    if (tidemill_runtime_new(&rt, NULL, &err) < 0)
      tm_lua_raise(L, &err);
    *place = TM_NEW(struct tm_lua_runtime);
    **place = (struct tm_lua_runtime) { .rt = rt, .shares = 1 };
  }
  *own = *place;
  return (*own)->rt;
}

struct tidemill_runtime *tm_lua_own_runtime(lua_State *L)
{
  struct tm_lua_runtime **own = tm_lua_registered(L, &own_key);
  return own && *own ? (*own)->rt : NULL;
}
