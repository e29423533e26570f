/* lua_frame.c - data frames between C and Lua, and tidemill.frame_c, the C half of tidemill.frame.
 *
 * A frame is a userdata without bytes. Its environment is a table {names = {...}, columns = {...},
 * ...}, which stdlib/tidemill/frame/base.lua makes. A column is a userdata with a struct
 * tm_column_handle (frame_ffi.h), and its environment has what the handle points to. Both types are
 * recognized by their metatables, which are in the registry.
 *
 *  (1) A userdata holds buffers from malloc while something may raise.
 *  (2) A column is read only after its lease was checked.
 */
#include "entry/lua_frame.h"

#include <lauxlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "bind/hold.h"
#include "bind/state.h"
#include "data/frame/column_ops.h"
#include "data/frame/frame_text.h"
#include "entry/lua_frame_own.h"
#include "sys/whole_file.h"

#define TM_FRAME_META  "tidemill.frame"
#define TM_COLUMN_META "tidemill.column"
#define TM_FRAME_WRAP  "tidemill.frame.wrap"

/* ---- types of userdata ---- */

static bool has_meta(lua_State *L, int at, const char *name)
{
  if (lua_type(L, at) != LUA_TUSERDATA || !lua_getmetatable(L, at))
    return false;
  lua_getfield(L, LUA_REGISTRYINDEX, name);
  bool is_it = lua_rawequal(L, -1, -2) && !lua_isnil(L, -1);
  lua_pop(L, 2);
  return is_it;
}

bool tm_lua_is_frame(lua_State *L, int at)
{
  return has_meta(L, at, TM_FRAME_META);
}

/* Keeps (2). Raises. */
struct tm_column_handle *tm_lua_check_column(lua_State *L, int at)
{
  if (!has_meta(L, at, TM_COLUMN_META))
    luaL_error(L, "not a column of a data frame");
  struct tm_column_handle *h = lua_touserdata(L, at);
  if (*h->ended)
    luaL_error(L, "the data frame that was given to run() ended when run() returned; keep "
                  "df:copy() instead");
  return h;
}

static const struct tm_column *check_column(lua_State *L, int at)
{
  return &tm_lua_check_column(L, at)->column;
}

/* The columns and the names of two lists, as arrays in one userdata. */
struct view {
  size_t n;
  const struct tm_column **columns;
  const char **names; /* Lua's strings, held by the list */
};

static void push_view(lua_State *L, int columns, int names, struct view *v)
{
  v->n = lua_objlen(L, columns);
  v->columns = lua_newuserdata(L, (v->n + 1) * (sizeof *v->columns + sizeof *v->names));
  v->names = (const char **)(v->columns + v->n + 1);
  for (size_t i = 0; i < v->n; i++) {
    lua_rawgeti(L, columns, (int)i + 1);
    v->columns[i] = check_column(L, lua_gettop(L));
    lua_rawgeti(L, names, (int)i + 1);
    v->names[i] = luaL_checkstring(L, -1);
    lua_pop(L, 2);
  }
}

/* ---- a frame that run() gets ---- */

struct lease {
  int32_t ended;
};

