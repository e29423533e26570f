/* context.c - the second argument of run(): which mini-batch this is.
 *
 * A script sees an empty table whose metatable reads from `fields` and refuses writes. Only our
 * code writes to `fields`, so only those that differ from the previous call are set. Its methods
 * hold a pointer to the struct, which outlives the state. This costs a few tens of nanoseconds per
 * mini-batch, and reading `context.try` in a loop is compiled like any table access. A name that is
 * not set calls refuse_unknown(), which raises for names that never are.
 */
#include "entry/context.h"

#include <errno.h>
#include <lauxlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/key.h"
#include "plan/names.h"
#include "sys/fs.h"

#define FILES_MAX (4u << 20) /* bytes of names */

static int refuse_write(lua_State *L)
{
  return luaL_error(L, "the context of a mini-batch cannot be written to");
}

static const char *const names[] = { "minibatch_index",
                                     "prefetched",
                                     "try",
                                     "dataset_name",
                                     "part",
                                     "source",
                                     "global_row_index_lower_bound",
                                     "partition_key_value",
                                     "fail",
                                     "name",
                                     "open",
                                     "output_file" };

/* For a name that is not set: nil if it may be so, else an error. */
static int refuse_unknown(lua_State *L)
{
  if (lua_type(L, 2) != LUA_TSTRING)
    return 0;
  const char *name = lua_tostring(L, 2);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    if (strcmp(name, names[i]) == 0)
      return 0;
  const char *instead = tm_names_find("context", name);
  if (instead)
    return luaL_error(L, "the context has no '%s'; %s", name, instead);
  const char *nearest = tm_text_nearest(name, names, TM_COUNT_OF(names));
  if (nearest)
    return luaL_error(L, "the context has no '%s'; did you mean '%s'?", name, nearest);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    luaL_addstring(&b, i > 0 ? ", " : "");
    luaL_addstring(&b, names[i]);
  }
  luaL_pushresult(&b);
  return luaL_error(L, "the context has no '%s'; it has: %s", name, lua_tostring(L, -1));
}

static void set_dataset(lua_State *L, struct tm_lua_context *c, int fields, const char *name)
{
  lua_pushstring(L, name);
  const char *held = lua_tostring(L, -1);
  lua_setfield(L, fields, "dataset_name");
  c->dataset = held;
}

/* The struct of a method that is called as context:method(...), while run() runs. */
static struct tm_lua_context *check_call(lua_State *L, const char *method)
{
  struct tm_lua_context *c = lua_touserdata(L, lua_upvalueindex(1));
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->handle_ref);
  if (!lua_rawequal(L, 1, -1))
    luaL_error(L, "%s is a method: call it as context:%s(...), with a colon", method, method);
  lua_pop(L, 1);
  if (c->marks.call == NULL)
    luaL_error(L, "context:%s() is for the mini-batch that run() has in hand, and it has none now",
               method);
  return c;
}

/* The item's number at index 2, from 1. `call` is for the error message. */
static uint32_t check_number(lua_State *L, const struct tm_lua_context *c, const char *call)
{
  lua_Number i = luaL_checknumber(L, 2);
  uint32_t items = c->marks.call->items;
  if (!(i >= 1 && i <= items) || i != (lua_Number)(uint32_t)i)
    luaL_error(L, "context:%s: i is %f; expected an item's number, 1 to %d", call, i, (int)items);
  return (uint32_t)i;
}

/* context:fail(i, message). If marked twice, the first reason is kept. */
static int context_fail(lua_State *L)
{
  struct tm_lua_context *c = check_call(L, "fail");
  size_t len = 0;
  const char *message = luaL_optlstring(L, 3, "marked as failed", &len);
  tm_lua_marks_add(&c->marks, check_number(L, c, "fail(i, message)") - 1, message, len);
  return 0;
}

/* A reader of the items as they were listed: an extracted entry has another path in `bytes`. */
static struct tm_reader listed_items(const struct tm_run_call *call)
{
  struct tm_reader r;
  if (call->listed)
    tm_reader_init(&r, call->listed, call->listed_len);
  else
    tm_reader_init(&r, call->bytes, call->bytes_len);
  return r;
}

