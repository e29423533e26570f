/* lib_develop.c - see lib_develop.h.
 *
 * Three kinds of userdata. A script: entry script, folders, log, as a worker has them, in the caller's own state. A walk: the
 * mini-batches of a dataset, one after the other. A mini-batch: what the context of a run() over it says.
 *
 *  (1) What malloc gave belongs to one of them before anything can raise.
 *  (2) A data frame that leaves here has memory of its own.
 */
#include "lua/lib_develop.h"

#include <lauxlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "lua/again.h"
#include "lua/frame.h"
#include "lua/hold.h"
#include "lua/script.h"
#include "lua/script_folders.h"
#include "lua/state.h"
#include "plan/cutting.h"
#include "plan/datasets.h"
#include "plan/params.h"
#include "sys/fs.h"

#define TM_SCRIPT     "tidemill.develop.script"
#define TM_WALK       "tidemill.develop.walk"
#define TM_MINI_BATCH "tidemill.develop.mini_batch"

/* ---- mini-batches ---- */

struct mini_batch {
  uint64_t index;
  char *dataset;
  struct tm_buf bytes; /* the items */
  struct tm_item range;
  bool has_range;
  int64_t first_row;
};

static int mini_batch_gc(lua_State *L)
{
  struct mini_batch *m = lua_touserdata(L, 1);
  free(m->dataset);
  m->dataset = NULL;
  tm_buf_release(&m->bytes);
  return 0;
}

/* `range`, where there is one, points into the bytes. */
static void push_mini_batch(lua_State *L, const struct tm_run_call *call)
{
  struct mini_batch *m = lua_newuserdata(L, sizeof(*m));
  *m = (struct mini_batch) { .index = call->index };
  luaL_getmetatable(L, TM_MINI_BATCH);
  lua_setmetatable(L, -2);
  m->dataset = tm_xstrdup(call->dataset);
  tm_buf_add(&m->bytes, call->bytes, call->bytes_len);
  m->first_row = call->first_row;
  if (call->range) {
    m->has_range = true;
    m->range = *call->range;
    m->range.path = m->bytes.data + (call->range->path - call->bytes);
  }
}

/* What run() is given: a list of paths, or a frame. */
static void push_value(lua_State *L, const struct tm_run_call *call)
{
  struct tm_reader r;
  struct tm_item item;
  if (call->frame) {
    tm_lua_frame_push(L, call->frame); /* [lease, frame] */
    lua_getfield(L, -1, "copy");
    lua_insert(L, -2);
    lua_call(L, 1, 1); /* keeps (2) */
    tm_lua_frame_end(L, -2);
    lua_remove(L, -2);
    return;
  }
  lua_createtable(L, (int)call->items, 0);
  tm_reader_init(&r, call->bytes, call->bytes_len);
  for (int i = 1; tm_item_next(&r, &item); i++) {
    lua_pushlstring(L, item.path, item.path_len);
    lua_rawseti(L, -2, i);
  }
}

/* ---- scripts ---- */

struct developed {
  struct tm_script script;
  struct tm_setup setup;  /* strings of its own, or the folders' */
  struct tm_again *again; /* whose settings they are; or NULL */
  struct tm_script_folders folders;
  struct tm_script_error error;
  struct tm_extras extras;
  struct tm_buf rows; /* of the last run() */
  bool is_loaded;
};

static void free_words(char **words, size_t n)
{
  for (size_t i = 0; i < n; i++)
    free(words[i]);
  free(words);
}

static void release_error(struct tm_script_error *e)
{
  tm_buf_release(&e->message);
  tm_buf_release(&e->stack);
  tm_buf_release(&e->where);
}

static int script_gc(lua_State *L)
{
  struct developed *d = lua_touserdata(L, 1);
  if (d->script.data)
    tm_lua_script_set_state(&d->script, L);
  tm_lua_script_close(&d->script);
  if (d->again) {
    tm_again_release(d->again);
  } else {
    free(d->setup.script);
    free(d->setup.script_name);
    free(d->setup.script_dir);
    free_words(d->setup.arguments, d->setup.arguments_len);
  }
  free(d->again);
  if (d->folders.root)
    tm_tree_remove(d->folders.log_dir, NULL);
  tm_script_folders_leave(&d->folders);
  tm_script_folders_release(&d->folders);
  release_error(&d->error);
  tm_extras_release(&d->extras);
  tm_buf_release(&d->rows);
  *d = (struct developed) { 0 };
  return 0;
}