void tm_lua_frame_push(lua_State *L, const struct tm_data_frame *frame)
{
  struct lease *lease = lua_newuserdata(L, sizeof *lease);
  int at = lua_gettop(L);
  lease->ended = 0;
  lua_getfield(L, LUA_REGISTRYINDEX, TM_FRAME_WRAP);
  if (lua_isnil(L, -1)) { /* the first lease of this state */
    lua_pop(L, 1);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "tidemill.frame");
    lua_call(L, 1, 0);
    lua_getfield(L, LUA_REGISTRYINDEX, TM_FRAME_WRAP);
  }
  lua_createtable(L, (int)frame->n, 0);
  for (size_t i = 0; i < frame->n; i++) {
    lua_pushstring(L, frame->names[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_pushlightuserdata(L, (void *)frame->columns);
  lua_pushvalue(L, at);
  lua_pushnumber(L, (lua_Number)frame->len);
  lua_call(L, 4, 1); /* [lease, frame] */
}

void tm_lua_frame_end(lua_State *L, int at)
{
  struct lease *lease = lua_touserdata(L, at);
  tm_require(lease);
  lease->ended = 1;
}

/* ---- a frame that run() returns ---- */

static void add_names(struct tm_buf *out, const struct view *v)
{
  for (size_t i = 0; i < v->n; i++)
    tm_buf_add_bytes32(out, v->names[i], strlen(v->names[i]));
}

/* df.c is a plain table, for speed, so that `df.c.price = x` is not refused at its line. It would
 * change nothing. `env`: the frame's environment. */
static int check_unchanged(lua_State *L, int env, const struct view *v, struct tm_err *err)
{
  lua_getfield(L, env, "c");
  lua_getfield(L, env, "columns");
  for (size_t i = 0; i < v->n; i++) {
    lua_pushstring(L, v->names[i]);
    lua_rawget(L, -3);
    lua_rawgeti(L, -2, (int)i + 1);
    if (!lua_rawequal(L, -1, -2))
      return tm_err_set(err, TM_ESCRIPT,
                        "run() assigned df.c.%s of the data frame that it returned; a data frame "
                        "does not change; df:with_column(name, values) makes one with another "
                        "column",
                        v->names[i]);
    lua_pop(L, 2);
  }
  lua_pop(L, 2);
  return 0;
}

int tm_lua_frame_rows(lua_State *L, int at, const struct tm_lua_frame_rows *to, uint32_t *returned,
                      struct tm_err *err)
{
  struct view v;
  lua_getfenv(L, at);
  int env = lua_gettop(L);
  lua_getfield(L, env, "columns");
  lua_getfield(L, env, "names");
  push_view(L, env + 1, env + 2, &v);
  int rc = check_unchanged(L, env, &v, err);
  if (rc < 0)
    return rc;
  int64_t len = v.n > 0 ? v.columns[0]->len : 0;
  *returned = (uint32_t)len;
  if (to->columns != NULL)
    add_names(to->columns, &v);
  if (to->rows != NULL)
    tm_frame_add_rows(to->rows, v.columns, v.n, len, to->separator, to->escapes);
  return 0;
}

/* ---- tidemill.frame_c ---- */

/* setup(frame metatable, column metatable, wrap): what the registry keeps. */
static int frame_setup(lua_State *L)
{
  static const char *const names[] = { TM_FRAME_META, TM_COLUMN_META, TM_FRAME_WRAP };
  for (int i = 0; i < 3; i++) {
    lua_pushvalue(L, i + 1);
    lua_setfield(L, LUA_REGISTRYINDEX, names[i]);
  }
  return 0;
}

/* new_frame(state) -> userdata with `state` as its environment */
static int frame_new_frame(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_newuserdata(L, 0);
  lua_pushvalue(L, 1);
  lua_setfenv(L, -2);
  lua_getfield(L, LUA_REGISTRYINDEX, TM_FRAME_META);
  lua_setmetatable(L, -2);
  return 1;
}

/* new_column(keep) -> userdata, all zero except `ended`, with `keep` as its environment */
static int frame_new_column(lua_State *L)
{
  static const int32_t never = 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  struct tm_column_handle *h = lua_newuserdata(L, sizeof *h);
  *h = (struct tm_column_handle) { .ended = &never };
  lua_pushvalue(L, 1);
  lua_setfenv(L, -2);
  lua_getfield(L, LUA_REGISTRYINDEX, TM_COLUMN_META);
  lua_setmetatable(L, -2);
  return 1;
}

/* text(column, row from 0) -> the value as text */
static int frame_text(lua_State *L)
{
  const struct tm_column *c = check_column(L, 1);
  int64_t row = (int64_t)luaL_checknumber(L, 2);
  luaL_argcheck(L, row >= 0 && row < c->len, 2, "no such row");
  struct tm_buf *out = tm_lua_hold_buf(L);
  tm_frame_add_value(out, c, row);
  lua_pushlstring(L, tm_buf_str(out), out->len);
  tm_lua_let_go(L, -2);
  return 1;
}

/* texts(column) -> the bytes of all values, and where each ends: len + 1 offsets of 64 bits */
static int frame_texts(lua_State *L)
{
  const struct tm_column *c = check_column(L, 1);
  struct tm_buf *out = tm_lua_hold_buf(L), *offsets = tm_lua_hold_buf(L);
  for (int64_t i = 0; i <= c->len; i++) {
    int64_t at = (int64_t)out->len;
    tm_buf_add(offsets, &at, sizeof at);
    if (i < c->len)
      tm_frame_add_value(out, c, i);
  }
  lua_pushlstring(L, tm_buf_str(out), out->len);
  lua_pushlstring(L, tm_buf_str(offsets), offsets->len);
  tm_lua_let_go(L, -4);
  tm_lua_let_go(L, -3);
  return 2;
}

/* Arguments (columns, names, separator, header). */
static void add_delimited(lua_State *L, struct tm_buf *out)
{
  struct view v;
  const char *separator = luaL_checkstring(L, 3);
  push_view(L, 1, 2, &v);
  if (lua_toboolean(L, 4)) {
    struct tm_buf *names = tm_lua_hold_buf(L);
    add_names(names, &v);
    tm_frame_add_header(out, tm_buf_str(names), names->len, *separator);
    tm_lua_let_go(L, -1);
  }
  tm_frame_add_rows(out, v.columns, v.n, v.n > 0 ? v.columns[0]->len : 0, *separator, false);
}

/* delimited(columns, names, separator, header) -> text */
static int frame_delimited(lua_State *L)
{
  struct tm_buf *out = tm_lua_hold_buf(L);
  int held = lua_gettop(L);
  add_delimited(L, out);
  lua_pushlstring(L, tm_buf_str(out), out->len);
  tm_lua_let_go(L, held);
  return 1;
}

/* write(columns, names, separator, header, path) -> true, or nil, message, code */
static int frame_write(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = luaL_checkstring(L, 5);
  struct tm_buf *out = tm_lua_hold_buf(L);
  int held = lua_gettop(L);
  add_delimited(L, out);
  int rc = tm_file_write(path, tm_buf_str(out), out->len, false, &err);
  tm_lua_let_go(L, held);
  return tm_lua_push_outcome(L, rc, &err);
}

/* write_lines(columns, names, path) -> true, or nil, message, code */
static int frame_write_lines(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct view v;
  const char *path = luaL_checkstring(L, 3);
  struct tm_buf *out = tm_lua_hold_buf(L);
  int held = lua_gettop(L);
  push_view(L, 1, 2, &v);
  int rc =
      tm_frame_add_json_rows(out, v.columns, v.names, v.n, v.n > 0 ? v.columns[0]->len : 0, &err);
  if (rc == 0)
    rc = tm_file_write(path, tm_buf_str(out), out->len, false, &err);
  tm_lua_let_go(L, held);
  return tm_lua_push_outcome(L, rc, &err);
}

/* nearest(given, names) -> the name that was probably meant, or nil */
static int frame_nearest(lua_State *L)
{
  const char *given = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  size_t n = lua_objlen(L, 2);
  const char **names = lua_newuserdata(L, (n + 1) * sizeof *names);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, 2, (int)i + 1);
    names[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  const char *nearest = tm_text_nearest(given, names, n);
  if (nearest != NULL)
    lua_pushstring(L, nearest);
  else
    lua_pushnil(L);
  return 1;
}

static const luaL_Reg frame_functions[] = {
  { "setup", frame_setup },           { "new_frame", frame_new_frame },
  { "new_column", frame_new_column }, { "text", frame_text },
  { "texts", frame_texts },           { "delimited", frame_delimited },
  { "write", frame_write },           { "write_lines", frame_write_lines },
  { "nearest", frame_nearest },       { NULL, NULL },
};

int tm_lua_open_frame_c(lua_State *L)
{
  luaL_newlib(L, frame_functions);
  luaL_setfuncs(L, tm_lua_frame_read_functions, 0);
  lua_pushlightuserdata(L, (void *)tm_column_ops());
  lua_setfield(L, -2, "ops");
  return 1;
}
