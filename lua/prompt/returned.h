/* returned.h - what kind of file a Lua file is, by what it has returned and defined. */
#ifndef TM_PROMPT_RETURNED_H
#define TM_PROMPT_RETURNED_H

#include <stdbool.h>

#include <lua.h>

/* Whether the value on top of the stack is the result of a pipeline file. */
bool tm_lua_returned_pipeline(lua_State *L);
/* Whether the file at `path` is an entry script: it defines run(mini_batch), as a global or in its
 * result, which is on top of the stack. */
bool tm_lua_returned_entry_script(lua_State *L, const char *path);

#endif
