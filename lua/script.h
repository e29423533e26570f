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

struct lua_State;

/* A fresh Lua state. One load() per state. Negative and words: then there is nothing to close. */
int tm_lua_script_open(struct tm_script *out, struct tm_err *err);
void tm_lua_script_close(struct tm_script *script); /* closed, or zeroed: a no-op */
struct lua_State *tm_lua_script_state(const struct tm_script *script);

/* ---- a guest: for a prompt ----
 *
 * The script is loaded into a state that is there and stays. Its owner interrupts it; setup.memory_limit and profile_file count for nothing.
 * May raise for want of memory. */
void tm_lua_script_open_in(struct tm_script *out, struct lua_State *L);
/* The stack that the next call is made from: before each, as it may come out of a coroutine. */
void tm_lua_script_set_state(const struct tm_script *script, struct lua_State *L);
/* run() over the value on top of the stack, in whose place is then what it returned first, nil after an error; `call` says which
 * mini-batch it is, and its frame is not looked at. */
int tm_lua_script_run_value(const struct tm_script *script, const struct tm_run_call *call,
                            struct tm_buf *rows, uint32_t *returned, struct tm_script_error *error);
/* Pushes the table of its globals. */
void tm_lua_script_push_environment(const struct tm_script *script);

#endif
