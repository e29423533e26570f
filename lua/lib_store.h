/* lib_store.h - `require "tidemill.store"`: the C half of Workspace, Datastore and registered datasets. Its functions are
 * described in stdlib/tidemill/_meta/store.lua. */
#ifndef TM_LUA_LIB_STORE_H
#define TM_LUA_LIB_STORE_H

#include <lua.h>

int tm_lua_open_store(lua_State *L);

#endif