/* So that the name of each item of a large mini-batch is found at once. */
static void find_items(struct tm_lua_context *c)
{
  struct tm_reader r = listed_items(c->marks.call);
  const char *begin = r.at, *at = r.at;
  struct tm_item item;
  for (; tm_item_next(&r, &item); at = r.at)
    *TM_ARRAY_ADD(&c->items) = (size_t)(at - begin);
}

/* context:name(i) */
static int context_name(lua_State *L)
{
  struct tm_lua_context *c = check_call(L, "name");
  const struct tm_run_call *call = c->marks.call;
  struct tm_reader r = listed_items(call);
  struct tm_item item;
  if (call->frame)
    return luaL_error(L, "context:name(i) is for files and entries; this mini-batch holds rows");
  uint32_t i = check_number(L, c, "name(i)"), number = call->numbers ? call->numbers[i - 1] : i;
  if (c->items.len == 0)
    find_items(c);
  if (number <= c->items.len) {
    r.at += c->items.at[number - 1];
    if (tm_item_next(&r, &item)) {
      lua_pushlstring(L, item.path, item.path_len);
      return 1;
    }
  }
  return luaL_error(L, "context:name(%d): the item cannot be read", (int)i);
}

/* Notes the name of a file, unless this call has requested it before. */
static void note_file(struct tm_lua_context *c, const char *name)
{
  struct tm_buf *files = &c->marks.call->extras->files;
  size_t len = strlen(name);
  bool is_new;
  if (files->len == 0) /* the first one of this call */
    tm_map_release(&c->asked);
  tm_map_add(&c->asked, name, len, &is_new);
  if (is_new)
    tm_buf_add_bytes32(files, name, len);
}

/* Makes the folders above a file. Without fsync: they are empty again once the file is in its final
 * place. */
static int make_parents(char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  int rc = 0;
  for (char *slash = path; rc == 0 && (slash = strchr(slash + 1, '/'));) {
    *slash = 0;
    rc = fs->mkdir(fs->self, path, 0777);
    rc = rc == -EEXIST ? 0 : rc;
    *slash = '/';
  }
  return rc;
}

/* The path of the file before it is committed; without staging, its final path. *folder: the try's
 * folder, which the caller frees, or NULL. */
static char *place_of(const struct tm_lua_context *c, const char *name, char **folder)
{
  const struct tm_setup *s = c->setup;
  *folder = NULL;
  if (s->staging_dir == NULL || *s->staging_dir == 0)
    return tm_output_file_place(s->output_dir, name);
  char *staging = tm_staging_path(s->staging_dir, s->worker_name, c->marks.call->seq);
  char *path = tm_output_file_staged_by(s, staging, name);
  *folder = tm_xprintf("%s/", staging);
  free(staging);
  return path;
}

/* Pushes the path, and notes the name. Frees all memory from malloc before anything can raise. */
static void push_path(lua_State *L, struct tm_lua_context *c, const char *output,
                      const char *path_in_it)
{
  char *name = tm_output_file_name(output, path_in_it), *folder, *path = place_of(c, name, &folder);
  char kept[4096 + TM_OUTPUT_NAME_MAX];
  bool fits = strlen(path) < sizeof(kept);
  int rc = fits ? 0 : -ENAMETOOLONG;
  if (rc == 0 && folder != NULL)
    rc = make_parents(folder);
  if (rc == 0)
    rc = make_parents(path);
  free(folder);
  memcpy(kept, path, fits ? strlen(path) + 1 : 0);
  if (rc == 0 && c->marks.call->extras != NULL)
    note_file(c, name);
  free(name);
  free(path);
  if (rc < 0)
    luaL_error(L, "context:output_file('%s'): its folder cannot be made: %s", path_in_it,
               tm_code_text(rc));
  lua_pushstring(L, kept);
}

