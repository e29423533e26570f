/* lib_job.c - see lib_job.h.
 *
 *  (1) The registry holds a running job until its last event, even if Lua has no reference to it.
 *      Closing the state ends the job, and says so on stderr unless a host owns the runtime.
 *  (2) A job shares the state's own runtime, and may be collected after the state's share of it.
 *  (3) Callbacks run in a coroutine of the job, because the submitting coroutine may have ended. If
 *      one raises, the next wait() raises its error.
 *  (4) Jobs beside Lua are accessed only with the lock, and only Lua's thread gets their events
 *      (background.h).
 */
#include "prompt/lib_job.h"

#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/lua_host.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "bind/state.h"
#include "prompt/background.h"
#include "prompt/job_event.h"
#include "prompt/own_runtime.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define TM_JOB "tidemill.job"

/* Their addresses name places in the registry. */
static const char beside_key = 0, screen_key = 0, running_key = 0;

struct lua_job {
  struct tidemill_job *job;         /* NULL: closed */
  struct tm_lua_runtime *own;       /* the runtime, if it is the state's: keeps (2); or NULL */
  lua_State *thread;                /* of callbacks; in the environment, [1]; on_event is [2] */
  struct tm_background *background; /* or NULL: the thread that waits turns its loop */
  struct tm_ear ear;
  bool has_listener, is_over; /* Lua got its last event */
  bool is_told;  /* its listener runs; until then the registry holds it, even if it is closed */
  char *failure; /* the error of on_event; or NULL */
};

void tm_lua_set_beside(lua_State *L, struct tm_background *b)
{
  tm_lua_register(L, &beside_key, b);
}

void tm_lua_set_screen(lua_State *L, const struct tidemill_screen *screen)
{
  tm_lua_register(L, &screen_key, (void *)screen);
}

/* ---- jobs ---- */

static struct lua_job *check_job(lua_State *L)
{
  struct lua_job *j = luaL_checkudata(L, 1, TM_JOB);
  if (!j->job)
    luaL_error(L, "the job is closed");
  return j;
}

/* Keeps (4). */
static void lock(struct lua_job *j)
{
  tm_background_lock(j->background);
}

static void unlock(struct lua_job *j)
{
  tm_background_unlock(j->background, false);
}

/* Calls f(job), which returns one value, with the lock; releases it even if f raises (memory).
 * Keeps (4). */
static int with_lock(lua_State *L, lua_CFunction f)
{
  const struct lua_job *j = check_job(L);
  lua_pushcfunction(L, f);
  lua_pushvalue(L, 1);
  tm_background_lock(j->background);
  int rc = lua_pcall(L, 1, 1, 0);
  tm_background_unlock(j->background, false);
  return rc == 0 ? 1 : lua_error(L);
}

static void close_job(struct lua_job *j)
{
  lock(j);
  tidemill_job_close(j->job);
  if (j->background)
    tm_background_forget(j->background, &j->ear);
  tm_background_unlock(j->background, true);
  j->job = NULL;
  free(j->failure);
  j->failure = NULL;
  tm_lua_runtime_release(j->own);
  j->own = NULL;
}

/* A running job is collected only when its state is closed. In a host, and at a prompt, the runtime
 * is not the state's. */
static void tell_unfinished(const struct lua_job *j)
{
  if (!j->job || !j->own || tidemill_job_state(j->job) != TIDEMILL_STATE_RUNNING)
    return;
  struct tm_buf words = TM_BUF_NONE;
  tm_buf_printf(&words,
                "tidemill: job '%s' was still running when the script ended, and ends with it; "
                "write job:wait() before the end of the script, or resume the job: tidemill "
                "resume ",
                tidemill_job_name(j->job));
  tm_text_shell(&words, tidemill_job_dir(j->job));
  fprintf(stderr, "%s\n", tm_buf_str(&words));
  tm_buf_release(&words);
}

static int job_gc(lua_State *L)
{
  tell_unfinished(lua_touserdata(L, 1));
  close_job(lua_touserdata(L, 1));
  return 0;
}

