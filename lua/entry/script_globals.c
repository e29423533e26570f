/* script_globals.c - see script_globals.h. */
#include "entry/script_globals.h"

#include <lauxlib.h>
#include <string.h>

/* Does nothing if an earlier load of this state has already set it. */
static void set_search_path(lua_State *L, const char *field, const char *dir, const char *patterns)
{
  lua_getglobal(L, "package");
  const char *own = luaL_gsub(L, patterns, "@", dir);
  lua_getfield(L, -2, field);
  if (strncmp(lua_tostring(L, -1), own, strlen(own)) == 0)
    lua_remove(L, -2);
  else
    lua_concat(L, 2); /* [package, path] */
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

void tm_lua_set_search_paths(lua_State *L, const char *script_dir)
{
  set_search_path(L, "path", script_dir, "@/?.lua;@/?/init.lua;");
  set_search_path(L, "cpath", script_dir, "@/?.so;");
}

void tm_lua_set_arg(lua_State *L, const struct tm_setup *setup)
{
  lua_createtable(L, (int)setup->arguments_len, 1);
  lua_pushstring(L, setup->script_name);
  lua_rawseti(L, -2, 0);
  for (size_t i = 0; i < setup->arguments_len; i++) {
    lua_pushstring(L, setup->arguments[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setglobal(L, "arg");
}

void tm_lua_give_environment(lua_State *L)
{
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfenv(L, -3);
  lua_insert(L, -2);
}
