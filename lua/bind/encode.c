/* encode.c - writes a Lua value as JSON text directly, without a tree.
 *
 * The place of a value, for error messages, is a chain of frames on the C stack, one for each table
 * that contains the value. It is formatted only when a value is refused, so good values cost
 * nothing.
 *
 *  (1) No memory from malloc is alive except `out`, which the caller owns: the keys of an object
 *      are sorted in a userdata.
 *  (2) Tables are read raw.
 */
#include "bind/encode.h"

#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "bind/state.h"

#define TM_LUA_TCDATA 10 /* LuaJIT's type of FFI values, which its headers do not name */
#define DEPTH_MAX     100

/* A table that is being written, and its current member. */
struct frame {
  const struct frame *above;
  const void *table;
  const char *key; /* NULL: `index` */
  size_t index;
};

struct encoder {
  lua_State *L;
  struct tm_buf *out;
  int indent, depth;
  struct tm_row_counts *counts; /* of numbers that are not finite; or NULL */
  struct tm_err *err;
};

static int encode(struct encoder *e, int at, const struct frame *f);

static void add_place(struct tm_buf *to, const struct frame *f)
{
  if (f == NULL)
    return;
  add_place(to, f->above);
  if (f->key != NULL)
    tm_buf_printf(to, "%s%s", to->len > 0 ? "." : "", f->key);
  else
    tm_buf_printf(to, "[%zu]", f->index);
}

/* The kinds of userdata that have their contents as tables. */
static const struct {
  const char *kind, *words;
} kinds[] = {
  { "row of a data frame", "; row:copy() makes a table of a row of a data frame" },
  { "column of a data frame", "; column:to_table() is such an array" },
  { "data frame", "; df:to_table() is a list of its rows" },
  { "tensor", "; t:to_table() has its elements in lists" },
};

const char *tm_lua_kind_of(lua_State *L, int at)
{
  const char *kind = NULL;
  if (lua_type(L, at) == LUA_TUSERDATA && luaL_getmetafield(L, at, "__name")) {
    kind = lua_tostring(L, -1); /* the metatable keeps it */
    lua_pop(L, 1);
  }
  return kind != NULL ? kind : luaL_typename(L, at);
}

const char *tm_lua_kind_instead(const char *kind)
{
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++)
    if (strcmp(kinds[i].kind, kind) == 0)
      return kinds[i].words;
  return "";
}

static int refuse(struct encoder *e, const struct frame *f, const char *what)
{
  struct tm_buf place = TM_BUF_NONE, line = TM_BUF_NONE;
  add_place(&place, f);
  tm_text_one_line(&line, tm_buf_str(&place), place.len, 300);
  tm_err_set(e->err, TM_ESCRIPT, "'%s' %s", line.len > 0 ? line.data : "value", what);
  tm_buf_release(&place);
  tm_buf_release(&line);
  return TM_ESCRIPT;
}

static void add_line(struct encoder *e)
{
  if (e->indent <= 0)
    return;
  size_t blanks = (size_t)e->indent * (size_t)e->depth;
  tm_buf_add_char(e->out, '\n');
  memset(tm_buf_extend(e->out, blanks), ' ', blanks);
}

static int encode_string(struct encoder *e, const char *s, size_t len, const struct frame *f)
{
  if (!tm_text_is_utf8(s, len))
    return refuse(e, f, "is a string that is not UTF-8");
  tm_json_write_string(e->out, s, len);
  return 0;
}

/* tostring() of a 64-bit integer gives its digits and "LL" or "ULL"; no other FFI value does. */
bool tm_lua_encode_int64(lua_State *L, int at, struct tm_buf *out)
{
  if (!luaL_callmeta(L, at, "__tostring"))
    return false;
  const char *s = lua_tostring(L, -1);
  size_t sign = s != NULL && s[0] == '-';
  size_t digits = s == NULL ? 0 : strspn(s + sign, "0123456789");
  const char *rest = s == NULL ? "" : s + sign + digits;
  bool is_integer = digits > 0 && (strcmp(rest, "LL") == 0 || strcmp(rest, "ULL") == 0);
  if (is_integer)
    tm_buf_add(out, s, sign + digits);
  lua_pop(L, 1);
  return is_integer;
}

/* ---- tables ---- */

struct key {
  const char *s; /* the table's own string */
  size_t len;
};

