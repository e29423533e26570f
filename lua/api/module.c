/* module.c - `require "tidemill"` of a stock LuaJIT: the library as a Lua C module.
 *
 * The Lua is the host's: nothing here is linked with one, and no other name is exported. What is compiled in becomes known to the
 * state with the first require, so that `require "tidemill.frame"` and the like come behind it.
 */
#include <lauxlib.h>

#include "lua/state.h"

__attribute__((visibility("default"))) int luaopen_tidemill(lua_State *L);

int luaopen_tidemill(lua_State *L)
{
  tm_lua_add_modules(L);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_getfield(L, -1, "tidemill");
  lua_pushliteral(L, "tidemill");
  lua_call(L, 1, 1);
  return 1;
}