/* registry[running_key][userdata] = userdata while it runs: keeps (1). */
static void set_running(lua_State *L, struct lua_job *j, int userdata)
{
  tm_lua_push_place(L, &running_key);
  lua_pushlightuserdata(L, j);
  if (userdata)
    lua_pushvalue(L, userdata);
  else
    lua_pushnil(L);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* [list] -> nothing; list[i] = userdata of a running job */
static int list_running(lua_State *L)
{
  tm_lua_push_place(L, &running_key);
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    lua_pushvalue(L, -1);
    lua_rawseti(L, 1, (int)lua_objlen(L, 1) + 1);
  }
  return 0;
}

size_t tm_lua_running_jobs(lua_State *L)
{
  lua_newtable(L);
  lua_pushcfunction(L, list_running);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 0, 0) != 0)
    lua_pop(L, 1);
  return lua_objlen(L, -1);
}

struct tidemill_job *tm_lua_running_job(lua_State *L, size_t i)
{
  tm_require(lua_istable(L, -1)); /* the list of tm_lua_running_jobs() */
  lua_rawgeti(L, -1, (int)i + 1);
  const struct lua_job *j = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return j ? j->job : NULL;
}

/* ---- events ---- */

/* [on_event, event] */
static int call_listener(lua_State *L)
{
  tm_lua_push_event(L, lua_touserdata(L, 2));
  lua_replace(L, 2);
  lua_call(L, 1, 0);
  return 0;
}

static void tell(struct lua_job *j, const struct tidemill_event *e)
{
  lua_State *L = j->thread;
  struct tm_lua_error error = { 0 };
  lua_pushcfunction(L, call_listener);
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, (void *)e);
  if (tm_lua_pcall(L, 2, 0, &error) < 0 && !j->failure)
    j->failure = tm_xprintf("%s%s%s", tm_buf_str(&error.where), error.where.len ? ": " : "",
                            tm_buf_str(&error.message));
  tm_lua_error_release(&error);
}

static int drop_running(lua_State *L)
{
  set_running(L, lua_touserdata(L, 1), 0);
  return 0;
}

static void deliver(struct lua_job *j, const struct tidemill_event *e)
{
  tm_require(!j->is_over); /* its last event is the last */
  bool is_over = j->is_over = e->kind == TIDEMILL_EVENT_STATE && e->state != TIDEMILL_STATE_RUNNING;
  j->is_told = true;
  if (j->has_listener)
    tell(j, e);
  j->is_told = false;
  if (is_over || !j->job)
    lua_cpcall(j->thread, drop_running, j);
}

static void on_event(const struct tidemill_event *e, void *data)
{
  struct lua_job *j = data;
  if (e->kind == TIDEMILL_EVENT_ROWS)
    return; /* Lua has no such kind of event: only C reads rows early */
  if (j->background)
    tm_background_keep(j->background, &j->ear, e); /* keeps (4) */
  else
    deliver(j, e);
}

static bool hear_one(struct tm_background *b)
{
  struct tm_kept *k = tm_background_take(b);
  if (!k)
    return false;
  bool was = tm_background_set_telling(b, true);
  deliver(k->ear->owner, &k->event);
  tm_background_set_telling(b, was);
  free(k);
  return true;
}

bool tm_lua_hear_job(lua_State *L)
{
  return hear_one(tm_lua_registered(L, &beside_key));
}

/* Code that asks a job in a loop does not return to the prompt, which passes events on: at the
 * limit the jobs would wait for it forever. */
static struct lua_job *ask_job(lua_State *L)
{
  struct lua_job *j = check_job(L);
  struct tm_background *b = j->background;
  bool is_telling = b && tm_background_set_telling(b, true);
  while (b && !is_telling && tm_background_is_full(b) && hear_one(b))
    ;
  if (b)
    tm_background_set_telling(b, is_telling);
  return check_job(L); /* a callback may have closed it */
}

/* ---- submission ---- */

