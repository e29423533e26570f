/* lib_tokenizer.c - see lib_tokenizer.h. stdlib/tidemill/tokenizer.lua has checked the arguments.
 *
 * A text is one call, which whatever interrupts a script stops.
 */
#include "model/lib_tokenizer.h"

#include <lauxlib.h>
#include <string.h>

#include "bind/hold.h"
#include "bind/state.h"
#include "bind/stoppable.h"
#include "data/text/tokenizer.h"
#include "model/lua_tensor.h"
#include "model/model_kind.h"
#include "sys/whole_file.h"

#define TOKENIZER_META "tidemill.tokenizer_c.tokenizer"
#define ROWS_META      "tidemill.tokenizer_c.rows"

static struct tm_tokenizer *check_tokenizer(lua_State *L)
{
  struct tm_tokenizer **t = luaL_checkudata(L, 1, TOKENIZER_META);
  return *t;
}

static int tokenizer_gc(lua_State *L)
{
  struct tm_tokenizer **t = luaL_checkudata(L, 1, TOKENIZER_META);

  tm_tokenizer_free(*t);
  *t = NULL;
  return 0;
}

static int rows_gc(lua_State *L)
{
  tm_token_rows_release(luaL_checkudata(L, 1, ROWS_META));
  return 0;
}

static struct tm_tokenizer *parse_tokenizer(const struct tm_buf *text, struct tm_err *err)
{
  size_t head = text->len < TM_MODEL_KIND_HEAD ? text->len : TM_MODEL_KIND_HEAD;
  enum tm_model_kind kind = tm_model_kind_of(tm_buf_str(text), head, (int64_t)text->len);

  if (kind == TM_MODEL_KIND_UNKNOWN)
    return tm_tokenizer_parse(text->data, text->len, err);
  tm_model_kind_refuse(kind, err);
  return NULL;
}

static struct tm_tokenizer *read_tokenizer(const char *path, struct tm_buf *text,
                                           struct tm_err *err)
{
  if (tm_file_read(path, TM_TOKENIZER_FILE_MAX, text, err) < 0)
    return NULL; /* the message names the file */
  struct tm_tokenizer *t = parse_tokenizer(text, err);
  if (!t)
    tm_err_wrap(err, "cannot load '%s'", path);
  return t;
}

/* load(path) -> tokenizer, or nil, message, code */
static int tokenizer_load(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = luaL_checkstring(L, 1);
  struct tm_buf *text = tm_lua_hold_buf(L);
  int held = lua_gettop(L);
  struct tm_tokenizer **t = lua_newuserdata(L, sizeof(struct tm_tokenizer *));

  *t = NULL;
  luaL_getmetatable(L, TOKENIZER_META);
  lua_setmetatable(L, -2);
  *t = read_tokenizer(path, text, &err);
  tm_lua_let_go(L, held);
  if (*t)
    return 1;
  return tm_lua_push_err(L, &err);
}

static void set_number(lua_State *L, const char *key, lua_Number n)
{
  lua_pushnumber(L, n);
  lua_setfield(L, -2, key);
}

/* shape(tokenizer) -> what the file says of rows, and the number of tokens */
static int tokenizer_shape(lua_State *L)
{
  const struct tm_tokenizer *t = check_tokenizer(L);
  const struct tm_tokenizer_shape *s = tm_tokenizer_shape(t);

  lua_newtable(L);
  set_number(L, "max_length", (lua_Number)s->max_length);
  set_number(L, "width", (lua_Number)s->width);
  set_number(L, "multiple", (lua_Number)s->multiple);
  set_number(L, "specials", (lua_Number)tm_tokenizer_specials(t));
  set_number(L, "len", (lua_Number)tm_tokenizer_len(t));
  set_number(L, "pad_type", s->padding.type);
  if (s->has_padding)
    set_number(L, "pad_id", s->padding.id);
  lua_pushboolean(L, s->padding.is_left);
  lua_setfield(L, -2, "pads_left");
  lua_pushboolean(L, s->cuts_left);
  lua_setfield(L, -2, "cuts_left");
  return 1;
}

/* id(tokenizer, token) -> id, or nil */
static int tokenizer_id(lua_State *L)
{
  const struct tm_tokenizer *t = check_tokenizer(L);
  size_t len;
  const char *token = luaL_checklstring(L, 2, &len);
  int32_t id = tm_tokenizer_id(t, token, len);

  if (id < 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, id);
  return 1;
}

