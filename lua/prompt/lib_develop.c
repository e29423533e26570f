/* lib_develop.c - see lib_develop.h.
 *
 * A script is a userdata with an entry script, folders and a log as in a worker, in the caller's
 * own state. The userdata owns all memory from malloc before anything can raise. Walks and
 * mini-batches are in develop_walk.c.
 */
#include "prompt/lib_develop.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "bind/hold.h"
#include "bind/state.h"
#include "entry/lua_script.h"
#include "entry/script_folders.h"
#include "prompt/replay.h"
#include "prompt/develop_own.h"
#include "step/worker_setup.h"

#define TM_SCRIPT "tidemill.develop.script"

/* ---- scripts ---- */

struct developed {
  struct tm_trial trial;    /* strings of its setup belong to the step, the job or the folders */
  struct tm_replay *replay; /* the job that has its step; NULL: `step` is its own */
  struct tm_step *step;
  char *file, *dir; /* the script and its folder, if `step` is its own */
  struct tm_script_folders folders;
  struct tm_buf words; /* of the last failure */
  char *here;          /* the current directory, while run() is in another */
  bool is_loaded;
};

static int script_gc(lua_State *L)
{
  struct developed *d = lua_touserdata(L, 1);
  if (d->trial.script.data)
    tm_lua_script_set_state(&d->trial.script, L);
  tm_lua_script_close(&d->trial.script);
  if (d->replay)
    tm_replay_release(d->replay);
  free(d->replay);
  tm_step_free(d->step);
  tm_setup_release_step(&d->trial.setup);
  free(d->file);
  free(d->dir);
  if (d->folders.root)
    tm_tree_remove(d->folders.log_dir, NULL);
  tm_script_folders_leave(&d->folders);
  tm_script_folders_release(&d->folders);
  tm_trial_release(&d->trial);
  tm_buf_release(&d->words);
  free(d->here);
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
  if (d->trial.script.data)
    tm_lua_script_set_state(&d->trial.script, L);
  return d;
}

/* Raises "run() failed at score.lua:12: ...", with the script's stack. */
static int raise_failure(lua_State *L, struct developed *d)
{
  const struct tm_buf *stack = &d->trial.error.stack;
  tm_buf_clear(&d->words);
  tm_trial_words(&d->words, &d->trial);
  tm_buf_printf(&d->words, "%s%s", stack->len > 0 ? "\n" : "", tm_buf_str(stack));
  lua_pushstring(L, tm_buf_str(&d->words));
  return lua_error(L);
}

static char *take_string(lua_State *L, const char *name)
{
  lua_getfield(L, 1, name);
  char *text = lua_isnil(L, -1) ? NULL : tm_xstrdup(luaL_checkstring(L, -1));
  lua_pop(L, 1);
  return text;
}

static void take_arguments(lua_State *L, struct tm_step *s)
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

/* open({ script, script_name, script_dir, arguments, level }) -> script */
static int develop_open(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  struct developed *d = push_developed(L);
  struct tm_config *config = &(d->step = TM_NEW(struct tm_step))->config;
  d->file = take_string(L, "script");
  d->dir = take_string(L, "script_dir");
  config->entry_script = take_string(L, "script_name");
  take_arguments(L, d->step);
  config->logging_level = (enum tm_level)int_field(L, "level", TM_INFO);
  config->output_action = TM_APPEND_ROW;
  config->append_row_separator = ',';
  config->max_result_size = INT64_MAX;
  if (tm_script_folders_make(&d->folders, "script", &err) < 0)
    return tm_lua_raise(L, &err);
  tm_setup_of_step(&d->trial.setup, d->step);
  tm_script_folders_give(&d->folders, &d->trial.setup);
  d->trial.setup.script = d->file;
  d->trial.setup.script_dir = d->dir;
  return 1;
}

/* load(script): may be repeated. Raises the errors of the file. */
static int develop_load(lua_State *L)
{
  struct developed *d = check_script(L);
  tm_lua_script_close(&d->trial.script);
  tm_lua_script_open_in(&d->trial.script, L);
  d->is_loaded = tm_trial_load(&d->trial) == 0;
  return d->is_loaded ? 0 : raise_failure(L, d);
}

static struct developed *check_loaded(lua_State *L)
{
  struct developed *d = check_script(L);
  if (!d->is_loaded)
    luaL_error(L, "the script could not be loaded; script:reload() tries again");
  return d;
}

static int develop_init(lua_State *L)
{
  struct developed *d = check_loaded(L);
  return tm_trial_init(&d->trial) < 0 ? raise_failure(L, d) : 0;
}

static int develop_shutdown(lua_State *L)
{
  struct developed *d = check_loaded(L);
  return tm_trial_shutdown(&d->trial) < 0 ? raise_failure(L, d) : 0;
}

/* The items that context:fail() marked: {[i] = message}. */
static void push_marks(lua_State *L, const struct tm_buf *marks)
{
  struct tm_reader r;
  struct tm_mark mark;
  tm_reader_init(&r, tm_buf_str(marks), marks->len);
  lua_newtable(L);
  while (tm_mark_next(&r, &mark)) {
    lua_pushlstring(L, mark.words, mark.len);
    lua_rawseti(L, -2, (int)mark.number);
  }
}

