/* runtime.h - the only door to Lua: the rest of the program never sees a Lua stack. */
#ifndef TM_LUA_RUNTIME_H
#define TM_LUA_RUNTIME_H

#include "base/err.h"
#include "base/json.h"

struct lua_State;
struct tm_lua_module;

/* Runs a pipeline file and returns the tree of its Pipeline (tag "Pipeline"; plan/read.h); the
 * caller frees it. NULL, and an error with file and line of the user's Lua: the file is missing,
 * has an error, or returns something else. What the file prints goes to stdout. `on_note` (or NULL)
 * gets notes about it before this returns. `modules`, here and below: the C modules of the state
 * that is made (modules.h). */
struct tm_json *tm_lua_load_pipeline(const char *path, const struct tm_lua_module *modules,
                                     void (*on_note)(void *data, const char *words), void *data,
                                     struct tm_err *err);

/* The same for text, and in a state that a host prepares. */
struct tm_lua_piece {
  const char
      *name; /* the file; with a text, its name in messages, whose folder `require` searches */
  const char *text; /* or NULL: reads the file */
  const struct tm_lua_module *modules;
  void (*prepare)(void *data, struct lua_State *L); /* before it runs; may raise. Or NULL */
  void (*on_note)(void *data, const char *words);   /* or NULL */
  void *data;
};
struct tm_json *tm_lua_load_piece(const struct tm_lua_piece *piece, struct tm_err *err);
/* Runs a Lua file and returns the tree of its result; the caller frees it. NULL and an error, as
 * above. */
struct tm_json *tm_lua_load_values(const struct tm_lua_piece *piece, struct tm_err *err);
/* The same for a value on a stack. Raises nothing, and leaves the stack as it was. `name`: its
 * origin, for messages. */
struct tm_json *tm_lua_pipeline_at(struct lua_State *L, int index, const char *name,
                                   struct tm_err *err);

/* Compiles an entry script without running it: 0, or TM_ESCRIPT with file:line. */
int tm_lua_check_script(const char *path, const char *shown_as, const struct tm_lua_module *modules,
                        struct tm_err *err);

/* `tidemill worker`: serves an entry script in Lua to the agent. Returns the exit status. */
int tm_lua_run_worker(const struct tm_lua_module *modules);

/* Adds "LuaJIT 2.1.0", the version of the library at run time. */
void tm_lua_version(struct tm_buf *out);

#endif
