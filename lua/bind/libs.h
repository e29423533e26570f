/* libs.h - the C modules that `require` finds in every state, in scripts and pipeline files alike.
 * stdlib/tidemill/_meta describes them.
 */
#ifndef TM_BIND_LIBS_H
#define TM_BIND_LIBS_H

#include <lua.h>

int tm_lua_open_path(lua_State *L);      /* tidemill.path */
int tm_lua_open_fs(lua_State *L);        /* tidemill.fs */
int tm_lua_open_json_c(lua_State *L);    /* the C half of tidemill.json */
int tm_lua_open_process_c(lua_State *L); /* the C half of tidemill.process */

/* Returns a string without NUL, because no system call could take one with NUL; otherwise raises at
 * the caller's line. */
const char *tm_lua_check_path(lua_State *L, int arg);

#endif
