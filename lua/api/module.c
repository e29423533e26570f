/* module.c - `require "tidemill"` in a stock LuaJIT: the library as a Lua C module.
 *
 * It uses the host's Lua: it is not linked with one, and exports no other name. The first require
 * adds the compiled-in modules to the state, so `require "tidemill.frame"` and the like must come
 * after it.
 */
#include <lauxlib.h>

#include "bind/state.h"
#include "modules.h"

__attribute__((visibility("default"))) int luaopen_tidemill(lua_State *L);

int luaopen_tidemill(lua_State *L)
{
  tm_lua_add_modules(L, tm_lua_modules());
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_getfield(L, -1, "tidemill");
  lua_pushliteral(L, "tidemill");
  lua_call(L, 1, 1);
  return 1;
}
