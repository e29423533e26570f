/* state.c - makes a Lua state: the standard libraries, the compiled-in modules, the given C
 * modules, boot.lua.
 *
 * Everything that may raise (also if memory runs out) happens in lua_cpcall, so a state is made
 * completely or not at all. An error outside any protected call is our own fault, and the panic
 * function reports it as one.
 */
#include "state.h"

#include "base/check.h"
#include "runtime.h"
#include "sources.h"

#include <lualib.h>
#include <string.h>

#define PREFIX "tidemill."

static const char modules_key = 0; /* its address names the place in the registry */

static int on_panic(lua_State *L)
{
  tm_require(!"an error outside of tm_lua_pcall");
  return 0;
}

/* Another build of LuaJIT may have another bytecode: then the text is compiled. */
static void push_module(lua_State *L, const struct tm_lua_source *s)
{
  if (luaL_loadbuffer(L, s->code, s->code_len, s->label) == 0)
    return;
  lua_pop(L, 1);
  if (luaL_loadbuffer(L, s->text, s->text_len, s->label) != 0)
    lua_error(L);
}

/* Runs a compiled-in module: upvalue 1 is its struct tm_lua_source, the argument its name. */
static int run_source(lua_State *L)
{
  const struct tm_lua_source *s = lua_touserdata(L, lua_upvalueindex(1));
  push_module(L, s);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

static void push_runner(lua_State *L, const struct tm_lua_source *s)
{
  lua_pushlightuserdata(L, (void *)s);
  lua_pushcclosure(L, run_source, 1);
}

static bool is_module(const struct tm_lua_source *s)
{
  return strcmp(s->module, "boot") != 0;
}

/* The table package.preload on top of the stack. */
static void push_preload(lua_State *L)
{
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_remove(L, -2);
}

void tm_lua_preload(lua_State *L, const char *name, lua_CFunction open)
{
  push_preload(L);
  lua_pushfstring(L, PREFIX "%s", name);
  lua_pushcfunction(L, open);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

static void keep_modules(lua_State *L, const struct tm_lua_module *modules)
{
  lua_pushlightuserdata(L, (void *)&modules_key);
  lua_pushlightuserdata(L, (void *)modules);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

void tm_lua_add_modules(lua_State *L, const struct tm_lua_module *modules)
{
  keep_modules(L, modules);
  for (const struct tm_lua_module *m = modules; m->name; m++)
    tm_lua_preload(L, m->name, m->open);
  push_preload(L);
  for (const struct tm_lua_source *s = tm_lua_sources; s->module; s++)
    if (is_module(s)) {
      push_runner(L, s);
      lua_setfield(L, -2, s->module);
    }
  lua_pop(L, 1);
}

const struct tm_lua_module *tm_lua_modules_of(lua_State *L)
{
  lua_pushlightuserdata(L, (void *)&modules_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  const struct tm_lua_module *modules = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return modules;
}

/* One of package.loaders: finds our modules by name, where they cost a state nothing until they are
 * used. */
static int find_module(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  bool is_ours = strncmp(name, PREFIX, strlen(PREFIX)) == 0;
  for (const struct tm_lua_module *m = tm_lua_modules_of(L); is_ours && m->name; m++)
    if (strcmp(m->name, name + strlen(PREFIX)) == 0) {
      lua_pushcfunction(L, m->open);
      return 1;
    }
  for (const struct tm_lua_source *s = tm_lua_sources; s->module; s++)
    if (is_module(s) && strcmp(s->module, name) == 0) {
      push_runner(L, s);
      return 1;
    }
  return 0;
}

/* Returns {module = label} of the sources. */
static int list_sources(lua_State *L)
{
  lua_newtable(L);
  for (const struct tm_lua_source *s = tm_lua_sources; s->module; s++)
    if (is_module(s)) {
      lua_pushstring(L, s->label);
      lua_setfield(L, -2, s->module);
    }
  return 1;
}

static void run_boot(lua_State *L)
{
  const struct tm_lua_source *s = tm_lua_sources;
  while (is_module(s))
    s++;
  push_module(L, s);
  lua_pushcfunction(L, find_module);
  lua_pushcfunction(L, list_sources);
  lua_call(L, 2, 0);
}

/* [modules] */
static int open_all(lua_State *L)
{
  const struct tm_lua_module *modules = lua_touserdata(L, 1);
  lua_settop(L, 0);
  luaL_openlibs(L);
  keep_modules(L, modules);
  run_boot(L);
  return 0;
}

lua_State *tm_lua_new(const struct tm_lua_module *modules, struct tm_err *err)
{
  lua_State *L = luaL_newstate();
  if (!L) {
    tm_err_set(err, TM_ELIMIT, "cannot make a Lua state: not enough memory");
    return NULL;
  }
  lua_atpanic(L, on_panic);
  if (lua_cpcall(L, open_all, (void *)modules) != 0) {
    const char *text = lua_tostring(L, -1);
    tm_err_set(err, TM_ESCRIPT, "cannot prepare a Lua state: %s", text ? text : "unknown error");
    lua_close(L);
    return NULL;
  }
  tm_require(lua_gettop(L) == 0);
  return L;
}

void tm_lua_free(lua_State *L)
{
  if (L)
    lua_close(L);
}

static int push_version(lua_State *L)
{
  luaL_openlibs(L);
  lua_getglobal(L, "jit");
  lua_getfield(L, -1, "version");
  tm_buf_add_str(lua_touserdata(L, 1), lua_tostring(L, -1));
  return 0;
}

void tm_lua_version(struct tm_buf *out)
{
  lua_State *L = luaL_newstate();
  if (!L || lua_cpcall(L, push_version, out) != 0)
    tm_buf_add_str(out, "LuaJIT of an unknown version");
  tm_lua_free(L);
}

void tm_lua_push_place(lua_State *L, const void *key)
{
  lua_pushlightuserdata(L, (void *)(uintptr_t)key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  if (!lua_isnil(L, -1))
    return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushlightuserdata(L, (void *)(uintptr_t)key);
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
}
