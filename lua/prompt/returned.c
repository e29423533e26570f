/* returned.c - see returned.h. */
#include "prompt/returned.h"

#include <string.h>

#include <lauxlib.h>

bool tm_lua_returned_pipeline(lua_State *L)
{
  bool yes = false;
  if (luaL_getmetafield(L, -1, "__tm_tag")) {
    const char *tag = lua_tostring(L, -1);
    yes = tag && strcmp(tag, "Pipeline") == 0;
    lua_pop(L, 1);
  }
  return yes;
}

/* Whether the value on top of the stack is run(mini_batch), defined in the file at `path`. */
static bool is_run(lua_State *L, const char *path)
{
  lua_Debug ar;
  if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1))
    return false;
  if (!lua_getlocal(L, NULL, 1)) /* the name of its first parameter */
    return false;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &ar);
  return ar.source[0] == '@' && strcmp(ar.source + 1, path) == 0;
}

bool tm_lua_returned_entry_script(lua_State *L, const char *path)
{
  bool yes = false;
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "run");
    lua_rawget(L, -2);
    yes = is_run(L, path);
    lua_pop(L, 1);
  }
  lua_pushliteral(L, "run");
  lua_rawget(L, LUA_GLOBALSINDEX);
  yes = yes || is_run(L, path);
  lua_pop(L, 1);
  return yes;
}
