/* frame_read.c - tidemill.frame_c: converts text to columns. Reads a whole file of rows or JSON
 * lines with the readers of datasets (core/data/rows), and converts a column of strings to another
 * type.
 *
 * The columns are built in an arena. Lua copies them and frees the arena at once, so that the
 * collector knows the memory that stays.
 */
#include <inttypes.h>
#include <lauxlib.h>
#include <string.h>

#include "bind/state.h"
#include "data/rows/delimited.h"
#include "data/rows/encoding.h"
#include "data/rows/header.h"
#include "data/rows/infer.h"
#include "data/rows/json_infer.h"
#include "data/rows/value.h"
#include "data/stream/stream.h"
#include "entry/lua_frame_own.h"
#include "params/params.h"
#include "sys/whole_file.h"

#define FILE_MAX ((size_t)16 << 30) /* bytes */
#define TM_READ  "tidemill.frame.read"

/* All memory of one read: the collector frees it if a call raises, otherwise done(). */
struct reading {
  struct tm_buf file, text; /* the file's bytes; the text as UTF-8, if the file is UTF-16 */
  struct tm_dialect dialect;
  struct tm_schema schema;
  struct tm_delimited *delimited; /* one of the two is used */
  struct tm_json_lines *json;
  struct tm_arena arena;
  struct tm_data_frame frame;
};

static int reading_done(lua_State *L)
{
  struct reading *r = luaL_checkudata(L, 1, TM_READ);
  tm_buf_release(&r->file);
  tm_buf_release(&r->text);
  tm_delimited_free(r->delimited);
  tm_json_lines_free(r->json);
  r->delimited = NULL;
  r->json = NULL;
  tm_schema_release(&r->schema);
  tm_arena_release(&r->arena);
  return 0;
}

