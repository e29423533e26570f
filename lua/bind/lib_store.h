/* lib_store.h - `require "tidemill.store"`: the C half of Workspace, Datastore and registered
 * datasets. Its functions are described in stdlib/tidemill/_meta/store.lua. */
#ifndef TM_BIND_LIB_STORE_H
#define TM_BIND_LIB_STORE_H

#include <lua.h>

#include "base/err.h"

int tm_lua_open_store(lua_State *L);

/* The folder where relative paths start: that of the pipeline file, or of the innermost line of the
 * user's code, or the current one. The caller frees it; NULL and an error. */
char *tm_lua_base_dir(lua_State *L, struct tm_err *err);

#endif
