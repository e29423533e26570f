/* hold.h - memory of malloc's that an error may not leak: a userdata owns it.
 *
 * Steps: tm_lua_hold_buf() or tm_lua_hold_tree(), which leave the userdata on the stack; then whatever may raise; then
 * tm_lua_let_go() as soon as it is of no use any more (the collector does not see how large it is).
 */
#ifndef TM_LUA_HOLD_H
#define TM_LUA_HOLD_H

#include <lua.h>

#include "base/buf.h"
#include "base/json.h"

struct tm_buf *tm_lua_hold_buf(lua_State *L); /* empty */
/* The tree is to be put where the pointer leads; NULL there is nothing. */
struct tm_json **tm_lua_hold_tree(lua_State *L);
/* Frees what the userdata at `at` holds; again is a no-op. */
void tm_lua_let_go(lua_State *L, int at);

#endif
