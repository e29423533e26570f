/* libs.h - the C modules that every state has, for scripts and pipeline files alike: what `require` calls. What each
 * offers is in stdlib/tidemill/_meta.
 */
#ifndef TM_LUA_LIBS_H
#define TM_LUA_LIBS_H

#include <lua.h>

int tm_lua_open_path(lua_State *L);      /* tidemill.path */
int tm_lua_open_fs(lua_State *L);        /* tidemill.fs */
int tm_lua_open_json_c(lua_State *L);    /* tidemill.json_c, beneath tidemill.json */
int tm_lua_open_process_c(lua_State *L); /* tidemill.process_c, beneath tidemill.process */

/* A string without a NUL in it, which no system call could take; raises at the caller's line otherwise. */
const char *tm_lua_check_path(lua_State *L, int arg);

#endif