static bool flag(lua_State *L, int at, const char *name)
{
  lua_getfield(L, at, name);
  bool is_set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_set;
}

/* [..., name, value]: sets a parameter to a text, or to a dataset or a list of paths. */
static int set_param(lua_State *L, struct tidemill_pipeline *p, struct tm_err *err)
{
  const char *name = lua_tostring(L, -2);
  if (!lua_istable(L, -1))
    return tidemill_pipeline_set_param(p, name, lua_tostring(L, -1), err);
  struct tm_json *tree = tm_lua_to_json(L, lua_gettop(L), err);
  if (!tree)
    return tm_err_wrap(err, "parameter '%s'", name);
  tm_pipeline_set_value(p, name, tree);
  return 0;
}

/* Sets parameters from the table at `at`, if it is a table; its keys and plain values are texts. */
static int set_params(lua_State *L, int at, struct tidemill_pipeline *p, struct tm_err *err)
{
  int rc = 0, top = lua_gettop(L);
  if (lua_istable(L, at)) {
    lua_pushnil(L);
    while (rc == 0 && lua_next(L, at)) {
      rc = set_param(L, p, err);
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  return rc;
}

/* [pipeline]: pushes the file of the pipeline, where relative paths start; "" without a file. */
static void push_name(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_FILE);
  if (lua_isstring(L, -1))
    return;
  lua_settop(L, 2);
  if (lua_getmetatable(L, 1)) {
    lua_pushliteral(L, "__tm_where");
    lua_rawget(L, -2);
    lua_replace(L, 3);
  }
  const char *where = lua_tostring(L, 3), *colon = where ? strrchr(where, ':') : NULL;
  lua_pushlstring(L, where ? where : "", colon ? (size_t)(colon - where) : 0);
  if (!tm_fs_exists(tm_fs_real(), lua_tostring(L, -1))) /* a user may have typed it at a prompt */
    lua_pushliteral(L, "");
  lua_replace(L, 3);
  lua_settop(L, 3);
}

/* Reads the options from the table at 2, which keeps their texts. */
static struct tidemill_job_options read_options(lua_State *L, struct lua_job *j)
{
  struct tidemill_job_options o = TIDEMILL_JOB_OPTIONS_INIT;
  lua_getfield(L, 2, "job_dir");
  o.dir = lua_tostring(L, -1);
  lua_getfield(L, 2, "max_workers");
  o.max_workers = (int64_t)lua_tonumber(L, -1);
  lua_pop(L, 2);
  o.resume = flag(L, 2, "resume");
  o.keep_failed = flag(L, 2, "keep_failed");
  o.accept_changes = flag(L, 2, "accept_changes");
  o.verify_input = flag(L, 2, "verify_input");
  o.verify_output = flag(L, 2, "verify_output");
  o.keep_script = flag(L, 2, "keep_script");
  o.no_reuse = flag(L, 2, "no_reuse");
  o.screen = tm_lua_registered(L, &screen_key);
  o.on_event = on_event;
  o.data = j;
  return o;
}

/* [pipeline, options, name, userdata, parameters] -> 0 or negative. With the lock: it cannot raise,
 * because the parameters are texts, or tables that are read raw. */
static int open_job(lua_State *L, struct lua_job *j, const struct tidemill_job_options *o,
                    struct tidemill_runtime *rt, struct tm_err *err)
{
  struct tidemill_pipeline *p = NULL;
  int rc = tidemill_pipeline_from_lua(&p, rt, L, 1, lua_tostring(L, 3), err);
  if (rc == 0)
    rc = set_params(L, 5, p, err);
  if (rc == 0)
    rc = tidemill_job_submit(&j->job, p, o, err);
  if (rc < 0)
    tm_words_for_lua(err);
  tidemill_pipeline_free(p);
  return rc;
}

/* Each command that loads a pipeline file would submit the job once more. */
static void refuse_within_file(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf command = TM_BUF_NONE;
  lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_FILE);
  const char *file = lua_tostring(L, -1);
  if (file) {
    tm_text_shell(&command, file);
    tm_err_set(&err, TM_EUSAGE,
               "pipeline:submit(): '%s' is being loaded as a pipeline file, and 'tidemill run' "
               "submits the pipeline that it returns; leave submit() out, or run the file as a "
               "script: tidemill %s",
               file, command.data);
    tm_buf_release(&command);
    tm_lua_raise(L, &err);
  }
  lua_pop(L, 1);
}