/* Raises an error that lists the outputs. */
static int refuse_output(lua_State *L, const struct tm_setup *s, const char *given)
{
  const char *nearest = tm_text_nearest(given, (const char *const *)s->outputs, s->outputs_len);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (size_t i = 0; i < s->outputs_len; i++) {
    luaL_addstring(&b, i > 0 ? ", '" : "'");
    luaL_addstring(&b, s->outputs[i]);
    luaL_addstring(&b, "'");
  }
  luaL_pushresult(&b);
  if (s->outputs_len == 0 || !*s->outputs[0])
    return luaL_error(
        L,
        "context:output_file(name, output): output is '%s', and the step has no output "
        "with a name; leave it out",
        given);
  return luaL_error(L,
                    "context:output_file(name, output): the step has no output '%s'%s%s%s; "
                    "accepted: %s, or the folder of one as it stands among the arguments",
                    given, nearest && *nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest && *nearest ? "'?" : "", lua_tostring(L, -1));
}

/* Argument 3, the name of an output or its folder, which scripts know from their arguments. NULL:
 * the first output. */
static const char *check_output(lua_State *L, const struct tm_setup *s)
{
  const char *given = luaL_optstring(L, 3, NULL);
  size_t n = strlen(s->output_dir);
  if (given == NULL || strcmp(given, s->output_dir) == 0)
    return NULL;
  bool is_beside = strncmp(given, s->output_dir, n) == 0 && given[n] == '.';
  for (size_t i = 0; i < s->outputs_len; i++)
    if (*s->outputs[i] && (strcmp(given, s->outputs[i]) == 0 ||
                           (i > 0 && is_beside && strcmp(given + n + 1, s->outputs[i]) == 0)))
      return i == 0 ? NULL : s->outputs[i];
  refuse_output(L, s, given);
  return NULL;
}

/* context:output_file(name, output) -> path */
static int context_output_file(lua_State *L)
{
  struct tm_lua_context *c = check_call(L, "output_file");
  size_t len = 0;
  const char *name = luaL_checklstring(L, 2, &len);
  const char *output = check_output(L, c->setup);
  if (!tm_output_name_is_good(name, len) ||
      (output != NULL && len + strlen(output) + 2 > TM_OUTPUT_NAME_MAX))
    return luaL_error(L,
                      "context:output_file(name): name is '%s'; expected the name of a file in the "
                      "output folder, perhaps with folders before it, without '..' and line breaks",
                      name);
  struct tm_extras *extras = c->marks.call->extras;
  if (extras != NULL && extras->files.len > FILES_MAX)
    return luaL_error(L, "context:output_file('%s'): too many files for one mini-batch", name);
  push_path(L, c, output, name);
  return 1;
}

/* context:open(item) -> reader | nil, message, code */
static int context_open(lua_State *L)
{
  struct tm_lua_context *c = check_call(L, "open");
  return tm_lua_reader_open(L, &c->readers, &c->marks, 2);
}

static void set_method(lua_State *L, struct tm_lua_context *c, const char *name,
                       lua_CFunction method)
{
  lua_pushlightuserdata(L, c);
  lua_pushcclosure(L, method, 1);
  lua_setfield(L, -2, name);
}

void tm_lua_context_release(struct tm_lua_context *c)
{
  tm_lua_marks_release(&c->marks);
  tm_lua_readers_release(&c->readers);
  tm_map_release(&c->asked);
  TM_ARRAY_RELEASE(&c->items);
}

void tm_lua_context_end(struct tm_lua_context *c)
{
  tm_lua_readers_end(&c->readers);
  tm_lua_marks_end(&c->marks);
  c->items.len = 0;
}

void tm_lua_context_init(lua_State *L, struct tm_lua_context *c, const struct tm_setup *setup)
{
  tm_require(c->handle_ref == LUA_NOREF && c->fields_ref == LUA_NOREF); /* once */
  c->setup = setup;
  lua_newtable(L); /* [handle] */
  lua_createtable(L, 0, 3);
  lua_createtable(L, 0, 8); /* [handle, metatable, fields] */
  set_dataset(L, c, lua_gettop(L), "");
  lua_pushinteger(L, 1);
  lua_setfield(L, -2, "try");
  set_method(L, c, "fail", context_fail);
  set_method(L, c, "name", context_name);
  set_method(L, c, "open", context_open);
  set_method(L, c, "output_file", context_output_file);
  c->try = 1;
  c->part = 0;
  lua_createtable(L, 0, 1); /* asked only for names that are not set */
  lua_pushcfunction(L, refuse_unknown);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  c->fields_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, refuse_write);
  lua_setfield(L, -2, "__newindex");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  c->handle_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void set_part(lua_State *L, struct tm_lua_context *c, int fields, uint64_t part)
{
  uint32_t first = (uint32_t)(part >> 32), count = (uint32_t)part;
  if (part == 0) {
    lua_pushnil(L);
  } else {
    lua_createtable(L, 0, 2);
    lua_pushnumber(L, (lua_Number)first + 1);
    lua_setfield(L, -2, "first");
    lua_pushnumber(L, (lua_Number)first + count);
    lua_setfield(L, -2, "last");
  }
  lua_setfield(L, fields, "part");
  c->part = part;
}

