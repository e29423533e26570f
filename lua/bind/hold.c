/* hold.c - memory from malloc that a userdata owns.
 *
 * Both kinds share one metatable. The userdata is complete, with its metatable, before anything is
 * stored in it; from then on, tm_lua_let_go() or the collector frees it.
 */
#include "bind/hold.h"

#include <lauxlib.h>

#include "base/check.h"

#define TM_IN_FLIGHT "tidemill.held"

struct held {
  struct tm_buf buf;
  struct tm_json *tree;
};

static int held_gc(lua_State *L)
{
  tm_lua_let_go(L, 1);
  return 0;
}

/* Registers the metatable by its name only when it is complete: each of these calls may lack
 * memory. */
static void push_metatable(lua_State *L)
{
  luaL_getmetatable(L, TM_IN_FLIGHT);
  if (!lua_isnil(L, -1))
    return;
  lua_pop(L, 1);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, held_gc);
  lua_setfield(L, -2, "__gc");
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, TM_IN_FLIGHT);
}

static struct held *push_held(lua_State *L)
{
  struct held *h = lua_newuserdata(L, sizeof *h);
  *h = (struct held) { 0 };
  push_metatable(L);
  lua_setmetatable(L, -2);
  return h;
}

struct tm_buf *tm_lua_hold_buf(lua_State *L)
{
  return &push_held(L)->buf;
}

struct tm_json **tm_lua_hold_tree(lua_State *L)
{
  return &push_held(L)->tree;
}

void tm_lua_let_go(lua_State *L, int at)
{
  struct held *h = lua_touserdata(L, at);
  tm_require(h);
  tm_buf_release(&h->buf);
  tm_json_free(h->tree);
  h->tree = NULL;
}