/* submit(pipeline, options) -> job */
static int job_submit(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_lua_runtime *own;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  refuse_within_file(L);
  push_name(L);
  struct tidemill_runtime *rt = tm_lua_runtime(L, &own);
  struct lua_job *j = lua_newuserdata(L, sizeof(*j)); /* [pipeline, options, name, job] */
  *j = (struct lua_job) { 0 };
  luaL_getmetatable(L, TM_JOB);
  lua_setmetatable(L, 4);
  lua_createtable(L, 2, 0);
  j->thread = lua_newthread(L);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, 4);
  lua_getfield(L, 2, "on_event");
  j->has_listener = lua_isfunction(L, -1);
  lua_xmove(L, j->thread, 1);
  j->background = tm_lua_registered(L, &beside_key);
  j->ear = (struct tm_ear) { .hears_all = !flag(L, 2, "hears_failures"), .owner = j };
  struct tidemill_job_options o = read_options(L, j);
  lua_getfield(L, 2, "parameters");
  set_running(L, j, 4);
  lock(j);
  int rc = open_job(L, j, &o, rt, &err);
  tm_background_unlock(j->background, true);
  if (rc < 0) {
    set_running(L, j, 0);
    return tm_lua_raise(L, &err);
  }
  j->own = tm_lua_runtime_share(own);
  lua_settop(L, 4);
  return 1;
}

/* load(path) -> Pipeline */
static int job_load(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = luaL_checkstring(L, 1);
  return tm_lua_load_here(L, path, &err) < 0 ? tm_lua_raise(L, &err) : 1;
}

/* ---- methods ---- */

/* Like tidemill_job_wait(), for a job beside Lua: passes on its events here. */
static int wait_beside(struct lua_job *j, int timeout_ms, struct tm_err *err)
{
  struct tm_background *b = j->background;
  int64_t until = tm_clock_mono_ns() + timeout_ms * TM_MS;
  if (tm_background_set_telling(b, false)) {
    tm_background_set_telling(b, true);
    return tm_err_set(err, TM_EUSAGE,
                      "job:wait(): this is within a callback, or a wait; return from it first");
  }
  for (;;) {
    while (hear_one(b))
      ;
    int64_t left = until - tm_clock_mono_ns();
    if (!j->job)
      return tm_err_set(err, -ECANCELED, "job:wait(): the job was closed in a callback");
    if (j->is_over)
      return 0;
    if (timeout_ms >= 0 && left <= 0)
      return tm_err_set(err, -ETIMEDOUT, "job:wait(): the time is over");
    if (!tm_background_wait(b, timeout_ms < 0 ? -1 : (int)((left + TM_MS - 1) / TM_MS)))
      return tm_err_set(err, -EINTR, "job:wait(): woken");
  }
}

/* wait(job, seconds or nil) -> true, or nil, message, code */
static int job_wait(lua_State *L)
{
  struct lua_job *j = check_job(L);
  struct tm_err err = TM_ERR_NONE;
  double seconds = luaL_optnumber(L, 2, -1);
  luaL_argcheck(L, lua_isnoneornil(L, 2) || (seconds >= 0 && seconds <= 1e6), 2,
                "accepted: seconds from 0 to 1e6");
  int ms = seconds < 0 ? -1 : (int)(seconds * 1000);
  int rc = j->background ? wait_beside(j, ms, &err) : tidemill_job_wait(j->job, ms, &err);
  if (j->failure) {
    tm_err_set(&err, TM_ESCRIPT, "on_event failed: %s", j->failure);
    free(j->failure);
    j->failure = NULL;
    return tm_lua_raise(L, &err);
  }
  if (rc == TM_EUSAGE)
    return tm_lua_raise(L, &err);
  return tm_lua_push_outcome(L, rc, &err);
}