static struct developed *push_developed(lua_State *L)
{
  struct developed *d = lua_newuserdata(L, sizeof(*d));
  *d = (struct developed) { 0 };
  luaL_getmetatable(L, TM_SCRIPT);
  lua_setmetatable(L, -2);
  return d;
}

static struct developed *check_script(lua_State *L)
{
  struct developed *d = luaL_checkudata(L, 1, TM_SCRIPT);
  if (d->script.data)
    tm_lua_script_set_state(&d->script, L);
  return d;
}

static void clear_error(struct developed *d)
{
  tm_buf_clear(&d->error.message);
  tm_buf_clear(&d->error.stack);
  tm_buf_clear(&d->error.where);
}

/* "run() failed at score.lua:12: words", and the script's own stack. */
static int raise_failure(lua_State *L, const struct developed *d, const char *what)
{
  const struct tm_script_error *e = &d->error;
  lua_pushfstring(L, "%s failed%s%s: %s%s%s", what, e->where.len > 0 ? " at " : "",
                  tm_buf_str(&e->where), tm_buf_str(&e->message), e->stack.len > 0 ? "\n" : "",
                  tm_buf_str(&e->stack));
  return lua_error(L);
}

static char *take_string(lua_State *L, const char *name)
{
  lua_getfield(L, 1, name);
  char *text = lua_isnil(L, -1) ? NULL : tm_xstrdup(luaL_checkstring(L, -1));
  lua_pop(L, 1);
  return text;
}

static void take_arguments(lua_State *L, struct tm_setup *s)
{
  lua_getfield(L, 1, "arguments");
  size_t n = lua_istable(L, -1) ? lua_objlen(L, -1) : 0;
  s->arguments = tm_xcalloc(n + 1, sizeof(char *));
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, -1, (int)i + 1);
    s->arguments[s->arguments_len] = tm_xstrdup(luaL_checkstring(L, -1));
    s->arguments_len++;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static int int_field(lua_State *L, const char *name, int otherwise)
{
  lua_getfield(L, 1, name);
  int v = lua_isnumber(L, -1) ? (int)lua_tointeger(L, -1) : otherwise;
  lua_pop(L, 1);
  return v;
}

static int make_folders(struct developed *d, const char *kind, struct tm_err *err)
{
  int rc = tm_script_folders_make(&d->folders, kind, err);
  d->setup.worker_name = (char *)"process000";
  d->setup.node_id = (char *)"0";
  d->setup.output_dir = d->folders.output_dir;
  d->setup.log_dir = d->folders.log_dir;
  d->setup.temp_dir = d->folders.temp_dir;
  d->setup.logger_file = d->folders.logger_file;
  return rc;
}

/* open({ script, script_name, script_dir, arguments, level }) -> script */
static int develop_open(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  struct developed *d = push_developed(L);
  d->setup.script = take_string(L, "script");
  d->setup.script_name = take_string(L, "script_name");
  d->setup.script_dir = take_string(L, "script_dir");
  take_arguments(L, &d->setup);
  d->setup.logging_level = int_field(L, "level", TM_INFO);
  d->setup.append_row = true;
  d->setup.separator = ',';
  d->setup.max_result_size = INT64_MAX;
  return make_folders(d, "script", &err) < 0 ? tm_lua_raise(L, &err) : 1;
}

/* load(script): again, too. Raises what the file raises. */
static int develop_load(lua_State *L)
{
  struct developed *d = check_script(L);
  bool has_no_run = false;
  tm_lua_script_close(&d->script);
  tm_lua_script_open_in(&d->script, L);
  clear_error(d);
  d->is_loaded = d->script.load(d->script.data, &d->setup, &has_no_run, &d->error) == 0;
  return d->is_loaded ? 0 : raise_failure(L, d, "loading the script");
}

static struct developed *check_loaded(lua_State *L)
{
  struct developed *d = check_script(L);
  if (!d->is_loaded)
    luaL_error(L, "the script could not be loaded; script:reload() tries again");
  clear_error(d);
  return d;
}

static int develop_init(lua_State *L)
{
  struct developed *d = check_loaded(L);
  return d->script.init(d->script.data, &d->error) < 0 ? raise_failure(L, d, "init()") : 0;
}

static int develop_shutdown(lua_State *L)
{
  struct developed *d = check_loaded(L);
  return d->script.shutdown(d->script.data, &d->error) < 0 ? raise_failure(L, d, "shutdown()") : 0;
}

