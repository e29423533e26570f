/* develop_walk.c - see develop_own.h: iterates over the mini-batches of a dataset without a job.
 *
 *  (1) A userdata owns all memory from malloc before anything can raise.
 *  (2) A data frame that is returned has memory of its own.
 */
#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "bind/hold.h"
#include "bind/state.h"
#include "entry/lua_frame.h"
#include "entry/step_walk.h"
#include "plan/splitting.h"
#include "plan/datasets.h"
#include "params/params.h"
#include "plan/params_check.h"
#include "prompt/develop_own.h"
#include "sys/fs.h"

#define TM_WALK "tidemill.develop.walk"

void tm_develop_add_kind(lua_State *L, const char *name, lua_CFunction gc)
{
  luaL_newmetatable(L, name);
  lua_pushcfunction(L, gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

/* ---- mini-batches ---- */

static int mini_batch_gc(lua_State *L)
{
  struct tm_develop_mini_batch *m = lua_touserdata(L, 1);
  tm_item_loader_release(&m->loader);
  tm_scratch_remove(&m->scratch);
  free(m->dataset);
  tm_buf_release(&m->bytes);
  *m = (struct tm_develop_mini_batch) { 0 };
  return 0;
}

static struct tm_develop_mini_batch *push_mini_batch(lua_State *L, const struct tm_run_call *call)
{
  struct tm_develop_mini_batch *m = lua_newuserdata(L, sizeof(*m));
  *m = (struct tm_develop_mini_batch) { .call = *call };
  luaL_getmetatable(L, TM_MINI_BATCH);
  lua_setmetatable(L, -2);
  m->dataset = tm_xstrdup(call->dataset);
  tm_buf_add(&m->bytes, call->bytes, call->bytes_len);
  m->call.dataset = m->dataset;
  m->call.bytes = tm_buf_str(&m->bytes);
  m->call.frame = NULL;
  if (call->range) { /* points into the bytes */
    tm_require(call->range->path >= call->bytes &&
               call->range->path <= call->bytes + call->bytes_len);
    m->range = *call->range;
    m->range.path = m->bytes.data + (call->range->path - call->bytes);
    m->call.range = &m->range;
  }
  return m;
}

static void add_marks(struct tm_buf *notes, const struct tm_buf *marks)
{
  struct tm_reader r;
  struct tm_mark mark;
  tm_reader_init(&r, tm_buf_str(marks), marks->len);
  while (tm_mark_next(&r, &mark))
    tm_buf_printf(notes, "%sitem %u fails: %.*s", notes->len > 0 ? "\n" : "", mark.number,
                  (int)mark.len, mark.words);
}

/* Loads entries of archives, as a worker does before run(). */
static int load_entries(struct tm_develop_mini_batch *m, struct tm_buf *notes, struct tm_err *err)
{
  struct tm_extras extras = { .marks = TM_BUF_NONE };
  if (!tm_entry_load_is_for(m->call.bytes, m->call.bytes_len))
    return 0;
  if (tm_scratch_make(&m->scratch, "walk", err) < 0)
    return err->code;
  struct tm_setup setup = { .temp_dir = m->scratch.path };
  m->call.extras = &extras;
  int rc = tm_items_load_entries(&m->loader, &setup, &m->call, err);
  m->call.extras = NULL;
  add_marks(notes, &extras.marks);
  tm_extras_release(&extras);
  return rc;
}

static void push_frame(lua_State *L, const struct tm_data_frame *frame)
{
  tm_lua_frame_push(L, frame); /* [lease, frame] */
  lua_getfield(L, -1, "copy");
  lua_insert(L, -2);
  lua_call(L, 1, 1); /* keeps (2) */
  tm_lua_frame_end(L, -2);
  lua_remove(L, -2);
}

static void push_paths(lua_State *L, const struct tm_run_call *call)
{
  struct tm_reader r;
  struct tm_item item;
  lua_newtable(L);
  tm_reader_init(&r, call->bytes, call->bytes_len);
  for (int i = 1; tm_item_next(&r, &item); i++) {
    lua_pushlstring(L, item.path, item.path_len);
    lua_rawseti(L, -2, i);
  }
}

void tm_develop_push(lua_State *L, const struct tm_run_call *call, struct tm_buf *notes)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_develop_mini_batch *m = push_mini_batch(L, call);
  if (load_entries(m, notes, &err) < 0)
    tm_lua_raise(L, &err);
  if (call->frame)
    push_frame(L, call->frame);
  else
    push_paths(L, &m->call);
  lua_insert(L, -2);
}

/* ---- walks ---- */

struct walk {
  struct tm_dataset *dataset;
  struct tm_step step; /* `dataset` is its only input */
  struct tm_step_walk mini_batches;
  struct tm_buf warnings;
  struct tm_scratch spill;
};

static int walk_gc(lua_State *L)
{
  struct walk *w = lua_touserdata(L, 1);
  tm_step_walk_close(&w->mini_batches);
  tm_scratch_remove(&w->spill);
  tm_buf_release(&w->warnings);
  tm_config_release(&w->step.config);
  tm_dataset_free(w->dataset);
  *w = (struct walk) { 0 };
  return 0;
}

static void on_warning(void *data, const char *text)
{
  struct walk *w = data;
  tm_buf_printf(&w->warnings, "%s%s", w->warnings.len > 0 ? "\n" : "", text);
}

/* The folder where relative paths of the definition start: that of its file, or the current one if
 * the user typed it. The caller frees it. */
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

/* Converts given settings {name: value} to {name: {value}} in canonical form, as in a job's record.
 * NULL and an error. */
static struct tm_json *settings_of(const struct tm_json *given, const struct tm_step *step,
                                   struct tm_err *err)
{
  const char *const names[] = { "mini_batch_size", "partition_keys" };
  struct tm_json *settings = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    const struct tm_json *v = tm_json_get(given, names[i]);
    const struct tm_field *f = tm_params_find("dataset:mini_batches", names[i]);
    struct tm_json *value = v        ? tm_params_value(f, v, err)
                            : i == 0 ? tm_splitting_default(given, step)
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
  tm_require(!w->dataset);
  char *dir = base_dir(dataset, err);
  w->dataset = dir ? tm_plan_dataset(dataset, dir, err) : NULL;
  free(dir);
  if (!w->dataset)
    return err->code;
  w->step.inputs = &w->dataset;
  w->step.inputs_len = 1;
  struct tm_json *settings = settings_of(given, &w->step, err);
  int rc = settings ? tm_splitting_fill(&w->step.config, settings, &w->step, err) : err->code;
  tm_json_free(settings);
  if (rc >= 0)
    rc = tm_splitting_check(&w->step, err);
  if (rc < 0)
    return rc;
  if (tm_scratch_make(&w->spill, "walk", err) < 0)
    return err->code;
  struct tm_splitter_options o = tm_step_splitting(&w->step);
  o.spill_dir = w->spill.path;
  o.on_warning = on_warning;
  o.data = w;
  tm_step_walk_open(&w->mini_batches, &w->step, o);
  return 0;
}

int tm_develop_walk(lua_State *L)
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

/* Pushes the warnings of the last step of the walk, or nil. */
static void push_warnings(lua_State *L, struct walk *w)
{
  if (w->warnings.len > 0)
    lua_pushlstring(L, w->warnings.data, w->warnings.len);
  else
    lua_pushnil(L);
}

int tm_develop_next(lua_State *L)
{
  struct walk *w = luaL_checkudata(L, 1, TM_WALK);
  struct tm_err err = TM_ERR_NONE;
  struct tm_run_call call;
  tm_buf_clear(&w->warnings);
  int rc = w->mini_batches.splitter ? tm_step_walk_next(&w->mini_batches, &call, &err) : 0;
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
  tm_develop_push(L, &call, &w->warnings);
  lua_pushnumber(L, (lua_Number)call.index);
  push_warnings(L, w);
  return 4;
}

void tm_develop_add_walks(lua_State *L)
{
  tm_develop_add_kind(L, TM_WALK, walk_gc);
  tm_develop_add_kind(L, TM_MINI_BATCH, mini_batch_gc);
}
