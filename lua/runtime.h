/* runtime.h - the one door to Lua: the rest of the program never sees a stack. */
#ifndef TM_LUA_RUNTIME_H
#define TM_LUA_RUNTIME_H

#include "base/err.h"
#include "base/json.h"

/* Runs a pipeline file and returns the tree of the Pipeline that it returns (tag "Pipeline"; plan/pipeline.h), to be freed. NULL and words
 * with the file and line of the user's Lua: missing, syntax error, runtime error, returns something else. What the file
 * prints goes to stdout. `on_note` (or NULL) is given what there is to say of it besides, before this returns. */
struct tm_json *tm_lua_load_pipeline(const char *path,
                                     void (*on_note)(void *data, const char *words), void *data,
                                     struct tm_err *err);

struct lua_State;

/* The same of text, and in a state that a host has a part in. */
struct tm_lua_piece {
  const char
      *name; /* the file; with a text, what messages call it, and what `require` looks beside */
  const char *text;                                 /* or NULL: the file is read */
  void (*prepare)(void *data, struct lua_State *L); /* before it runs; may raise. Or NULL */
  void (*on_note)(void *data, const char *words);   /* or NULL */
  void *data;
};
struct tm_json *tm_lua_load_piece(const struct tm_lua_piece *piece, struct tm_err *err);
/* Runs a Lua file and returns the tree of what it returns, to be freed; NULL and words as above. */
struct tm_json *tm_lua_load_values(const struct tm_lua_piece *piece, struct tm_err *err);
/* The same tree of a value on a stack; nothing is raised, and the stack stays as it is. `name`: of whoever gives it, for words. */
struct tm_json *tm_lua_pipeline_at(struct lua_State *L, int index, const char *name,
                                   struct tm_err *err);

/* Compiles an entry script without running it: 0, or TM_ESCRIPT with file:line. */
int tm_lua_check_script(const char *path, const char *shown_as, struct tm_err *err);

/* `tidemill worker`: an entry script in Lua, served by the agent. Returns the exit status. */
int tm_lua_run_worker(void);

/* Adds "LuaJIT 2.1.0": of the library that is loaded. */
void tm_lua_version(struct tm_buf *out);

#endif