/* The items that context:fail() marked: {[i] = message}. */
static void push_marks(lua_State *L, const struct tm_buf *marks)
{
  struct tm_reader r;
  tm_reader_init(&r, tm_buf_str(marks), marks->len);
  lua_newtable(L);
  while (r.at < r.end && !r.bad) {
    uint32_t i = tm_read_u32(&r);
    size_t len = 0;
    const char *message = tm_read_bytes32(&r, &len);
    if (r.bad)
      return;
    lua_pushlstring(L, message, len);
    lua_rawseti(L, -2, (int)i);
  }
}

/* The current directory while a script of a job runs is that of its workers. */
static int run_there(struct developed *d, const struct tm_run_call *call, uint32_t *returned)
{
  char *here = d->again ? getcwd(NULL, 0) : NULL;
  bool is_there = here && chdir(tm_again_working_dir(d->again)) == 0;
  int rc = tm_lua_script_run_value(&d->script, call, &d->rows, returned, &d->error);
  if (is_there && chdir(here) < 0)
    rc = rc < 0 ? rc : TM_EUSAGE; /* ours is gone */
  free(here);
  return rc;
}

/* run(script, value, items, mini_batch or nil) -> what it returned, how many elements, marks */
static int develop_run(lua_State *L)
{
  struct developed *d = check_loaded(L);
  const struct mini_batch *m = lua_isnoneornil(L, 4) ? NULL : luaL_checkudata(L, 4, TM_MINI_BATCH);
  struct tm_run_call call = { .seq = 1,
                              .try = 1,
                              .dataset = m ? m->dataset : "",
                              .index = m ? m->index : 0,
                              .items = (uint32_t)luaL_checkinteger(L, 3),
                              .bytes = m ? tm_buf_str(&m->bytes) : "",
                              .bytes_len = m ? m->bytes.len : 0,
                              .range = m && m->has_range ? &m->range : NULL,
                              .first_row = m ? m->first_row : -1,
                              .extras = &d->extras };
  uint32_t returned = 0;
  tm_extras_release(&d->extras);
  d->extras = (struct tm_extras) { 0 };
  tm_buf_clear(&d->rows);
  lua_pushvalue(L, 2);
  if (run_there(d, &call, &returned) < 0)
    return raise_failure(L, d, "run()");
  lua_pushinteger(L, returned);
  push_marks(L, &d->extras.marks);
  return 3;
}

/* rows(script) -> the rows of the last run(), as they would be written */
static int develop_rows(lua_State *L)
{
  const struct developed *d = check_script(L);
  lua_pushlstring(L, tm_buf_str(&d->rows), d->rows.len);
  return 1;
}

/* places(script) -> { output_dir, log_dir, temp_dir, log, script_dir } */
static int develop_places(lua_State *L)
{
  const struct developed *d = check_script(L);
  const char *const names[] = { "output_dir", "log_dir", "temp_dir", "log", "script_dir" };
  const char *const values[] = { d->folders.output_dir, d->folders.log_dir, d->folders.temp_dir,
                                 d->folders.logger_file, d->setup.script_dir };
  lua_createtable(L, 0, 5);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    lua_pushstring(L, values[i]);
    lua_setfield(L, -2, names[i]);
  }
  return 1;
}

/* environment(script) -> the table of its globals */
static int develop_environment(lua_State *L)
{
  tm_lua_script_push_environment(&check_loaded(L)->script);
  return 1;
}

/* ---- walks ---- */

struct walk {
  struct tm_dataset *dataset;
  struct tm_step step; /* `dataset` is its only input */
  struct tm_table_look look;
  struct tm_cut *cut;
  struct tm_mini_batch mb;
  struct tm_buf warnings;
  char *spill_dir;
  uint64_t index;
  bool has_look;
};

static int walk_gc(lua_State *L)
{
  struct walk *w = lua_touserdata(L, 1);
  if (w->cut)
    tm_cut_close(w->cut);
  if (w->has_look)
    tm_table_look_release(&w->look);
  if (w->spill_dir)
    tm_tree_remove(w->spill_dir, NULL);
  tm_buf_release(&w->mb.bytes);
  tm_buf_release(&w->warnings);
  tm_cutting_release(&w->step.config);
  tm_dataset_free(w->dataset);
  free(w->spill_dir);
  *w = (struct walk) { 0 };
  return 0;
}

