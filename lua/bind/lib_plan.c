/* lib_plan.c - the C half of the constructors of stdlib/tidemill.lua: is this definition accepted,
 * and where was it made?
 *
 * The rules are in core/plan and core/data. Here Lua values are converted to a tree, which is
 * checked and freed. Only then is the error raised, at the innermost line of the user's code, so
 * that no memory from malloc is alive.
 *
 * A constructor returns an empty table with a metatable {__tm_tag, __tm_where, __tm_value, ...}:
 * every write to it calls __newindex, which refuses, and lua_values.c makes its tree of __tm_value.
 */
#include "lib_plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "classes.h"
#include "job/failed_source.h"
#include "lib_partition.h"
#include "plan/datasets.h"
#include "plan/names.h"
#include "plan/outputs.h"
#include "plan/parameters.h"
#include "params/params.h"
#include "plan/params_check.h"
#include "plan/python.h"
#include "plan/python_line.h"
#include "state.h"
#include "store/workspace.h"
#include "sys/fs.h"

/* Refuses an object that the same constructor has made: Pipeline(pipeline). */
static int refuse_made(const char *kind, struct tm_err *err)
{
  tm_err_set(err, TM_EUSAGE,
             "the argument is already what %s returns; accepted: a table, %s { name = value, ... }",
             kind, kind);
  return tm_params_locate(kind, NULL, err);
}

/* check(kind, fields): returns nothing, or raises. */
static int plan_check(lua_State *L)
{
  const char *kind = luaL_checkstring(L, 1);
  luaL_checkany(L, 2);
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tm_lua_to_outline(L, 2, &err);
  int rc;
  if (v && v->tag && strcmp(v->tag, kind) == 0)
    rc = refuse_made(kind, &err);
  else
    rc = v ? tm_params_check(kind, v, &err) : tm_params_locate(kind, NULL, &err);
  tm_json_free(v);
  return rc < 0 ? tm_lua_raise(L, &err) : 0;
}

/* check_dataset(fields): returns nothing, or raises. The folder where relative paths start is not
 * known yet. */
static int plan_check_dataset(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *given = tm_lua_to_json(L, 1, &err);
  if (tm_json_get(given, "parameter") && !given->tag) /* a parameter's default, under a name */
    given->tag = tm_xstrdup("Dataset");
  struct tm_json *v = given ? tm_values_put(NULL, given) : NULL;
  tm_json_free(given);
  if (v && tm_outputs_is_output(v)) { /* checks the dataset that the output will become in a job */
    struct tm_json *as_input = tm_output_as_dataset(v, "step", "step/output");
    tm_json_free(v);
    v = as_input;
  }
  struct tm_dataset *d = v ? tm_plan_dataset(v, "/", &err) : NULL;
  if (!v)
    tm_params_locate("Dataset", NULL, &err);
  tm_json_free(v);
  tm_dataset_free(d);
  return err.code < 0 ? tm_lua_raise(L, &err) : 0;
}

/* where() -> "pipeline.lua:12": the innermost line of the user's code; nil: unknown. */
static int plan_where(lua_State *L)
{
  struct tm_buf where = TM_BUF_NONE;
  char text[1024] = "";
  if (tm_lua_user_line(L, &where))
    snprintf(text, sizeof(text), "%s", where.data);
  tm_buf_release(&where);
  if (*text)
    lua_pushstring(L, text);
  else
    lua_pushnil(L);
  return 1;
}

/* The folder of the innermost line of the user's code, or else the current one; the caller frees
 * it. NULL and an error. */
static char *user_dir(lua_State *L, struct tm_err *err)
{
  struct tm_buf where = TM_BUF_NONE;
  char *cwd = getcwd(NULL, 0), *dir = NULL;
  if (!cwd) {
    tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
    return NULL;
  }
  if (tm_lua_user_line(L, &where)) {
    char *file = tm_path_absolute(cwd, tm_buf_str(&where));
    dir = tm_path_dir(file);
    free(file);
  }
  tm_buf_release(&where);
  if (!dir)
    return cwd;
  free(cwd);
  return dir;
}

