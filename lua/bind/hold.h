/* hold.h - memory from malloc that must not leak when an error is raised: a userdata owns it.
 *
 * Steps: tm_lua_hold_buf() or tm_lua_hold_tree() leave the userdata on the stack; then call what
 * may raise; then call tm_lua_let_go() as soon as the memory is not needed (the collector does not
 * know its size).
 */
#ifndef TM_BIND_HOLD_H
#define TM_BIND_HOLD_H

#include <lua.h>

#include "base/buf.h"
#include "base/json.h"

struct tm_buf *tm_lua_hold_buf(lua_State *L); /* empty */
/* The caller stores a tree at the pointer; NULL there means none. */
struct tm_json **tm_lua_hold_tree(lua_State *L);
/* Frees what the userdata at `at` holds; a second call does nothing. */
void tm_lua_let_go(lua_State *L, int at);

#endif