static int by_bytes(const void *a, const void *b)
{
  const struct key *x = a, *y = b;
  size_t n = x->len < y->len ? x->len : y->len;
  int order = memcmp(x->s, y->s, n);
  return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static int encode_array(struct encoder *e, int at, size_t n, struct frame *f)
{
  int rc = 0;
  tm_require(e->depth > 0 && f->table);
  tm_buf_add_char(e->out, '[');
  for (f->index = 1; f->index <= n && rc == 0; f->index++) {
    if (f->index > 1)
      tm_buf_add_char(e->out, ',');
    add_line(e);
    lua_rawgeti(e->L, at, (int)f->index);
    rc = encode(e, lua_gettop(e->L), f);
    lua_pop(e->L, 1);
  }
  return rc;
}

/* Keeps (1). Leaves the userdata on the stack. */
static struct key *sorted_keys(lua_State *L, int at, size_t n)
{
  struct key *keys = lua_newuserdata(L, (n + 1) * sizeof *keys);
  size_t i = 0;
  lua_pushnil(L);
  while (lua_next(L, at)) {
    tm_require(i < n);
    keys[i].s = lua_tolstring(L, -2, &keys[i].len);
    i++;
    lua_pop(L, 1);
  }
  qsort(keys, n, sizeof *keys, by_bytes);
  return keys;
}

static int encode_object(struct encoder *e, int at, size_t n, struct frame *f)
{
  lua_State *L = e->L;
  const struct key *keys = sorted_keys(L, at, n);
  int rc = 0;
  tm_buf_add_char(e->out, '{');
  for (size_t i = 0; i < n && rc == 0; i++) {
    if (i > 0)
      tm_buf_add_char(e->out, ',');
    add_line(e);
    f->key = keys[i].s;
    if (!tm_text_is_utf8(keys[i].s, keys[i].len))
      return refuse(e, f, "is a key that is not UTF-8");
    tm_json_write_string(e->out, keys[i].s, keys[i].len);
    tm_buf_add_str(e->out, e->indent > 0 ? ": " : ":");
    lua_pushlstring(L, keys[i].s, keys[i].len);
    lua_rawget(L, at); /* keeps (2) */
    rc = encode(e, lua_gettop(L), f);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return rc;
}

static bool is_marked(lua_State *L, int at)
{
  if (!lua_getmetatable(L, at))
    return false;
  lua_pushliteral(L, "__jsontype");
  lua_rawget(L, -2);
  bool is_object = lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "object") == 0;
  lua_pop(L, 2);
  return is_object;
}

static int encode_members(struct encoder *e, int at, struct frame *f)
{
  bool is_object, is_array, is_meant = is_marked(e->L, at);
  size_t n = tm_lua_count_keys(e->L, at, &is_object, &is_array);
  if (is_meant && !is_object)
    return refuse(e, f->above, "is marked by json.object, and has keys that are not strings");
  if (!is_object && !is_array)
    return refuse(e, f->above,
                  "is a table with holes, or with keys of several kinds; accepted: a list from 1 "
                  "on, or names alone");
  is_array = is_array && !is_meant; /* {} is [] */
  e->depth++;
  int rc = is_array ? encode_array(e, at, n, f) : encode_object(e, at, n, f);
  e->depth--;
  if (rc < 0)
    return rc;
  if (n > 0)
    add_line(e);
  tm_buf_add_char(e->out, is_array ? ']' : '}');
  return 0;
}

static int encode_table(struct encoder *e, int at, const struct frame *above)
{
  struct frame f = { .above = above, .table = lua_topointer(e->L, at) };
  for (const struct frame *up = above; up != NULL; up = up->above)
    if (up->table == f.table)
      return refuse(e, above, "holds itself");
  if (e->depth == DEPTH_MAX || !lua_checkstack(e->L, 12))
    return refuse(e, above, "is nested too deep");
  return encode_members(e, at, &f);
}

/* ---- values ---- */

static void note_number(struct encoder *e, const struct frame *f)
{
  struct tm_fault fault = { .kind = TM_FAULT_NUMBER, .column = -1 };
  if (tm_fault_is_first(e->counts, TM_FAULT_NUMBER)) {
    struct tm_buf place = TM_BUF_NONE;
    add_place(&place, f);
    tm_fault_set_text(&fault, tm_buf_str(&place), place.len);
    tm_buf_release(&place);
  }
  tm_fault_note(e->counts, &fault);
}

static void encode_number(struct encoder *e, double v, const struct frame *f)
{
  if (e->counts != NULL && !isfinite(v))
    note_number(e, f);
  tm_json_write_number(e->out, v);
}

static int refuse_kind(struct encoder *e, int at, const struct frame *f)
{
  char words[160];
  const char *kind = tm_lua_kind_of(e->L, at);
  snprintf(words, sizeof words, "is a %.40s%s", kind, tm_lua_kind_instead(kind));
  return refuse(e, f, words);
}

static int encode(struct encoder *e, int at, const struct frame *f)
{
  lua_State *L = e->L;
  size_t len;
  const char *s;
  switch (lua_type(L, at)) {
  case LUA_TNIL: tm_buf_add_str(e->out, "null"); return 0;
  case LUA_TBOOLEAN: tm_buf_add_str(e->out, lua_toboolean(L, at) ? "true" : "false"); return 0;
  case LUA_TNUMBER: encode_number(e, lua_tonumber(L, at), f); return 0;
  case LUA_TSTRING: s = lua_tolstring(L, at, &len); return encode_string(e, s, len, f);
  case LUA_TTABLE: return encode_table(e, at, f);
  case LUA_TLIGHTUSERDATA:
    if (lua_touserdata(L, at) != NULL)
      return refuse(e, f, "is a userdata");
    tm_buf_add_str(e->out, "null");
    return 0;
  case TM_LUA_TCDATA:
    if (tm_lua_encode_int64(L, at, e->out))
      return 0;
    return refuse(e, f, "is an FFI value that is not a 64-bit integer");
  case LUA_TTHREAD: return refuse(e, f, "is a coroutine");
  default: return refuse_kind(e, at, f);
  }
}

static int encode_value(struct encoder *e, int at)
{
  lua_State *L = e->L;
  if (at < 0)
    at = lua_gettop(L) + at + 1;
  luaL_checkstack(L, 12, "no room to write JSON");
  int top = lua_gettop(L), rc = encode(e, at, NULL);
  lua_settop(L, top);
  return rc;
}

int tm_lua_encode(lua_State *L, int at, int indent, struct tm_buf *out, struct tm_err *err)
{
  struct encoder e = { .L = L, .out = out, .indent = indent, .err = err };
  return encode_value(&e, at);
}

int tm_lua_encode_row(lua_State *L, int at, struct tm_buf *out, struct tm_row_counts *counts,
                      struct tm_err *err)
{
  struct encoder e = { .L = L, .out = out, .counts = counts, .err = err };
  return encode_value(&e, at);
}
