/* rows.c - converts the result of run() to rows of the output.
 *
 * An array in Lua is a table that has the keys 1 to n, and `#` is not reliable if it has holes. So
 * the whole table is walked once: as long as the keys come as 1, 2, 3, ..., each element is written
 * on the way; at the end there was no other key. A table that was filled in another order has its
 * keys in another order. Its keys are counted first, and a second walk goes by number.
 *
 *  (1) The caller owns `rows`, which survives an error that is raised here. No other memory from
 *      malloc is alive across a call that can raise.
 *  (2) Neither the locale of the host nor one that the script has set changes a row.
 */
#include "entry/rows.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "bind/encode.h"
#include "data/frame/fault_list.h"
#include "data/rows/fault.h"

#define TM_LUA_TCDATA 10 /* LuaJIT's type of FFI values, which its headers do not name */
#define TM_EXPECTED   "expected an array with one element for each item that succeeded"

struct target {
  struct tm_buf *rows;
  bool escapes;
  struct tm_row_counts
      *counts; /* TM_FAULT_NUMBER, whose first has its element as `at`, and _TABLE */
};

static int add_unordered(lua_State *L, int at, const struct target *to, uint32_t *returned,
                         struct tm_err *err);
static int add_element(lua_State *L, uint32_t number, const struct target *to, struct tm_err *err);

static int add_rows(lua_State *L, int at, const struct target *to, uint32_t *returned,
                    struct tm_err *err)
{
  struct tm_buf *rows = to->rows;
  size_t begin = rows == NULL ? 0 : rows->len;
  uint32_t n = 0;
  lua_pushnil(L);
  while (lua_next(L, at)) {
    int code = 0;
    if (lua_type(L, -2) != LUA_TNUMBER || lua_tonumber(L, -2) != (lua_Number)n + 1) {
      if (rows != NULL)
        rows->len = begin;
      return add_unordered(L, at, to, returned, err);
    }
    n++;
    if (rows != NULL)
      code = add_element(L, n, to, err);
    if (code < 0) {
      rows->len = begin;
      return code;
    }
    lua_pop(L, 1);
  }
  *returned = n;
  return 0;
}

static void add_fault(struct tm_buf *list, const struct tm_row_counts *counts,
                      enum tm_fault_kind kind)
{
  struct tm_buf words = TM_BUF_NONE;
  const struct tm_fault *first = &counts->first_of[kind];
  if (counts->faults[kind] == 0)
    return;
  tm_row_counts_words(&words, counts, kind);
  if (kind == TM_FAULT_NUMBER) {
    tm_buf_printf(&words, "; the first: element %" PRId64 " from run(), ", first->at);
    tm_fault_words(&words, first, NULL);
  }
  tm_fault_list_add(list, kind, counts->faults[kind], tm_row_counts_what(counts, kind), &words);
  tm_buf_release(&words);
}

int tm_lua_rows_add(lua_State *L, int at, const struct tm_lua_rows *to, uint32_t *returned,
                    struct tm_err *err)
{
  struct tm_row_counts counts = { 0 };
  struct target target = { .rows = to->rows, .escapes = to->escapes, .counts = &counts };
  int rc = add_rows(L, at, &target, returned, err);
  if (rc < 0 || to->faults == NULL)
    return rc;
  add_fault(to->faults, &counts, TM_FAULT_NUMBER);
  if (to->are_fields)
    add_fault(to->faults, &counts, TM_FAULT_TABLE);
  return 0;
}

int tm_lua_rows_refuse(lua_State *L, int first, int n, struct tm_err *err)
{
  int type = n == 0 ? LUA_TNIL : lua_type(L, first);
  if (n == 0)
    return tm_err_set(err, TM_ESCRIPT, "run() returned nothing (nil); " TM_EXPECTED);
  if (type == LUA_TNIL && n > 1 &&
      lua_type(L, first + 1) == LUA_TSTRING) /* Lua's `return nil, message` */
    return tm_err_set(err, TM_ESCRIPT, "run() returned nil and '%s'; " TM_EXPECTED,
                      lua_tostring(L, first + 1));
  if (type == LUA_TNIL)
    return tm_err_set(err, TM_ESCRIPT, "run() returned nil; " TM_EXPECTED);
  if (type == LUA_TBOOLEAN)
    return tm_err_set(err, TM_ESCRIPT, "run() returned %s; " TM_EXPECTED,
                      lua_toboolean(L, first) ? "true" : "false");
  const char *kind = tm_lua_kind_of(L, first);
  return tm_err_set(err, TM_ESCRIPT, "run() returned a %s; " TM_EXPECTED "%s", kind,
                    tm_lua_kind_instead(kind));
}

/* Refuses a key that is not one of 1, 2, 3, ... */
static int refuse_key(lua_State *L, int key, struct tm_err *err)
{
  if (lua_type(L, key) == LUA_TSTRING)
    return tm_err_set(err, TM_ESCRIPT, "run() returned a table with the key '%s'; " TM_EXPECTED,
                      lua_tostring(L, key));
  if (lua_type(L, key) == LUA_TNUMBER)
    return tm_err_set(err, TM_ESCRIPT, "run() returned a table with the key %.14g; " TM_EXPECTED,
                      lua_tonumber(L, key));
  return tm_err_set(err, TM_ESCRIPT, "run() returned a table with a %s as a key; " TM_EXPECTED,
                    luaL_typename(L, key));
}

