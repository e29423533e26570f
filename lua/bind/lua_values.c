/* lua_values.c - converts Lua values to trees (base/json.h), and back.
 *
 * Tables are read raw: no metamethod of the user runs, and nothing here raises while an incomplete
 * tree is alive (except if memory runs out, which ends the state). A table is an array if its keys
 * are 1..n, and an object if all of them are strings; an empty table is an empty array. An object
 * of one of our constructors is an empty table whose metatable has {__tm_tag, __tm_where,
 * __tm_value}. Its tree is that of __tm_value, with the tag and the place, and with the id in
 * __tm_id, which identifies an output wherever it is used.
 *
 * A value that a tree cannot hold is refused with its path: 'arguments[2]' is a function.
 */
#include "base/check.h"
#include "state.h"

#include <string.h>

#include "base/mem.h"

#define DEPTH_MAX 100

/* A table that contains the value. */
struct above {
  const void *self; /* to recognize a cycle */
  const char *key;  /* of the current member; NULL: its number, or none yet */
  size_t number;    /* 0: none yet */
};

struct converter {
  lua_State *L;
  struct tm_err *err;
  struct above above[DEPTH_MAX];
  int depth;
  bool is_outline; /* converts only tag and place of definitions in it */
};

static struct tm_json *convert(struct converter *c, int at);

/* "steps[1].inputs" */
static void add_path(struct tm_buf *out, const struct converter *c)
{
  for (int i = 0; i < c->depth; i++)
    if (c->above[i].key)
      tm_buf_printf(out, "%s%s", out->len > 0 ? "." : "", c->above[i].key);
    else if (c->above[i].number > 0)
      tm_buf_printf(out, "[%zu]", c->above[i].number);
}

static struct tm_json *refuse(struct converter *c, const char *what)
{
  struct tm_buf path = TM_BUF_NONE;
  add_path(&path, c);
  if (path.len > 0)
    tm_err_set(c->err, TM_EUSAGE, "'%s' %s", path.data, what);
  else
    tm_err_set(c->err, TM_EUSAGE, "the value %s", what);
  tm_buf_release(&path);
  return NULL;
}

static struct tm_json *convert_number(struct converter *c, int at)
{
  double v = lua_tonumber(c->L, at);
  bool is_small = v >= -9007199254740992.0 && v <= 9007199254740992.0; /* 2^53 */
  if (is_small && v == (double)(int64_t)v)
    return tm_json_new_int((int64_t)v);
  return tm_json_new_number(v);
}

size_t tm_lua_count_keys(lua_State *L, int at, bool *is_object, bool *is_array)
{
  size_t n = 0, strings = 0, integers = 0;
  double largest = 0;
  lua_pushnil(L);
  while (lua_next(L, at)) {
    lua_pop(L, 1);
    n++;
    double k = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    strings += lua_type(L, -1) == LUA_TSTRING;
    integers += k >= 1 && k <= 2147483647.0 && k == (double)(int64_t)k;
    largest = k > largest ? k : largest;
  }
  *is_object = strings == n;
  *is_array = integers == n && largest == (double)n;
  return n;
}

static struct tm_json *convert_array(struct converter *c, int at, size_t n)
{
  tm_require(c->depth > 0 && c->depth <= DEPTH_MAX);
  struct tm_json *list = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 1; i <= n; i++) {
    c->above[c->depth - 1].number = i;
    lua_rawgeti(c->L, at, (int)i);
    struct tm_json *v = convert(c, lua_gettop(c->L));
    lua_pop(c->L, 1);
    if (!v) {
      tm_json_free(list);
      return NULL;
    }
    tm_json_add(list, v);
  }
  return list;
}

static struct tm_json *convert_object(struct converter *c, int at)
{
  tm_require(c->depth > 0 && c->depth <= DEPTH_MAX);
  struct tm_json *object = tm_json_new(TM_JSON_OBJECT);
  lua_pushnil(c->L);
  while (lua_next(c->L, at)) {
    const char *key = lua_tostring(c->L, -2); /* a string already: Lua converts nothing in place */
    c->above[c->depth - 1].key = key;
    struct tm_json *v = convert(c, lua_gettop(c->L));
    if (!v) {
      lua_pop(c->L, 2);
      tm_json_free(object);
      return NULL;
    }
    tm_json_set(object, key, v);
    lua_pop(c->L, 1);
  }
  return object;
}

/* Returns a field of the metatable on top of the stack as a new string, or NULL. */
static char *copy_field(lua_State *L, const char *name)
{
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  char *s = lua_type(L, -1) == LUA_TSTRING ? tm_xstrdup(lua_tostring(L, -1)) : NULL;
  lua_pop(L, 1);
  return s;
}

/* The same as an integer; 0: no such field. */
static int64_t number_field(lua_State *L, const char *name)
{
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  int64_t v = lua_type(L, -1) == LUA_TNUMBER ? (int64_t)lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  return v;
}

static struct tm_json *convert_plain(struct converter *c, int at)
{
  bool is_object, is_array;
  size_t n = tm_lua_count_keys(c->L, at, &is_object, &is_array);
  if (is_array)
    return convert_array(c, at, n);
  if (is_object)
    return convert_object(c, at);
  return refuse(c,
                "is a table with holes, or with keys of several kinds; accepted: a list from 1 on, "
                "or names alone");
}

