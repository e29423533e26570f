/* lua_script.h - an entry script in Lua, with the interface that the agent uses (agent/script.h).
 *
 *   struct tm_script script;
 *   if (tm_lua_script_open(&script, tm_lua_modules(), &err) == 0)
 *     ... script.load(), .init(), .run() again and again, .shutdown() ...
 *   tm_lua_script_close(&script);
 *
 * The file runs in an environment of its own, which reads through to the globals. Its hooks are the
 * fields of the table that it returns, or else globals of that environment. `require` searches its
 * folder first. `...` and the global `arg` are its arguments; arg[0] is its name. Messages and
 * stacks name it `script_name`.
 */
#ifndef TM_ENTRY_LUA_SCRIPT_H
#define TM_ENTRY_LUA_SCRIPT_H

#include "agent/script.h"
#include "base/err.h"

struct lua_State;
struct tm_lua_module;

/* Makes a new Lua state with these C modules (bind/state.h). One load() per state. Negative and an
 * error: then there is nothing to close. */
int tm_lua_script_open(struct tm_script *out, const struct tm_lua_module *modules,
                       struct tm_err *err);
void tm_lua_script_close(struct tm_script *script); /* closed, or zeroed: a no-op */
struct lua_State *tm_lua_script_state(const struct tm_script *script);

/* ---- a guest: for a prompt ----
 *
 * Loads the script into an existing state, which stays. The owner of the state interrupts it;
 * setup.memory_limit and profile_file are ignored. Its run() gets the value on top of the stack,
 * and replaces it by the first result, or by nil after an error; the call describes the mini-batch,
 * and its frame is ignored. May raise (memory). */
void tm_lua_script_open_in(struct tm_script *out, struct lua_State *L);
/* Sets the stack for the next call. Needed before each call, which may come from a coroutine. */
void tm_lua_script_set_state(const struct tm_script *script, struct lua_State *L);
/* Pushes the table of its globals. */
void tm_lua_script_push_environment(const struct tm_script *script);

#endif