/* For rows: sets their file, and the number of the first row. */
static void set_range(lua_State *L, struct tm_lua_context *c, int fields,
                      const struct tm_run_call *call)
{
  if (call->range == NULL && !c->has_range)
    return;
  c->has_range = call->range != NULL;
  if (call->range != NULL)
    lua_pushlstring(L, call->range->path, call->range->path_len);
  else
    lua_pushnil(L);
  lua_setfield(L, fields, "source");
  if (call->range != NULL && call->first_row >= 0)
    lua_pushnumber(L, (lua_Number)call->first_row);
  else
    lua_pushnil(L);
  lua_setfield(L, fields, "global_row_index_lower_bound");
}

static void push_key_value(lua_State *L, const struct tm_key *key)
{
  switch (key->type) {
  case TM_KEY_NULL: lua_pushnil(L); break;
  case TM_KEY_BOOL: lua_pushboolean(L, key->integer != 0); break;
  case TM_KEY_LONG: lua_pushnumber(L, (lua_Number)key->integer); break;
  case TM_KEY_DOUBLE: lua_pushnumber(L, key->number); break;
  case TM_KEY_DATETIME: lua_pushnumber(L, (lua_Number)key->integer / 1e6); break;
  case TM_KEY_STRING: lua_pushlstring(L, key->string.at, key->string.len); break;
  }
}

/* Makes a new table for each mini-batch, because the script may keep it. */
static void set_keys(lua_State *L, struct tm_lua_context *c, int fields,
                     const struct tm_run_call *call)
{
  struct tm_reader r;
  struct tm_key key;
  bool has_keys = tm_keys_find(call->bytes, call->bytes_len, &r);
  if (!has_keys && !c->has_keys)
    return;
  c->has_keys = has_keys;
  if (has_keys) {
    lua_createtable(L, 0, 2);
    while (tm_key_next(&r, &key)) {
      lua_pushlstring(L, key.name, key.name_len);
      push_key_value(L, &key);
      lua_rawset(L, -3);
    }
  } else {
    lua_pushnil(L);
  }
  lua_setfield(L, fields, "partition_key_value");
}

void tm_lua_context_set_prefetched(lua_State *L, struct tm_lua_context *c, int ref)
{
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->fields_ref);
  lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
  lua_setfield(L, -2, "prefetched");
  lua_pop(L, 1);
  c->has_prefetched = ref != LUA_NOREF;
}

void tm_lua_context_push_ahead(lua_State *L, struct tm_lua_context *c,
                               const struct tm_run_call *call)
{
  tm_lua_context_push(L, c, call);
  tm_lua_context_end(c); /* so that methods raise */
  if (c->has_prefetched)
    tm_lua_context_set_prefetched(L, c, LUA_NOREF);
}

void tm_lua_context_push(lua_State *L, struct tm_lua_context *c, const struct tm_run_call *call)
{
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->handle_ref);
  lua_rawgeti(L, LUA_REGISTRYINDEX, c->fields_ref); /* [handle, fields] */
  int fields = lua_gettop(L);
  tm_lua_marks_begin(&c->marks, call);
  c->items.len = 0;
  lua_pushnumber(L, (lua_Number)call->index);
  lua_setfield(L, fields, "minibatch_index");
  if (call->try != c->try) {
    lua_pushnumber(L, call->try);
    lua_setfield(L, fields, "try");
    c->try = call->try;
  }
  if (strcmp(call->dataset, c->dataset) != 0)
    set_dataset(L, c, fields, call->dataset);
  if (call->part != c->part)
    set_part(L, c, fields, call->part);
  set_range(L, c, fields, call);
  set_keys(L, c, fields, call);
  lua_pop(L, 1);
}