/* token(tokenizer, id) -> token, or nil */
static int tokenizer_token(lua_State *L)
{
  const struct tm_tokenizer *t = check_tokenizer(L);
  lua_Number id = luaL_checknumber(L, 2);
  size_t len = 0;
  bool is_id = id >= 0 && id <= INT32_MAX && id == (lua_Number)(int32_t)id;
  const char *token = is_id ? tm_tokenizer_token(t, (int32_t)id, &len) : NULL;

  if (token)
    lua_pushlstring(L, token, len);
  else
    lua_pushnil(L);
  return 1;
}

/* rows() -> no rows yet */
static int tokenizer_rows(lua_State *L)
{
  struct tm_token_rows *b = lua_newuserdata(L, sizeof *b);

  memset(b, 0, sizeof *b);
  luaL_getmetatable(L, ROWS_META);
  lua_setmetatable(L, -2);
  return 1;
}

struct encoding {
  struct tm_tokenizer *tokenizer;
  const char *text;
  size_t len;
  struct tm_tokenizer_cut cut;
  struct tm_token_rows *rows;
  struct tm_err *err;
  atomic_bool stop;
};

static int encode(void *data)
{
  struct encoding *e = data;

  return tm_tokenizer_encode(e->tokenizer, e->text, e->len, &e->cut, &e->stop, e->rows, e->err);
}

static void stop_encoding(void *data)
{
  struct encoding *e = data;

  tm_running_call_set_flag(&e->stop);
}

/* add(tokenizer, rows, text, with specials, max_length, is_left) -> true, or nil, message, code */
static int tokenizer_add(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct encoding e = { .tokenizer = check_tokenizer(L), .err = &err };
  lua_Number max_length = luaL_checknumber(L, 5);

  e.rows = luaL_checkudata(L, 2, ROWS_META);
  e.text = luaL_checklstring(L, 3, &e.len);
  e.cut.with_specials = lua_toboolean(L, 4);
  e.cut.is_left = lua_toboolean(L, 6);
  lua_Number least = e.cut.with_specials ? (lua_Number)tm_tokenizer_specials(e.tokenizer) : 0;
  luaL_argcheck(L, max_length == 0 || (max_length >= least && max_length <= INT32_MAX), 5,
                "length");
  e.cut.max_length = (int64_t)max_length;
  const struct tm_lua_stoppable call = { encode, stop_encoding, &e };
  return tm_lua_push_outcome(L, tm_lua_call_stoppable(L, &call), &err);
}

/* lengths(rows) -> of the longest text, of the shortest one */
static int tokenizer_lengths(lua_State *L)
{
  const struct tm_token_rows *b = luaL_checkudata(L, 1, ROWS_META);

  lua_pushnumber(L, (lua_Number)tm_token_rows_longest(b));
  lua_pushnumber(L, (lua_Number)tm_token_rows_shortest(b));
  return 2;
}

/* finish(rows, width, pad id, pad type, pads_left) -> ids, attention mask, types */
static int tokenizer_finish(lua_State *L)
{
  struct tm_token_rows *b = luaL_checkudata(L, 1, ROWS_META);
  lua_Number width = luaL_checknumber(L, 2);
  struct tm_padding padding = { .id = (int32_t)luaL_checkinteger(L, 3),
                                .type = (int32_t)luaL_checkinteger(L, 4),
                                .is_left = lua_toboolean(L, 5) };

  luaL_argcheck(L, width >= (lua_Number)tm_token_rows_longest(b) && width <= INT32_MAX, 2, "width");
  int64_t shape[2] = { (int64_t)b->ends.len, (int64_t)width }, *data[3];
  for (int i = 0; i < 3; i++)
    data[i] = tm_lua_tensor_new(L, TM_TENSOR_INT64, 2, shape)->data;
  tm_token_rows_fill(b, (size_t)width, &padding, data[0], data[1], data[2]);
  tm_token_rows_release(b);
  return 3;
}

static const luaL_Reg tokenizer_functions[] = {
  { "load", tokenizer_load },       { "shape", tokenizer_shape },   { "id", tokenizer_id },
  { "token", tokenizer_token },     { "rows", tokenizer_rows },     { "add", tokenizer_add },
  { "lengths", tokenizer_lengths }, { "finish", tokenizer_finish }, { NULL, NULL },
};

static void add_metatable(lua_State *L, const char *name, lua_CFunction gc)
{
  luaL_newmetatable(L, name);
  lua_pushcfunction(L, gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

int tm_lua_open_tokenizer_c(lua_State *L)
{
  add_metatable(L, TOKENIZER_META, tokenizer_gc);
  add_metatable(L, ROWS_META, rows_gc);
  luaL_newlib(L, tokenizer_functions);
  return 1;
}
