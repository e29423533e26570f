/* state.h - Lua states, and the two doors: C calls Lua only through tm_lua_pcall(), and Lua
 * calls C through the luaL_Reg tables at the end of each binding file. */
#ifndef TM_BIND_STATE_H
#define TM_BIND_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/* A C module: `require "tidemill.<name>"` calls `open`. */
struct tm_lua_module {
  const char *name;
  lua_CFunction open;
};

/* Makes a state with the standard libraries, a loader of our embedded modules and of these, and
 * runs boot.lua. `modules`: ends with a NULL name; must outlive the state. NULL and an error. */
lua_State *tm_lua_new(const struct tm_lua_module *modules, struct tm_err *err);
void tm_lua_free(lua_State *L); /* NULL is a no-op */

/* An error that user code raised. Zeroed: empty. */
struct tm_lua_error {
  struct tm_buf message; /* without its position, if `where` has it; tables and nil are described */
  struct tm_buf stack;   /* traceback, without our own frames */
  struct tm_buf where;   /* "score.lua:12": the innermost line of user code */
};
void tm_lua_error_release(struct tm_lua_error *e);

/* Calls lua_pcall with a traceback, and asserts the stack's height before and after. 0; or
 * TM_ESCRIPT, with the error in `e` (cleared before; may be NULL), and nothing left on the
 * stack. */
int tm_lua_pcall(lua_State *L, int nargs, int nresults, struct tm_lua_error *e);

/* Compiles text (never bytecode; skips a first line with '#') and pushes the function. Messages
 * call the file `shown_as`. TM_ESCRIPT: a syntax error, in `e`; nothing is pushed. */
int tm_lua_load(lua_State *L, const char *text, size_t len, const char *shown_as,
                struct tm_lua_error *e);

/* Adds the innermost line of running user code, "score.lua:12". A call in `return f()` replaces
 * its caller on the stack. If this leaves no user code there, adds the text at TM_LUA_TAIL in
 * the registry. False: nothing is known. */
#define TM_LUA_TAIL "tidemill.tail"
#define TM_LUA_FILE "tidemill.file" /* in the registry: the loaded pipeline file, as given */
#define TM_LUA_NOTES                                                                               \
  "tidemill.notes" /* in the registry: a list of notes about it; true: show them */
bool tm_lua_user_line(lua_State *L, struct tm_buf *out);

/* Adds the place of the function on top of the stack, "score.lua:12", and pops it. `is_tail`: that
 * of its only `return f()`, if it has one and no other; else that of its definition. Nothing for a
 * C function. */
void tm_lua_add_place(lua_State *L, bool is_tail, struct tm_buf *out);
/* For an error of the function on top of the stack, which is popped; nil: not known. If no line of
 * user code was on the stack, because the function called one of ours by `return f()`, adds the
 * place of that call. */
void tm_lua_error_place_tail(lua_State *L, struct tm_lua_error *e);

/* Raises if the value is a pipeline, and so its file no entry script. */
void tm_lua_refuse_pipeline(lua_State *L, int at, const char *shown_as);

/* Adds the stack from level `first` on, without our own frames; nothing if no frame is the
 * user's. */
void tm_lua_add_stack(lua_State *L, int first, struct tm_buf *out);

/* Adds our embedded modules and these to package.preload of a foreign state, and changes nothing
 * else that Lua can see. May raise (memory). */
void tm_lua_add_modules(lua_State *L, const struct tm_lua_module *modules);
/* The C modules of a state, to make another like it. */
const struct tm_lua_module *tm_lua_modules_of(lua_State *L);

/* Runs a pipeline file in this state of the user, and pushes the Pipeline that it returns: 0.
 * Negative: an error, and nothing is pushed. */
int tm_lua_load_here(lua_State *L, const char *path, struct tm_err *err);

/* Registers a C module: `require "tidemill.<name>"` calls `open`. Before user code runs. */
void tm_lua_preload(lua_State *L, const char *name, lua_CFunction open);

/* Pushes the table at this address in the registry; makes it if it does not exist. */
void tm_lua_push_place(lua_State *L, const void *key);

/* Pushes nil, message and code, for operations that can fail. Returns 3. */
int tm_lua_push_err(lua_State *L, const struct tm_err *err);
/* The same if rc < 0; otherwise pushes true, and returns 1. */
int tm_lua_push_outcome(lua_State *L, int rc, const struct tm_err *err);
/* Raises the error at the innermost line of user code. Does not return. */
int tm_lua_raise(lua_State *L, const struct tm_err *err);

/* Counts the keys of the table at `at`. All are strings: *is_object; all are 1..n: *is_array; no
 * keys: both. */
size_t tm_lua_count_keys(lua_State *L, int at, bool *is_object, bool *is_array);

/* Converts the value at `at` to a tree; the caller frees it. A table whose metatable has
 * {__tm_tag, __tm_where, __tm_value} is an object of a constructor: its tree is that of
 * __tm_value, with tag and place. An empty table becomes an empty array, a NULL light userdata
 * becomes null. Functions, userdata, cdata, cycles and holes: NULL, and an error that names the
 * key by its path. Does not raise. */
struct tm_json *tm_lua_to_json(lua_State *L, int at, struct tm_err *err);
/* The same for checking the arguments of a constructor: datasets, outputs, configurations and
 * steps within it, which their own constructors have checked, become empty objects with tag and
 * place. */
struct tm_json *tm_lua_to_outline(lua_State *L, int at, struct tm_err *err);
/* Pushes a tree as a Lua value, with null as a NULL light userdata. May raise (memory), so the
 * caller must protect the tree. */
void tm_lua_push_json(lua_State *L, const struct tm_json *v);

#endif
