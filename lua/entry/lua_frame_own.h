/* lua_frame_own.h - shared by lua_frame.c and frame_read.c. */
#ifndef TM_ENTRY_LUA_FRAME_OWN_H
#define TM_ENTRY_LUA_FRAME_OWN_H

#include <lauxlib.h>

#include "entry/frame_ffi.h"

/* Returns the column at `at`, after a check that its memory may be read; raises otherwise. */
struct tm_column_handle *tm_lua_check_column(lua_State *L, int at);
extern const luaL_Reg tm_lua_frame_read_functions[];

#endif
