/* state.h - a Lua state of ours, and the two doors: C calls Lua through tm_lua_pcall() alone, Lua calls C through luaL_Reg
 * tables at the end of each binding file.
 */
#ifndef TM_LUA_STATE_H
#define TM_LUA_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* A state with the standard libraries, our embedded modules in package.preload, and boot.lua run. NULL and words. */
lua_State *tm_lua_new(struct tm_err *err);
void tm_lua_free(lua_State *L); /* NULL is a no-op */

/* What is known of an error that user code raised. Zeroed: empty. */
struct tm_lua_error {
  struct tm_buf
      message; /* without a position in front where that is known; tables and nil are described */
  struct tm_buf stack; /* traceback, frames of ours left out */
  struct tm_buf where; /* "score.lua:12": the innermost line of user code */
};
void tm_lua_error_release(struct tm_lua_error *e);

/* lua_pcall with traceback; the stack's height is asserted before and after. 0, or TM_ESCRIPT with `e` filled (may be
 * NULL; what it held is cleared) and nothing left on the stack. */
int tm_lua_pcall(lua_State *L, int nargs, int nresults, struct tm_lua_error *e);

/* Compiles text (never bytecode; a first line with '#' is skipped) and pushes the function. `shown_as` is what messages
 * call the file. TM_ESCRIPT: a syntax error, in `e`; nothing is pushed. */
int tm_lua_load(lua_State *L, const char *text, size_t len, const char *shown_as,
                struct tm_lua_error *e);

/* Adds the innermost line of user code that is running, "score.lua:12". A call in `return f()` takes its caller's place on
 * the stack: where that leaves no user code, what the registry has under TM_LUA_TAIL is added. False: nothing is known. */
#define TM_LUA_TAIL "tidemill.tail"
#define TM_LUA_FILE                                                                                \
  "tidemill.file" /* in the registry: the pipeline file that is loaded, as it was given */
#define TM_LUA_NOTES "tidemill.notes" /* in the registry: a list of notes that it gave rise to */
bool tm_lua_user_line(lua_State *L, struct tm_buf *out);

/* Adds the stack from level `first` on, frames of ours left out; nothing where no frame is the user's. */
void tm_lua_add_stack(lua_State *L, int first, struct tm_buf *out);

/* Our modules, in package.preload of a state that is another's: nothing else of it changes. May raise for want of memory. */
void tm_lua_add_modules(lua_State *L);

/* Runs a pipeline file in this state, which is the user's, and pushes the Pipeline that it returns: 0; else words, and nothing is
 * pushed. */
int tm_lua_load_here(lua_State *L, const char *path, struct tm_err *err);

/* Registers a C module: `require "tidemill.<name>"` calls `open`. Before user code runs. */
void tm_lua_preload(lua_State *L, const char *name, lua_CFunction open);

/* Pushes the table that the registry has under this address, made when it is not there. */
void tm_lua_push_place(lua_State *L, const void *key);

/* nil, message, code: for operations that can fail. Returns 3. */
int tm_lua_push_err(lua_State *L, const struct tm_err *err);
/* Raises the words, at the innermost line of user code. Does not return. */
int tm_lua_raise(lua_State *L, const struct tm_err *err);

/* How many keys the table at `at` has, and whether all are strings, or all of 1..n; of none, both. */
size_t tm_lua_count_keys(lua_State *L, int at, bool *is_object, bool *is_array);

/* The value at `at` as a tree, to be freed. A table whose metatable has {__tm_tag, __tm_where, __tm_value} is an object of
 * a constructor: the tree of __tm_value with tag and where. An empty table is an empty array; a NULL light userdata is
 * null. Functions, userdata, cdata, cycles, holes: NULL and words that name the key by its path. Does not raise. */
struct tm_json *tm_lua_to_json(lua_State *L, int at, struct tm_err *err);
/* The same, but that datasets, outputs, configurations and steps within it, which their own constructors have checked, are empty
 * objects with tag and where: for who checks what a constructor was given. */
struct tm_json *tm_lua_to_outline(lua_State *L, int at, struct tm_err *err);
/* Null as a NULL light userdata. May raise for want of memory: the tree is the caller's to protect. */
void tm_lua_push_json(lua_State *L, const struct tm_json *v);

#endif