static int job_cancel(lua_State *L)
{
  struct lua_job *j = check_job(L);
  lock(j);
  tidemill_job_cancel(j->job, lua_toboolean(L, 2));
  tm_background_unlock(j->background, true);
  return 0;
}

static int job_status(lua_State *L)
{
  struct lua_job *j = ask_job(L);
  lock(j);
  enum tidemill_state state = tidemill_job_state(j->job);
  unlock(j);
  lua_pushstring(L, tidemill_state_name(state));
  return 1;
}

static int push_info(lua_State *L)
{
  struct tidemill_job *job = check_job(L)->job;
  lua_createtable(L, 0, 4);
  tm_lua_set_text(L, "name", tidemill_job_name(job));
  tm_lua_set_text(L, "dir", tidemill_job_dir(job));
  tm_lua_set_text(L, "cause", tidemill_job_cause(job));
  if (tidemill_job_exit_status(job) >= 0)
    tm_lua_set_number(L, "exit_status", tidemill_job_exit_status(job));
  return 1;
}

/* info(job) -> { name, dir, cause, exit_status } */
static int job_info(lua_State *L)
{
  return with_lock(L, push_info);
}

static int job_counts(lua_State *L)
{
  struct lua_job *j = ask_job(L);
  lock(j);
  struct tidemill_counts counts = *tidemill_job_counts(j->job);
  unlock(j);
  tm_lua_push_counts(L, &counts);
  return 1;
}

static void push_step(lua_State *L, const struct tidemill_step *s)
{
  lua_createtable(L, 0, 7);
  tm_lua_set_text(L, "name", s->name);
  tm_lua_set_text(L, "status", tidemill_state_name(s->state));
  tm_lua_set_text(L, "output_dir", s->output_dir);
  tm_lua_set_text(L, "output_file", s->output_file);
  tm_lua_set_text(L, "logs_dir", s->logs_dir);
  tm_lua_set_text(L, "cause", s->cause);
  tm_lua_push_counts(L, s->counts);
  lua_setfield(L, -2, "counts");
}

static int push_steps(lua_State *L)
{
  struct tidemill_job *job = check_job(L)->job;
  size_t n = tidemill_job_steps_len(job);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    struct tidemill_step step = TIDEMILL_STEP_INIT;
    if (tidemill_job_step(job, i, &step, NULL) < 0)
      continue;
    push_step(L, &step);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* steps(job) -> list of { name, status, output_dir, output_file, logs_dir, cause, counts } */
static int job_steps(lua_State *L)
{
  return with_lock(L, push_steps);
}

static int push_result(lua_State *L)
{
  lua_pushstring(L, tidemill_job_result(check_job(L)->job)); /* NULL gives nil */
  return 1;
}

/* result(job) -> JSON text; nil while it runs */
static int job_result(lua_State *L)
{
  return with_lock(L, push_result);
}

static int job_close(lua_State *L)
{
  struct lua_job *j = luaL_checkudata(L, 1, TM_JOB);
  if (!j->is_told)
    set_running(L, j, 0);
  close_job(j);
  return 0;
}

static const luaL_Reg job_functions[] = {
  { "load", job_load },     { "submit", job_submit }, { "wait", job_wait },
  { "cancel", job_cancel }, { "status", job_status }, { "info", job_info },
  { "counts", job_counts }, { "steps", job_steps },   { "result", job_result },
  { "close", job_close },   { NULL, NULL },
};

int tm_lua_open_job_c(lua_State *L)
{
  if (luaL_newmetatable(L, TM_JOB)) {
    lua_pushcfunction(L, job_gc);
    lua_setfield(L, -2, "__gc");
  }
  luaL_newlib(L, job_functions);
  return 1;
}