static int refuse_hole(lua_State *L, int at, double last, struct tm_err *err)
{
  int hole = 1;
  for (;; hole++) { /* ends: fewer keys than `last` were counted */
    lua_rawgeti(L, at, hole);
    if (lua_isnil(L, -1))
      break;
    lua_pop(L, 1);
  }
  return tm_err_set(err, TM_ESCRIPT,
                    "run() returned an array with a hole at %d (%.14g elements); " TM_EXPECTED,
                    hole, last);
}

/* Counts the keys, all of which must be in 1 to n. Negative: refused. */
static int64_t count_keys(lua_State *L, int at, struct tm_err *err)
{
  int64_t n = 0;
  double last = 0;
  lua_pushnil(L);
  while (lua_next(L, at)) {
    double key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
    if (key < 1 || key != floor(key) || key > INT32_MAX)
      return refuse_key(L, -2, err);
    if (key > last)
      last = key;
    n++;
    lua_pop(L, 1);
  }
  return last == (double)n ? n : refuse_hole(L, at, last, err);
}

static int add_unordered(lua_State *L, int at, const struct target *to, uint32_t *returned,
                         struct tm_err *err)
{
  struct tm_buf *rows = to->rows;
  size_t begin = rows == NULL ? 0 : rows->len;
  *to->counts = (struct tm_row_counts) { 0 }; /* drops the counts of the abandoned walk */
  int64_t n = count_keys(L, at, err);
  if (n < 0)
    return (int)n;
  for (int i = 1; rows != NULL && i <= (int)n; i++) {
    lua_rawgeti(L, at, i);
    int code = add_element(L, (uint32_t)i, to, err);
    if (code < 0) {
      rows->len = begin;
      return code;
    }
    lua_pop(L, 1);
  }
  *returned = (uint32_t)n;
  return 0;
}

static int refuse_element(uint32_t number, struct tm_err *err, const char *what)
{
  return tm_err_set(err, TM_ESCRIPT, "element %u of the result of run() %s", number, what);
}

static int add_escaped(struct tm_buf *rows, const char *s, size_t len)
{
  for (size_t i = 0; i < len; i++) {
    if (s[i] != '\n' && s[i] != '\r' && s[i] != '\\') {
      tm_buf_add_char(rows, s[i]);
      continue;
    }
    tm_buf_add_char(rows, '\\');
    tm_buf_add_char(rows, s[i] == '\n' ? 'n' : s[i] == '\r' ? 'r' : '\\');
  }
  tm_buf_add_char(rows, '\n');
  return 0;
}

static int add_string(uint32_t number, struct tm_buf *rows, const char *s, size_t len,
                      struct tm_err *err)
{
  if (memchr(s, '\n', len) != NULL || memchr(s, '\r', len) != NULL)
    return refuse_element(number, err,
                          "has a line break in it, and is one line of the output: replace it, "
                          "return a table (written as JSON), or set append_row_line_break = "
                          "\"escape\"");
  char *to = tm_buf_extend(rows, len + 1);
  memcpy(to, s, len);
  to[len] = '\n';
  return 0;
}

static void add_number(struct tm_buf *rows, double v)
{
  if (isnan(v))
    tm_buf_add_str(rows, "nan");
  else if (isinf(v))
    tm_buf_add_str(rows, v > 0 ? "inf" : "-inf");
  else
    tm_json_write_number(rows, v); /* keeps (2) */
}

static int add_cdata(lua_State *L, uint32_t number, struct tm_buf *rows, struct tm_err *err)
{
  if (tm_lua_encode_int64(L, -1, rows))
    return 0;
  return refuse_element(
      number, err, "is an FFI value that is not a 64-bit integer; make a number or a string of it");
}

static int add_table(lua_State *L, uint32_t number, const struct target *to, struct tm_err *err)
{
  bool is_good = tm_fault_is_first(to->counts, TM_FAULT_NUMBER);
  int rc = tm_lua_encode_row(L, -1, to->rows, to->counts, err);
  if (is_good)
    to->counts->first_of[TM_FAULT_NUMBER].at = number;
  to->counts->faults[TM_FAULT_TABLE]++;
  return rc == 0 ? 0
                 : tm_err_wrap(err, "element %u of the result of run() cannot be written as JSON",
                               number);
}

/* "a row of a data frame", or the name of the Lua type. */
static int refuse_kind(lua_State *L, uint32_t number, struct tm_err *err)
{
  const char *kind = tm_lua_kind_of(L, -1);
  return tm_err_set(err, TM_ESCRIPT,
                    "element %u of the result of run() is a %s; expected a string, a number, a "
                    "boolean or a table%s",
                    number, kind, tm_lua_kind_instead(kind));
}

/* Adds the row of the value on top of the stack. */
static int add_element(lua_State *L, uint32_t number, const struct target *to, struct tm_err *err)
{
  struct tm_buf *rows = to->rows;
  int code = 0, type = lua_type(L, -1);
  size_t len;
  const char *s;
  switch (type) {
  case LUA_TSTRING:
    s = lua_tolstring(L, -1, &len);
    return to->escapes ? add_escaped(rows, s, len) : add_string(number, rows, s, len, err);
  case LUA_TNUMBER: add_number(rows, lua_tonumber(L, -1)); break;
  case LUA_TBOOLEAN: tm_buf_add_str(rows, lua_toboolean(L, -1) ? "true" : "false"); break;
  case LUA_TTABLE: code = add_table(L, number, to, err); break;
  case TM_LUA_TCDATA: code = add_cdata(L, number, rows, err); break;
  default: return refuse_kind(L, number, err);
  }
  if (code == 0)
    tm_buf_add_char(rows, '\n');
  return code;
}
