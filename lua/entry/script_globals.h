/* script_globals.h - what an entry script finds in its state: its search path, `arg`, and an
 * environment of its own. Each may raise (memory). */
#ifndef TM_ENTRY_SCRIPT_GLOBALS_H
#define TM_ENTRY_SCRIPT_GLOBALS_H

#include <lua.h>

#include "agent/agent_msg.h"

/* require() looks in the script's folder first. */
void tm_lua_set_search_paths(lua_State *L, const char *script_dir);
void tm_lua_set_arg(lua_State *L, const struct tm_setup *setup);
/* Gives [file] an environment of its own: [environment, file] */
void tm_lua_give_environment(lua_State *L);

#endif
