/* lib_path.c - tidemill.path: file names as text. The rules are in base/path.c. Nothing here reads
 * a disk, but absolute() asks for the current directory if no other is given.
 *
 * The result of base/path.c is put into a held buffer before anything can raise, as everywhere in
 * the binding.
 */
#include <lauxlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "bind/hold.h"
#include "bind/libs.h"

const char *tm_lua_check_path(lua_State *L, int arg)
{
  size_t len;
  const char *s = luaL_checklstring(L, arg, &len);
  luaL_argcheck(L, strlen(s) == len, arg, "a path cannot hold a NUL byte");
  return s;
}

/* Moves a string from malloc into the buffer on top of the stack, and from there to Lua. */
static int give(lua_State *L, struct tm_buf *held, char *s)
{
  tm_buf_add_str(held, s);
  free(s);
  lua_pushlstring(L, held->data, held->len);
  tm_lua_let_go(L, -2);
  return 1;
}

static int path_join(lua_State *L)
{
  int n = lua_gettop(L);
  luaL_checkany(L, 1);
  for (int i = 1; i <= n; i++)
    tm_lua_check_path(L, i);
  struct tm_buf *held = tm_lua_hold_buf(L);
  tm_buf_add_str(held, lua_tostring(L, 1));
  for (int i = 2; i <= n; i++) {
    char *joined = tm_path_join(tm_buf_str(held), lua_tostring(L, i));
    tm_buf_clear(held);
    tm_buf_add_str(held, joined);
    free(joined);
  }
  lua_pushlstring(L, tm_buf_str(held), held->len);
  tm_lua_let_go(L, -2);
  return 1;
}

static int path_basename(lua_State *L)
{
  lua_pushstring(L, tm_path_base(tm_lua_check_path(L, 1)));
  return 1;
}

static int path_dirname(lua_State *L)
{
  const char *path = tm_lua_check_path(L, 1);
  struct tm_buf *held = tm_lua_hold_buf(L);
  return give(L, held, tm_path_dir(path));
}

static int path_stem(lua_State *L)
{
  const char *path = tm_lua_check_path(L, 1);
  struct tm_buf *held = tm_lua_hold_buf(L);
  return give(L, held, tm_path_stem(path));
}

/* Returns the part of the base name that stem() leaves out. */
static int path_ext(lua_State *L)
{
  const char *path = tm_lua_check_path(L, 1);
  char *stem = tm_path_stem(path);
  size_t len = strlen(stem);
  free(stem);
  lua_pushstring(L, tm_path_base(path) + len);
  return 1;
}

static int path_absolute(lua_State *L)
{
  char cwd[PATH_MAX] = "";
  const char *path = tm_lua_check_path(L, 1);
  const char *dir = lua_isnoneornil(L, 2) ? NULL : tm_lua_check_path(L, 2);
  if (!tm_path_is_absolute(path) && (dir == NULL || !tm_path_is_absolute(dir)) &&
      getcwd(cwd, sizeof cwd) == NULL)
    return luaL_error(L, "path.absolute: the current directory is gone");
  struct tm_buf *held = tm_lua_hold_buf(L);
  char *base = tm_path_absolute(cwd, dir != NULL ? dir : "");
  char *full = tm_path_absolute(base, path);
  free(base);
  return give(L, held, full);
}

static const luaL_Reg path_functions[] = {
  { "join", path_join }, { "basename", path_basename }, { "dirname", path_dirname },
  { "stem", path_stem }, { "ext", path_ext },           { "absolute", path_absolute },
  { NULL, NULL },
};

int tm_lua_open_path(lua_State *L)
{
  luaL_newlib(L, path_functions);
  return 1;
}
