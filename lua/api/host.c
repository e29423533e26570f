/* host.c - the host's functions and values for pipeline files, its access to the Lua state, the
 * prints of a file, and our modules in the host's own state.
 *
 *  (1) In a host, neither a pipeline file nor an entry script prints anything: descriptor 1 belongs
 *      to the host, and may be closed or used for anything. print() and io.write() pass their text
 *      to on_log. A host that is a command lends its descriptors, so nothing is redirected there.
 */
#include "api/own.h"

#include <string.h>

#include "base/check.h"
#include "bind/state.h"
#include "modules.h"
#include "prompt/own_runtime.h"

void tidemill_runtime_on_lua(struct tidemill_runtime *rt,
                             void (*on_lua)(struct lua_State *L, void *data), void *data)
{
  if (!rt)
    return;
  rt->on_lua = on_lua;
  rt->on_lua_data = data;
}

static int check_name(const struct tidemill_runtime *rt, const char *name, struct tm_err *err)
{
  if (!name || !*name)
    return tm_err_set(err, TM_EUSAGE, "what a host adds has a name");
  for (size_t i = 0; i < rt->added.len; i++)
    if (strcmp(rt->added.at[i].name, name) == 0)
      return tm_err_set(err, TM_EUSAGE, "'%s' has been added already", name);
  return 0;
}

int tidemill_runtime_add_function(struct tidemill_runtime *rt, const char *name,
                                  int (*function)(struct lua_State *L), struct tm_err *err)
{
  int rc = tm_need(err, "tidemill_runtime_add_function()", "rt", rt, "function",
                   function ? (const void *)rt : NULL, NULL);
  if (rc == 0)
    rc = check_name(rt, name, err);
  if (rc < 0)
    return rc;
  *TM_ARRAY_ADD(&rt->added) =
      (struct tm_host_value) { .name = tm_xstrdup(name), .function = function };
  return 0;
}

int tidemill_runtime_add_value(struct tidemill_runtime *rt, const char *name, const char *json,
                               struct tm_err *err)
{
  struct tm_json *value;
  int rc = tm_need(err, "tidemill_runtime_add_value()", "rt", rt, "json", json, NULL);
  if (rc == 0)
    rc = check_name(rt, name, err);
  if (rc < 0)
    return rc;
  err = TM_ERR_OWN(err);
  value = tm_json_parse(json, strlen(json), err);
  if (!value)
    return tm_err_wrap(err, "the value of '%s'", name);
  *TM_ARRAY_ADD(&rt->added) = (struct tm_host_value) { .name = tm_xstrdup(name), .value = value };
  return 0;
}

void tm_host_values_release(struct tidemill_runtime *rt)
{
  for (size_t i = 0; i < rt->added.len; i++) {
    free(rt->added.at[i].name);
    tm_json_free(rt->added.at[i].value);
  }
  TM_ARRAY_RELEASE(&rt->added);
}

/* `require "host"` */
static int open_host(lua_State *L)
{
  const struct tidemill_runtime *rt = lua_touserdata(L, lua_upvalueindex(1));
  lua_createtable(L, 0, (int)rt->added.len);
  for (size_t i = 0; i < rt->added.len; i++) {
    const struct tm_host_value *v = &rt->added.at[i];
    if (v->function)
      lua_pushcfunction(L, v->function);
    else
      tm_lua_push_json(L, v->value);
    lua_setfield(L, -2, v->name);
  }
  return 1;
}

/* Pushes the arguments as one text: tostring() of each, with `between` between them. */
static void push_text(lua_State *L, const char *between)
{
  int n = lua_gettop(L);
  luaL_Buffer text;
  lua_getglobal(L, "tostring"); /* [args..., tostring] */
  for (int i = 1; i <= n; i++) {
    lua_pushvalue(L, n + 1);
    lua_pushvalue(L, i);
    lua_call(L, 1, 1);
    if (!lua_tostring(L, -1))
      luaL_error(L, "'tostring' must return a string to 'print'");
    lua_replace(L, i);
  }
  luaL_buffinit(L, &text);
  for (int i = 1; i <= n; i++) {
    if (i > 1)
      luaL_addstring(&text, between);
    lua_pushvalue(L, i);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
}

/* Keeps (1). */
static int print(lua_State *L)
{
  const struct tm_log *log = lua_touserdata(L, lua_upvalueindex(1));
  push_text(L, lua_tostring(L, lua_upvalueindex(2)));
  if (log->on_log)
    log->on_log(TIDEMILL_LEVEL_INFO, lua_tostring(L, -1), log->data);
  return 0;
}

static void push_print(lua_State *L, const struct tm_log *log, const char *between)
{
  lua_pushlightuserdata(L, (void *)log);
  lua_pushstring(L, between);
  lua_pushcclosure(L, print, 2);
}

void tm_host_take_prints(lua_State *L, const struct tm_log *log)
{
  push_print(L, log, "\t");
  lua_setglobal(L, "print");
  lua_getglobal(L, "io");
  push_print(L, log, "");
  lua_setfield(L, -2, "write");
  lua_pop(L, 1);
}

void tm_host_prepare(void *data, lua_State *L)
{
  struct tidemill_runtime *rt = data;
  tm_require(lua_gettop(L) == 0);
  if (!rt->is_command) {
    tm_host_take_prints(L, &rt->log);
    tm_lua_set_runtime(L, rt);
  }
  if (!rt->is_command || rt->added.len > 0) {
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_pushlightuserdata(L, rt);
    lua_pushcclosure(L, open_host, 1);
    lua_setfield(L, -2, "host");
  }
  lua_settop(L, 0);
  if (rt->on_lua)
    rt->on_lua(L, rt->on_lua_data);
}

static int add_modules(lua_State *L)
{
  struct tidemill_runtime *rt = lua_touserdata(L, 1);
  tm_lua_add_modules(L, tm_lua_modules());
  if (rt)
    tm_lua_set_runtime(L, rt);
  return 0;
}

int tidemill_lua_open(struct lua_State *L, struct tidemill_runtime *rt, struct tm_err *err)
{
  if (tm_need(err, "tidemill_lua_open()", "L", L, NULL) < 0)
    return TM_EUSAGE;
  if (lua_cpcall(L, add_modules, rt) == 0)
    return 0;
  const char *words = lua_tostring(L, -1);
  tm_err_set(err, TM_ESCRIPT, "cannot add the modules: %s", words ? words : "unknown error");
  lua_pop(L, 1);
  return TM_ESCRIPT;
}