/* Whether its own constructor has already checked it. A PipelineParameter counts by its value
 * wherever it is used. */
static bool is_definition(const char *tag)
{
  static const char *const tags[] = { "FileDataset", "TabularDataset", "OutputFileDatasetConfig",
                                      "ParallelRunConfig", "ParallelRunStep" };
  for (size_t i = 0; i < TM_COUNT_OF(tags); i++)
    if (strcmp(tag, tags[i]) == 0)
      return true;
  return false;
}

/* Converts an object of a constructor, or a plain table. */
static struct tm_json *convert_tagged(struct converter *c, int at)
{
  lua_State *L = c->L;
  if (!lua_getmetatable(L, at))
    return convert_plain(c, at);
  char *tag = copy_field(L, "__tm_tag");
  struct tm_json *v;
  if (tag) {
    char *where = copy_field(L, "__tm_where");
    int64_t id = number_field(L, "__tm_id");
    lua_pushstring(L, "__tm_value");
    lua_rawget(L, -2);
    bool is_empty =
        lua_type(L, -1) != LUA_TTABLE || (c->is_outline && c->depth > 1 && is_definition(tag));
    v = is_empty ? tm_json_new(TM_JSON_OBJECT) : convert_plain(c, lua_gettop(L));
    lua_pop(L, 1);
    if (v) {
      v->tag = tag;
      v->where = where;
      v->id = id;
    } else {
      free(tag);
      free(where);
    }
  } else {
    v = convert_plain(c, at);
  }
  lua_pop(L, 1);
  return v;
}

static struct tm_json *convert_table(struct converter *c, int at)
{
  const void *self = lua_topointer(c->L, at);
  for (int i = 0; i < c->depth; i++) {
    if (c->above[i].self == self)
      return refuse(c, "holds itself");
  }
  if (c->depth == DEPTH_MAX || !lua_checkstack(c->L, 12))
    return refuse(c, "is nested too deep");
  c->above[c->depth++] = (struct above) { .self = self };
  struct tm_json *v = convert_tagged(c, at);
  c->depth--;
  return v;
}

static struct tm_json *convert(struct converter *c, int at)
{
  size_t len;
  const char *s;
  switch (lua_type(c->L, at)) {
  case LUA_TNIL: return tm_json_new(TM_JSON_NULL);
  case LUA_TBOOLEAN: return tm_json_new_bool(lua_toboolean(c->L, at));
  case LUA_TNUMBER: return convert_number(c, at);
  case LUA_TSTRING: s = lua_tolstring(c->L, at, &len); return tm_json_new_bytes(s, len);
  case LUA_TLIGHTUSERDATA:
    if (!lua_touserdata(c->L, at))
      return tm_json_new(TM_JSON_NULL);
    return refuse(c, "is a userdata");
  case LUA_TTABLE: return convert_table(c, at);
  case LUA_TFUNCTION: return refuse(c, "is a function");
  case LUA_TUSERDATA: return refuse(c, "is a userdata");
  case LUA_TTHREAD: return refuse(c, "is a coroutine");
  default: return refuse(c, "is a cdata; accepted: a plain number (tonumber) or a string");
  }
}

static struct tm_json *to_json(lua_State *L, int at, bool is_outline, struct tm_err *err)
{
  struct converter c = { .L = L, .err = err, .is_outline = is_outline };
  if (at < 0)
    at = lua_gettop(L) + at + 1;
  if (!lua_checkstack(L, 12)) {
    refuse(&c, "has no room on the stack");
    return NULL;
  }
  return convert(&c, at);
}

struct tm_json *tm_lua_to_json(lua_State *L, int at, struct tm_err *err)
{
  return to_json(L, at, false, err);
}

struct tm_json *tm_lua_to_outline(lua_State *L, int at, struct tm_err *err)
{
  return to_json(L, at, true, err);
}

void tm_lua_push_json(lua_State *L, const struct tm_json *v)
{
  luaL_checkstack(L, 4, "a tree that is nested too deep");
  switch (v->type) {
  case TM_JSON_NULL: lua_pushlightuserdata(L, NULL); break;
  case TM_JSON_BOOL: lua_pushboolean(L, v->boolean); break;
  case TM_JSON_INT: lua_pushnumber(L, (double)v->integer); break;
  case TM_JSON_NUMBER: lua_pushnumber(L, v->number); break;
  case TM_JSON_STRING: lua_pushlstring(L, v->string.at, v->string.len); break;
  case TM_JSON_ARRAY:
    lua_createtable(L, (int)v->list.len, 0);
    for (size_t i = 0; i < v->list.len; i++) {
      tm_lua_push_json(L, v->list.at[i]);
      lua_rawseti(L, -2, (int)i + 1);
    }
    break;
  case TM_JSON_OBJECT:
    lua_createtable(L, 0, (int)v->list.len);
    for (size_t i = 0; i < v->list.len; i++) {
      tm_lua_push_json(L, v->list.at[i]);
      lua_setfield(L, -2, v->keys[i]);
    }
    break;
  }
}