static void on_warning(void *data, const char *text)
{
  struct walk *w = data;
  tm_buf_printf(&w->warnings, "%s%s", w->warnings.len > 0 ? "\n" : "", text);
}

/* The folder that relative paths of the definition are against: of the file that it stands in; of one that was typed, ours. To
 * free(). */
static char *base_dir(const struct tm_json *v, struct tm_err *err)
{
  char *cwd = getcwd(NULL, 0), *dir = NULL;
  const char *colon = v->where ? strrchr(v->where, ':') : NULL;
  if (!cwd) {
    tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
    return NULL;
  }
  if (colon) {
    char *file = tm_xstrndup(v->where, (size_t)(colon - v->where));
    char *path = tm_path_absolute(cwd, file);
    if (tm_fs_exists(tm_fs_real(), path))
      dir = tm_path_dir(path);
    free(file);
    free(path);
  }
  if (!dir)
    return cwd;
  free(cwd);
  return dir;
}

/* {name: value} as it was given -> {name: {value}} in its one form, as a job has its settings; NULL and words. */
static struct tm_json *settings_of(const struct tm_json *given, const struct tm_step *step,
                                   struct tm_err *err)
{
  const char *const names[] = { "mini_batch_size", "partition_keys" };
  struct tm_json *settings = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    const struct tm_json *v = tm_json_get(given, names[i]);
    const struct tm_field *f = tm_params_find("dataset:mini_batches", names[i]);
    struct tm_json *value = v        ? tm_params_value(f, v, err)
                            : i == 0 ? tm_cutting_default(given, step)
                                     : NULL;
    if (v && !value) {
      tm_json_free(settings);
      return NULL;
    }
    if (!value)
      continue;
    struct tm_json *setting = tm_json_new(TM_JSON_OBJECT);
    tm_json_set(setting, "value", value);
    tm_json_set(settings, names[i], setting);
  }
  return settings;
}