static struct reading *push_reading(lua_State *L)
{
  struct reading *r = lua_newuserdata(L, sizeof *r);
  *r = (struct reading) { 0 };
  if (luaL_newmetatable(L, TM_READ)) {
    lua_pushcfunction(L, reading_done);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return r;
}

static bool flag(lua_State *L, int options, const char *name, bool otherwise)
{
  lua_getfield(L, options, name);
  bool is_set = lua_isnil(L, -1) ? otherwise : lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_set;
}

/* Reads the options as those of a constructor of tables, which has other defaults. Types are set
 * later. */
static int read_dialect(lua_State *L, int options, const char *constructor, struct tm_dialect *d,
                        struct tm_err *err)
{
  struct tm_json *given = tm_lua_to_json(L, options, err), *own = tm_json_new(TM_JSON_OBJECT);
  tm_dialect_init(d);
  d->multi_line = true;
  d->misfit = strcmp(tm_json_str(given, "invalid", "error"), "null") == 0 ? TM_MISFIT_NULL
                                                                          : TM_MISFIT_ERROR;
  for (size_t i = 0; given && i < given->list.len; i++)
    if (strcmp(given->keys[i], "invalid") != 0 && strcmp(given->keys[i], "set_column_types") != 0)
      tm_json_set(own, given->keys[i], tm_json_copy(given->list.at[i]));
  struct tm_json *settled = given ? tm_params_settle(constructor, own, false, err) : NULL;
  if (settled)
    tm_dialect_read(d, settled);
  bool is_good = settled != NULL;
  tm_json_free(settled);
  tm_json_free(own);
  tm_json_free(given);
  return is_good ? 0 : TM_EUSAGE;
}

/* The text after the byte order mark. */
static const char *find_text(struct reading *r, size_t *n)
{
  struct tm_utf16 utf16 = { 0 };
  size_t bad = 0, mark = tm_header_mark(r->dialect.encoding, tm_buf_str(&r->file), r->file.len,
                                        &utf16.big_endian);
  *n = r->file.len - mark;
  if (r->dialect.encoding != TM_ENCODING_UTF16)
    return tm_buf_str(&r->file) + mark;
  tm_utf16_add(&utf16, &r->text, tm_buf_str(&r->file) + mark, *n, &bad);
  tm_utf16_end(&utf16, &r->text, &bad);
  *n = r->text.len;
  return tm_buf_str(&r->text);
}

/* {name = number of a type} */
static int set_types(lua_State *L, int types, struct tm_schema *schema, struct tm_err *err)
{
  lua_pushnil(L);
  while (lua_next(L, types)) {
    struct tm_column_setting setting = { .name = lua_tostring(L, -2),
                                         .type = (enum tm_column_type)lua_tointeger(L, -1) };
    int rc = tm_infer_set(schema, &setting, 1, err);
    lua_pop(L, 1);
    if (rc < 0)
      return rc;
  }
  return 0;
}

static int64_t row_of(const char *text, size_t n, int64_t at)
{
  int64_t line = 1;
  for (size_t i = 0; i < n && (int64_t)i < at; i++)
    line += text[i] == '\n';
  return line;
}

static int read_rows(lua_State *L, struct reading *r, int options, int types, struct tm_err *err)
{
  size_t n;
  const char *text = find_text(r, &n);
  bool has_header = flag(L, options, "header", true);
  int64_t header = tm_header_read(&r->dialect, text, n, true, has_header, &r->schema, err);
  if (header < 0)
    return (int)header;
  bool infer = flag(L, options, "infer_column_types", true);
  (infer ? tm_infer_types : tm_infer_dates)(&r->dialect, text + header, n - (size_t)header, true,
                                            &r->schema);
  int rc = set_types(L, types, &r->schema, err);
  if (rc < 0)
    return rc;
  struct tm_delimited_source source = { .at = header };
  r->delimited = tm_delimited_new(&r->dialect, &r->schema, TM_SCAN_BEST);
  tm_delimited_begin(r->delimited, &r->arena, &source);
  if (tm_delimited_add(r->delimited, text + header, n - (size_t)header, true, err) < 0)
    return tm_err_wrap(err, "line %" PRId64, row_of(text, n, tm_delimited_fault(r->delimited)->at));
  tm_delimited_end(r->delimited, &r->frame);
  return 0;
}

/* Refuses a file that cannot be text in this encoding, before the bytes become a nonsense
 * header. */
static int check_file(const struct reading *r, const char *constructor, struct tm_err *err)
{
  const char *p = tm_buf_str(&r->file);
  if (tm_stream_packing(p, r->file.len) != TM_PACKED_NOT)
    return tm_err_set(err, TM_EUSAGE,
                      "it is packed; unpack it first, or read it as the input of a step, with "
                      "Dataset.Tabular.%s",
                      constructor);
  return tm_header_check_start(r->dialect.encoding, p, r->file.len, err);
}

/* Pushes reading, names, columns, len; the reading is on top of the stack. */
static int push_frame(lua_State *L, const struct reading *r)
{
  lua_createtable(L, (int)r->frame.n, 0);
  for (size_t i = 0; i < r->frame.n; i++) {
    lua_pushstring(L, r->frame.names[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_pushlightuserdata(L, (void *)r->frame.columns);
  lua_pushnumber(L, (lua_Number)r->frame.len);
  return 4;
}

/* read(path, options, types) -> reading, names, columns, len, or nil, message, code. Close the
 * reading with done(). */
static int frame_read(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  struct reading *r = push_reading(L);
  int rc = read_dialect(L, 2, "Dataset.Tabular.from_delimited_files", &r->dialect, &err);
  if (rc == 0)
    rc = tm_file_read(path, FILE_MAX, &r->file, &err);
  if (rc == 0 && ((rc = check_file(r, "from_delimited_files", &err)) < 0 ||
                  (rc = read_rows(L, r, 2, 3, &err)) < 0))
    tm_err_wrap(&err, "cannot read '%s'", path);
  return rc < 0 ? tm_lua_push_err(L, &err) : push_frame(L, r);
}

/* Reads all lines to infer the types. */
static int read_objects(struct reading *r, struct tm_err *err)
{
  struct tm_json_lines_options options = { .misfit = TM_MISFIT_ERROR, .limits = r->dialect.limits };
  size_t n;
  const char *text = find_text(r, &n);
  struct tm_json_infer *infer = tm_json_infer_new(&options, INT64_MAX, &r->schema);
  int64_t at, got = tm_json_infer_add(infer, text, n, true, err);
  int64_t line = tm_json_infer_line(infer, &at);
  tm_json_infer_end(infer);
  if (got < 0)
    return tm_err_wrap(err, "line %" PRId64 " (byte %" PRId64 ")", line, at);
  r->json = tm_json_lines_new(&options, &r->schema);
  tm_json_lines_begin(r->json, &r->arena, 0, NULL);
  if (tm_json_lines_add(r->json, text, n, true, err) < 0)
    return tm_err_wrap(err, "line %" PRId64, row_of(text, n, tm_json_lines_fault(r->json)->at));
  tm_json_lines_end(r->json, &r->frame);
  return 0;
}

/* read_lines(path, options), as read() */
static int frame_read_lines(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  struct reading *r = push_reading(L);
  int rc = read_dialect(L, 2, "Dataset.Tabular.from_json_lines_files", &r->dialect, &err);
  if (rc == 0)
    rc = tm_file_read(path, FILE_MAX, &r->file, &err);
  if (rc == 0 &&
      ((rc = check_file(r, "from_json_lines_files", &err)) < 0 || (rc = read_objects(r, &err)) < 0))
    tm_err_wrap(&err, "cannot read '%s'", path);
  return rc < 0 ? tm_lua_push_err(L, &err) : push_frame(L, r);
}

/* ---- strings as values ---- */

static bool parse_value(const char *s, size_t n, struct tm_column *to, int64_t row)
{
  switch (to->type) {
  case TM_COLUMN_BOOL: return tm_value_bool(s, n, &to->b8[row]);
  case TM_COLUMN_LONG: return tm_value_long(s, n, &to->i64[row]);
  case TM_COLUMN_DOUBLE: return tm_value_double(s, n, &to->f64[row]);
  case TM_COLUMN_DATETIME: return tm_value_datetime(s, n, &to->i64[row]);
  default: return false;
  }
}

/* parse(from, to, invalid): converts a column of strings to the type of `to`, which has the same
 * length and the validity bits of `from`. Returns -1, or the first row that cannot be converted;
 * with `invalid` such a row becomes null. */
static int frame_parse(lua_State *L)
{
  const struct tm_column *from = &tm_lua_check_column(L, 1)->column;
  struct tm_column *to = &tm_lua_check_column(L, 2)->column;
  bool invalid = lua_toboolean(L, 3);
  int64_t bad = -1, values = 0, dates = 0;
  for (int64_t i = 0; i < from->len && bad < 0; i++) {
    size_t n;
    const char *s = tm_column_string(from, i, &n);
    if (tm_column_is_null(from, i))
      continue;
    if (parse_value(s, n, to, i)) {
      values++;
      dates += to->type == TM_COLUMN_DATETIME && tm_value_is_date(s, n);
    } else if (invalid)
      to->validity[i >> 3] &= (uint8_t) ~(1u << (i & 7));
    else
      bad = i;
  }
  to->is_date = values > 0 && dates == values;
  lua_pushnumber(L, (lua_Number)bad);
  return 1;
}

const luaL_Reg tm_lua_frame_read_functions[] = {
  { "read", frame_read },   { "read_lines", frame_read_lines },
  { "done", reading_done }, { "parse", frame_parse },
  { NULL, NULL },
};
