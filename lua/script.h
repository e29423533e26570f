/* script.h - an entry script in Lua, behind the seam that the agent knows (agent/script.h).
 *
 *   struct tm_script script;
 *   if (tm_lua_script_open(&script, &err) == 0)
 *     ... script.load(), .init(), .run() again and again, .shutdown() ...
 *   tm_lua_script_close(&script);
 *
 * The file is run in an environment of its own, whose reads fall through to the globals. Its hooks are the fields of the
 * table that it returns, else globals of that environment. `require` looks in its folder first. `...` and the global
 * `arg` are its arguments; arg[0] is its name. Messages and stacks call it by `script_name`.
 */
#ifndef TM_LUA_SCRIPT_H
#define TM_LUA_SCRIPT_H

#include "agent/script.h"
#include "base/err.h"

/* A fresh Lua state. One load() per state. Negative and words: then there is nothing to close. */
int tm_lua_script_open(struct tm_script *out, struct tm_err *err);
void tm_lua_script_close(struct tm_script *script); /* closed, or zeroed: a no-op */

#endif