static int open_walk(struct walk *w, const struct tm_json *dataset, const struct tm_json *given,
                     struct tm_err *err)
{
  char *dir = base_dir(dataset, err);
  w->dataset = dir ? tm_plan_dataset(dataset, dir, err) : NULL;
  free(dir);
  if (!w->dataset)
    return err->code;
  w->step.inputs = &w->dataset;
  w->step.inputs_len = 1;
  struct tm_json *settings = settings_of(given, &w->step, err);
  int rc = settings ? tm_cutting_fill(&w->step.config, settings, &w->step, err) : err->code;
  tm_json_free(settings);
  if (rc >= 0)
    rc = tm_cutting_check(&w->step, err);
  if (rc < 0)
    return rc;
  const char *tmp = getenv("TMPDIR");
  w->spill_dir = tm_xprintf("%s/tidemill-walk-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
  if (!mkdtemp(w->spill_dir)) {
    tm_err_set(err, TM_EUSAGE, "cannot make a folder '%s'", w->spill_dir);
    free(w->spill_dir);
    w->spill_dir = NULL;
    return TM_EUSAGE;
  }
  struct tm_cut_options o = tm_step_cut(&w->step);
  o.spill_dir = w->spill_dir;
  o.on_warning = on_warning;
  o.data = w;
  tm_table_look_init(&w->look, &w->step);
  w->has_look = true;
  tm_table_look_cut_options(&w->look, &o);
  w->cut = tm_cut_open(&o);
  return 0;
}

/* walk(dataset, options) -> walk */
static int develop_walk(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  lua_settop(L, 2);
  struct walk *w = lua_newuserdata(L, sizeof(*w));
  *w = (struct walk) { 0 };
  luaL_getmetatable(L, TM_WALK);
  lua_setmetatable(L, -2); /* [dataset, options, walk] */
  struct tm_json **dataset = tm_lua_hold_tree(L), **given = tm_lua_hold_tree(L);
  *dataset = tm_lua_to_json(L, 1, &err);
  *given = *dataset ? tm_lua_to_json(L, 2, &err) : NULL;
  if (!*given || tm_params_check("dataset:mini_batches", *given, &err) < 0 ||
      open_walk(w, *dataset, *given, &err) < 0)
    return tm_lua_raise(L, &err);
  tm_lua_let_go(L, 4);
  tm_lua_let_go(L, 5);
  lua_settop(L, 3);
  return 1;
}

/* What there is to say of the last step of the walk; nothing: nil. */
static void push_warnings(lua_State *L, struct walk *w)
{
  if (w->warnings.len > 0)
    lua_pushlstring(L, w->warnings.data, w->warnings.len);
  else
    lua_pushnil(L);
}

/* next(walk) -> value, mini_batch, index, warnings; nil, nil, nil, warnings at the end. Raises. */
static int develop_next(lua_State *L)
{
  struct walk *w = luaL_checkudata(L, 1, TM_WALK);
  struct tm_err err = TM_ERR_NONE;
  struct tm_item range;
  tm_buf_clear(&w->warnings);
  int rc = w->cut ? tm_cut_next(w->cut, &w->mb, &err) : 0;
  if (rc == 0 && w->cut && w->index == 0)
    rc = tm_cut_no_input(w->cut, &err);
  if (rc > 0)
    rc = tm_table_look_load(&w->look, &w->mb, &err) < 0 ? err.code : 1;
  if (rc < 0)
    return tm_lua_raise(L, &err);
  if (rc == 0) {
    lua_settop(L, 0);
    lua_pushnil(L);
    lua_pushnil(L);
    lua_pushnil(L);
    push_warnings(L, w);
    return 4;
  }
  struct tm_run_call call = { .index = w->index++,
                              .dataset = w->dataset->name ? w->dataset->name : "",
                              .items = w->mb.items,
                              .bytes = w->mb.bytes.data,
                              .bytes_len = w->mb.bytes.len };
  tm_table_look_give(&w->look, &call, &range);
  push_value(L, &call);
  push_mini_batch(L, &call);
  lua_pushnumber(L, (lua_Number)call.index);
  push_warnings(L, w);
  return 4;
}

/* ---- of a job ---- */

static void on_note(void *data, const char *words)
{
  tm_buf_printf(data, "%s%s", ((struct tm_buf *)data)->len > 0 ? "\n" : "", words);
}

static int find_again(struct developed *d, const char *step, struct tm_run_call *call,
                      struct tm_item *range, struct tm_err *err)
{
  int rc = tm_again_find(d->again, step, err);
  if (rc >= 0)
    rc = make_folders(d, "rerun", err);
  if (rc >= 0)
    rc = tm_again_prepare(d->again, d->folders.root, false, &d->setup, err);
  d->setup.memory_limit = 0;
  return rc < 0 ? rc : tm_again_call(d->again, call, range, err);
}

/* again(job_dir, step, mini_batch) -> script, value, mini_batch, notes or nil */
static int develop_again(lua_State *L)
{
  const char *dir = luaL_checkstring(L, 1), *step = luaL_optstring(L, 2, NULL);
  lua_Number index = luaL_checknumber(L, 3);
  struct tm_err err = TM_ERR_NONE;
  struct tm_run_call call;
  struct tm_item range;
  lua_settop(L, 3);
  struct tm_buf *notes = tm_lua_hold_buf(L);
  struct developed *d = push_developed(L);
  d->again = TM_NEW(struct tm_again);
  *d->again = (struct tm_again) {
    .index = (int64_t)index, .dir = tm_xstrdup(dir), .say = on_note, .data = notes
  };
  int rc = find_again(d, step, &call, &range, &err);
  if (rc < 0)
    return tm_lua_raise(L, &err);
  push_value(L, &call);
  push_mini_batch(L, &call);
  if (notes->len > 0)
    lua_pushlstring(L, notes->data, notes->len);
  else
    lua_pushnil(L);
  d->again->say = NULL;
  return 4;
}

static const luaL_Reg develop_functions[] = {
  { "open", develop_open },     { "load", develop_load },
  { "init", develop_init },     { "run", develop_run },
  { "rows", develop_rows },     { "shutdown", develop_shutdown },
  { "places", develop_places }, { "environment", develop_environment },
  { "walk", develop_walk },     { "next", develop_next },
  { "again", develop_again },   { NULL, NULL },
};

static void add_kind(lua_State *L, const char *name, lua_CFunction gc)
{
  luaL_newmetatable(L, name);
  lua_pushcfunction(L, gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

int tm_lua_open_develop_c(lua_State *L)
{
  add_kind(L, TM_SCRIPT, script_gc);
  add_kind(L, TM_WALK, walk_gc);
  add_kind(L, TM_MINI_BATCH, mini_batch_gc);
  lua_createtable(L, 0, 11);
  luaL_setfuncs(L, develop_functions, 0);
  return 1;
}
