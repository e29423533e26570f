/* lib_json.c - the C half of tidemill.json: writes a value as text (encode.c), reads a text
 * (base/json_parse.c).
 *
 * Lua numbers hold integers only up to 2^53. Larger ones are passed in two halves to a Lua
 * function, which makes a 64-bit integer of them, because the C API has no such value.
 */
#include <lauxlib.h>

#include "bind/encode.h"
#include "bind/hold.h"
#include "bind/libs.h"
#include "bind/state.h"

#define EXACT_MAX (INT64_C(1) << 53)

/* What decode() works with: where on the stack its helpers are. */
struct decoder {
  lua_State *L;
  int int64, mark; /* int64(high, low); the metatable of json.object */
};

/* encode(value, indent) -> text, or nil, message, code */
static int json_encode(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  luaL_checkany(L, 1);
  int indent = (int)luaL_checkinteger(L, 2);
  struct tm_buf *out = tm_lua_hold_buf(L);
  int held = lua_gettop(L), rc = tm_lua_encode(L, 1, indent, out, &err);
  if (rc < 0)
    tm_lua_push_err(L, &err);
  else
    lua_pushlstring(L, tm_buf_str(out), out->len);
  tm_lua_let_go(L, held);
  return rc < 0 ? 3 : 1;
}

static void push_int(struct decoder *d, int64_t v)
{
  if (v >= -EXACT_MAX && v <= EXACT_MAX) {
    lua_pushnumber(d->L, (lua_Number)v);
    return;
  }
  lua_pushvalue(d->L, d->int64);
  lua_pushnumber(d->L, (lua_Number)(int32_t)(v >> 32));
  lua_pushnumber(d->L, (lua_Number)(uint32_t)v);
  lua_call(d->L, 2, 1);
}

static void push_value(struct decoder *d, const struct tm_json *v);

static void push_list(struct decoder *d, const struct tm_json *v)
{
  lua_State *L = d->L;
  bool is_object = v->type == TM_JSON_OBJECT;
  luaL_checkstack(L, 8, "JSON that is nested too deep");
  lua_createtable(L, is_object ? 0 : (int)v->list.len, is_object ? (int)v->list.len : 0);
  for (size_t i = 0; i < v->list.len; i++) {
    push_value(d, v->list.at[i]);
    if (is_object)
      lua_setfield(L, -2, v->keys[i]);
    else
      lua_rawseti(L, -2, (int)i + 1);
  }
  if (is_object && v->list.len == 0) { /* stays an object when it is written again */
    lua_pushvalue(L, d->mark);
    lua_setmetatable(L, -2);
  }
}

static void push_value(struct decoder *d, const struct tm_json *v)
{
  switch (v->type) {
  case TM_JSON_NULL: lua_pushlightuserdata(d->L, NULL); break;
  case TM_JSON_BOOL: lua_pushboolean(d->L, v->boolean); break;
  case TM_JSON_INT: push_int(d, v->integer); break;
  case TM_JSON_NUMBER: lua_pushnumber(d->L, v->number); break;
  case TM_JSON_STRING: lua_pushlstring(d->L, v->string.at, v->string.len); break;
  case TM_JSON_ARRAY:
  case TM_JSON_OBJECT: push_list(d, v); break;
  }
}

/* decode(text, int64, mark) -> value, or nil, message, code */
static int json_decode(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);
  struct decoder d = { L, 2, 3 };
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TTABLE);
  struct tm_json **tree = tm_lua_hold_tree(L);
  int held = lua_gettop(L);
  *tree = tm_json_parse(text, len, &err);
  if (*tree == NULL) {
    tm_err_wrap(&err, "cannot read JSON");
    return tm_lua_push_err(L, &err);
  }
  push_value(&d, *tree);
  tm_lua_let_go(L, held);
  return 1;
}

static const luaL_Reg json_functions[] = {
  { "encode", json_encode },
  { "decode", json_decode },
  { NULL, NULL },
};

int tm_lua_open_json_c(lua_State *L)
{
  luaL_newlib(L, json_functions);
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "null");
  return 1;
}