/* Calls run() in the current directory of a job's workers, if the script belongs to a job. */
static int run_there(struct developed *d, const struct tm_run_call *call)
{
  free(d->here);
  d->here = d->replay ? getcwd(NULL, 0) : NULL;
  bool is_there = d->here && chdir(tm_replay_working_dir(d->replay)) == 0;
  int rc = tm_trial_run(&d->trial, call);
  if (is_there && chdir(d->here) < 0 && rc >= 0) {
    tm_buf_add_str(&d->trial.error.message,
                   "it has ended well, but the current directory of before is gone");
    rc = TM_EUSAGE;
  }
  return rc;
}

/* run(script, value, items, mini_batch or nil) -> what it returned, how many elements, marks */
static int develop_run(lua_State *L)
{
  struct developed *d = check_loaded(L);
  const struct tm_develop_mini_batch *m =
      lua_isnoneornil(L, 4) ? NULL : luaL_checkudata(L, 4, TM_MINI_BATCH);
  struct tm_run_call call = { .seq = 1, .try = 1, .dataset = "", .first_row = -1, .bytes = "" };
  if (m)
    call = m->call;
  call.items = (uint32_t)luaL_checkinteger(L, 3);
  call.extras = &d->trial.extras;
  tm_trial_clear(&d->trial);
  lua_pushvalue(L, 2);
  if (run_there(d, &call) < 0)
    return raise_failure(L, d);
  lua_pushinteger(L, d->trial.returned);
  push_marks(L, &d->trial.extras.marks);
  return 3;
}

/* rows(script) -> the rows of the last run(), in their output form */
static int develop_rows(lua_State *L)
{
  const struct developed *d = check_script(L);
  lua_pushlstring(L, tm_buf_str(&d->trial.rows), d->trial.rows.len);
  return 1;
}

/* places(script) -> { output_dir, log_dir, temp_dir, log, script_dir } */
static int develop_places(lua_State *L)
{
  const struct developed *d = check_script(L);
  const char *const names[] = { "output_dir", "log_dir", "temp_dir", "log", "script_dir" };
  const char *const values[] = { d->folders.output_dir, d->folders.log_dir, d->folders.temp_dir,
                                 d->folders.logger_file, d->trial.setup.script_dir };
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
  tm_lua_script_push_environment(&check_loaded(L)->trial.script);
  return 1;
}

/* ---- scripts of a job ---- */

static void on_note(void *data, const char *words)
{
  tm_buf_printf(data, "%s%s", ((struct tm_buf *)data)->len > 0 ? "\n" : "", words);
}

/* Sends the prints of the job's pipeline file to standard error. */
static int open_again(struct developed *d, const char *step, struct tm_err *err)
{
  fflush(stdout);
  int out = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  int rc = tm_replay_open(d->replay, step, "rerun", &d->folders, &d->trial.setup, err);
  fflush(stdout);
  dup2(out, STDOUT_FILENO);
  close(out);
  return rc;
}

static int find_again(struct developed *d, const char *step, struct tm_run_call *call,
                      struct tm_err *err)
{
  int rc = open_again(d, step, err);
  if (rc < 0)
    return rc;
  tm_replay_set_variables(d->replay);
  d->trial.setup.memory_limit = d->trial.setup.run_timeout_ns = d->trial.setup.init_timeout_ns = 0;
  d->trial.setup.load_timeout_ns = 0;
  return tm_replay_call(d->replay, call, &d->trial, err);
}

/* again(job_dir, step, mini_batch, is_over) -> script, value, mini_batch, notes or nil */
static int develop_again(lua_State *L)
{
  const char *dir = luaL_checkstring(L, 1), *step = luaL_optstring(L, 2, NULL);
  lua_Number index = luaL_checknumber(L, 3);
  struct tm_err err = TM_ERR_NONE;
  struct tm_run_call call;
  lua_settop(L, 4);
  struct tm_buf *notes = tm_lua_hold_buf(L);
  struct developed *d = push_developed(L);
  d->replay = TM_NEW(struct tm_replay);
  *d->replay = (struct tm_replay) { .index = (int64_t)index,
                                    .dir = tm_xstrdup(dir),
                                    .is_over = lua_toboolean(L, 4),
                                    .say = on_note,
                                    .data = notes,
                                    .modules = tm_lua_modules_of(L) };
  int rc = find_again(d, step, &call, &err);
  if (rc < 0)
    return tm_lua_raise(L, &err);
  tm_develop_push(L, &call, notes);
  if (notes->len > 0)
    lua_pushlstring(L, notes->data, notes->len);
  else
    lua_pushnil(L);
  d->replay->say = NULL;
  return 4;
}

static const luaL_Reg develop_functions[] = {
  { "open", develop_open },     { "load", develop_load },
  { "init", develop_init },     { "run", develop_run },
  { "rows", develop_rows },     { "shutdown", develop_shutdown },
  { "places", develop_places }, { "environment", develop_environment },
  { "walk", tm_develop_walk },  { "next", tm_develop_next },
  { "again", develop_again },   { NULL, NULL },
};

int tm_lua_open_develop_c(lua_State *L)
{
  tm_develop_add_kind(L, TM_SCRIPT, script_gc);
  tm_develop_add_walks(L);
  luaL_newlib(L, develop_functions);
  return 1;
}