/* failed_items(job, step or nil) -> path of the list, or raises. */
static int plan_failed_items(lua_State *L)
{
  const char *given = luaL_checkstring(L, 1), *step = luaL_optstring(L, 2, NULL);
  struct tm_err err = TM_ERR_NONE;
  char *dir = user_dir(L, &err);
  char *path = dir ? tm_failed_source_find(tm_fs_real(), given, step, getenv(TM_WORKSPACE_VARIABLE),
                                           dir, &err)
                   : NULL;
  char kept[4 * PATH_MAX] = "";
  if (path)
    snprintf(kept, sizeof(kept), "%s", path);
  free(dir);
  free(path);
  if (!*kept) {
    tm_params_locate("Dataset.File.from_failed_items", NULL, &err);
    return tm_lua_raise(L, &err);
  }
  lua_pushstring(L, kept);
  return 1;
}

/* raise(message): raises an error at the innermost line of the user's code. */
static int plan_raise(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  tm_err_set(&err, TM_EUSAGE, "%s", luaL_checkstring(L, 1));
  return tm_lua_raise(L, &err);
}

/* parameters(kind) -> their names in the order of the manual; nil: there is no such constructor. */
static int plan_parameters(lua_State *L)
{
  size_t n = 0;
  const struct tm_field *fields = tm_params_fields(luaL_checkstring(L, 1), &n);
  if (!fields)
    return 0;
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, fields[i].name);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* instead(owner, name) -> what to write instead, or nil. */
static int plan_instead(lua_State *L)
{
  const char *words = tm_names_find(luaL_checkstring(L, 1), luaL_checkstring(L, 2));
  if (!words)
    return 0;
  lua_pushstring(L, words);
  return 1;
}

/* instead_of_module(name) -> what to write instead of a module of Python, or nil. */
static int plan_instead_of_module(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1),
             *words = tm_python_find_module(name, strcspn(name, "."));
  if (!words)
    return 0;
  lua_pushstring(L, words);
  return 1;
}

/* explain(name) -> what is known of a name that nothing here has, or nil. */
static int plan_explain(lua_State *L)
{
  struct tm_buf text = TM_BUF_NONE;
  char kept[1024] = "";
  if (tm_names_explain(&text, luaL_checkstring(L, 1)))
    snprintf(kept, sizeof(kept), "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  lua_pushstring(L, kept);
  return *kept ? 1 : 0;
}

/* explain_syntax(text, message) -> what to write for a line of Python that the compiler refused, or
 * nil. `message`: of the compiler, "NAME:LINE: ...". */
static int plan_explain_syntax(lua_State *L)
{
  size_t len, n = 0;
  const char *text = luaL_checklstring(L, 1, &len), *message = luaL_checkstring(L, 2);
  const char *name = NULL, *number = strchr(message, ':');
  unsigned long line = number ? strtoul(number + 1, NULL, 10) : 0;
  const char *module = line ? tm_python_find_import(text, len, line, &name, &n) : NULL;
  const char *words = line && !module ? tm_python_explain_line(text, len, line, message) : NULL;
  if (module) {
    lua_pushlstring(L, name, n);
    lua_pushfstring(L, "Python's '%s' is in Lua: %s", lua_tostring(L, -1), module);
  } else
    lua_pushstring(L, words); /* NULL: nil */
  return 1;
}

/* nearest(name, names) -> one of them, or nil. The table keeps the strings alive. */
static int plan_nearest(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  size_t n = lua_objlen(L, 2);
  const char **names = lua_newuserdata(L, (n + 1) * sizeof(*names));
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (int)i + 1);
    names[i] = lua_tostring(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, names[i], 2, "a list of strings");
  }
  const char *nearest = tm_text_nearest(name, names, n);
  if (!nearest)
    return 0;
  lua_pushstring(L, nearest);
  return 1;
}

static const luaL_Reg plan_functions[] = {
  { "check", plan_check },
  { "check_dataset", plan_check_dataset },
  { "where", plan_where },
  { "raise", plan_raise },
  { "failed_items", plan_failed_items },
  { "parameters", plan_parameters },
  { "classes", tm_lua_classes },
  { "instead", plan_instead },
  { "instead_of_module", plan_instead_of_module },
  { "explain", plan_explain },
  { "explain_syntax", plan_explain_syntax },
  { "nearest", plan_nearest },
  { "partition", tm_lua_partition },
  { NULL, NULL },
};

int tm_lua_open_plan(lua_State *L)
{
  luaL_newlib(L, plan_functions);
  lua_pushstring(L, TM_VERSION);
  lua_setfield(L, -2, "version");
  return 1;
}
