/* modules.h - the C modules that every Lua state of ours has: the place where the parts of the
 * binding come together. stdlib/tidemill/_meta describes most of them.
 *
 * The program and the interface for hosts pass the list to the code that makes a state. The binding
 * itself takes it from its caller, or from a state that exists (bind/state.h).
 */
#ifndef TM_LUA_MODULES_H
#define TM_LUA_MODULES_H

struct tm_lua_module;

/* Static memory; ends with a NULL name. */
const struct tm_lua_module *tm_lua_modules(void);

#endif
