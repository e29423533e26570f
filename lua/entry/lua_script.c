/* lua_script.c - an entry script in Lua, with the interface that the agent uses.
 *
 *   agent            script_run.c               run_body(), protected
 *     items    -->   one tm_lua_pcall()   -->     array of paths, context  -->  run()
 *     rows     <--                        <--     rows_add()               <--  array
 *
 * Everything that can raise happens inside the one protected call of a hook: it builds the
 * mini-batch, runs the user's code, and writes the rows. Data that must survive an error belong to
 * the agent (rows, the error's buffers) or to the state.
 *
 *  (1) The stack is as high after a hook as before it.
 *  (2) A try that fails leaves `rows` as it was.
 *  (3) Nothing of a mini-batch is kept after run() has returned, except what the script keeps.
 *
 * prefetch() and run() are in script_run.c. interrupt.h can end a stuck call in them, in init(), or
 * in loading. Code between _enter() and _leave() may raise anywhere, so it holds no memory.
 */
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/time.h"
#include "bind/missing.h"
#include "bind/source_map.h"
#include "entry/lib_entry_script.h"
#include "entry/lua_script_own.h"
#include "entry/script_folders.h"
#include "entry/script_globals.h"
#include "plan/names.h"
#include "sys/fs.h"

#define TM_SCRIPT_MAX ((size_t)64 << 20) /* bytes of a file */

static const char *const hook_names[HOOK_COUNT] = { "init", "run", "shutdown", "recover",
                                                    "prefetch" };

static void fill_seam(struct tm_script *out, struct script *s);

static int open_guards(lua_State *L)
{
  struct script *s = lua_touserdata(L, 1);
  tm_lua_profiler_open(s->L, &s->profiler);
  tm_lua_interrupt_open(s->L, &s->interrupt, &s->profiler);
  tm_lua_begun_open(s->L, &s->begun);
  return 0;
}

static struct script *new_script(void)
{
  struct script *s = TM_NEW(struct script);
  for (int i = 0; i < HOOK_COUNT; i++)
    s->hooks[i] = LUA_NOREF;
  s->run_body_ref = s->lease_ref = LUA_NOREF;
  s->environment_ref = s->given_ref = s->returned_ref = LUA_NOREF;
  s->context.handle_ref = s->context.fields_ref = LUA_NOREF;
  tm_list_init(&s->begun.items);
  tm_lua_prefetches_init(&s->prefetches);
  return s;
}

int tm_lua_script_open(struct tm_script *out, const struct tm_lua_module *modules,
                       struct tm_err *err)
{
  struct script *s = new_script();
  s->L = tm_lua_new(modules, err);
  if (s->L && lua_cpcall(s->L, open_guards, s) == 0) {
    fill_seam(out, s);
    return 0;
  }
  if (s->L)
    tm_err_set(err, TM_ELIMIT, "cannot make a Lua state: not enough memory");
  tm_lua_free(s->L);
  free(s);
  *out = (struct tm_script) { 0 };
  return err->code;
}

lua_State *tm_lua_script_state(const struct tm_script *script)
{
  return ((struct script *)script->data)->L;
}

void tm_lua_script_open_in(struct tm_script *out, lua_State *L)
{
  struct script *s = new_script();
  s->L = L;
  s->is_guest = true;
  fill_seam(out, s);
}

void tm_lua_script_set_state(const struct tm_script *script, lua_State *L)
{
  ((struct script *)script->data)->L = L;
}

static void close_guest(struct script *s)
{
  tm_lua_prefetches_end_all(s->L, &s->prefetches);
  const int refs[] = { s->run_body_ref, s->lease_ref, s->environment_ref, s->context.handle_ref,
                       s->context.fields_ref };
  for (int i = 0; i < HOOK_COUNT; i++)
    luaL_unref(s->L, LUA_REGISTRYINDEX, s->hooks[i]);
  for (size_t i = 0; i < TM_COUNT_OF(refs); i++)
    luaL_unref(s->L, LUA_REGISTRYINDEX, refs[i]);
  tm_lua_context_release(&s->context);
}

void tm_lua_script_close(struct tm_script *script)
{
  struct script *s = script->data;
  if (s != NULL && s->is_guest) {
    close_guest(s);
  } else if (s != NULL) {
    tm_lua_profiler_close(&s->profiler);
    tm_lua_samples_stop(&s->samples);
    tm_lua_context_release(&s->context);
    tm_lua_memory_release(&s->memory);
    tm_lua_free(s->L);
    tm_lua_interrupt_release(&s->interrupt);
  }
  if (s != NULL)
    tm_buf_release(&s->retires);
  free(s);
  *script = (struct tm_script) { 0 };
}

/* Moves a Lua error into the agent's buffers. */
int tm_lua_script_give_error(struct script *s, struct tm_script_error *out, enum tm_status status,
                             struct tm_lua_error *e)
{
  struct tm_buf *const to[] = { &out->message, &out->stack, &out->where };
  const struct tm_buf *const from[] = { &e->message, &e->stack, &e->where };
  out->status = status;
  tm_lua_memory_settle(&s->memory, &e->message);
  for (size_t i = 0; i < TM_COUNT_OF(to); i++)
    tm_lua_place_add(to[i], tm_buf_str(from[i]), from[i]->len, s->setup->script_dir,
                     s->setup->script_name);
  tm_lua_missing_explain(&out->message, s->setup);
  tm_lua_error_release(e);
  return TM_ESCRIPT;
}

int tm_lua_script_give_words(struct tm_script_error *out, enum tm_status status,
                             const struct tm_err *err)
{
  out->status = status;
  tm_buf_add_str(&out->message, err->text);
  return err->code;
}

/* ---- calls ---- */

/* Reports where a call was interrupted, whatever it has raised since. If the hook ended in a call,
 * `return session:run(x)`, the stack has lost its line. */
int tm_lua_script_give_interrupted(struct script *s, struct tm_script_error *out,
                                   enum tm_status status)
{
  const struct {
    enum tm_status status;
    enum hook hook;
    const char *limit;
    int64_t ns;
  } calls[] = {
    { TM_INIT_TIMEOUT, HOOK_INIT, "init_timeout", s->setup->init_timeout_ns },
    { TM_LOAD_TIMEOUT, HOOK_PREFETCH, "task_overhead_timeout", s->setup->load_timeout_ns },
    { TM_RUN_TIMEOUT, HOOK_RUN, "run_invocation_timeout", s->setup->run_timeout_ns },
  };
  struct tm_lua_error e = { .stack = s->interrupt.stack, .where = s->interrupt.where };
  size_t i = 0;
  while (calls[i].status != status && i + 1 < TM_COUNT_OF(calls))
    i++;
  tm_buf_printf(&e.message, "%s() ", hook_names[calls[i].hook]);
  if (calls[i].ns > 0)
    tm_buf_printf(&e.message, "took longer than %s (%g s) and ", calls[i].limit,
                  (double)calls[i].ns / (double)TM_S);
  tm_buf_add_str(&e.message, "was interrupted");
  s->interrupt.stack = s->interrupt.where = (struct tm_buf)TM_BUF_NONE;
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->hooks[calls[i].hook]);
  tm_lua_error_place_tail(s->L, &e);
  return tm_lua_script_give_error(s, out, status, &e);
}

int tm_lua_script_call(struct script *s, int nargs, enum hook hook, enum tm_status status,
                       enum tm_status timeout, struct tm_script_error *error)
{
  struct tm_lua_error e = { 0 };
  tm_lua_interrupt_enter(&s->interrupt);
  int code = tm_lua_pcall(s->L, nargs, 0, &e);
  tm_lua_memory_set_on(&s->memory, false);
  if (tm_lua_interrupt_leave(&s->interrupt)) {
    tm_lua_error_release(&e);
    return tm_lua_script_give_interrupted(s, error, timeout);
  }
  if (code == 0)
    return 0;
  if (hook < HOOK_COUNT) {
    lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->hooks[hook]);
    tm_lua_error_place_tail(s->L, &e);
  }
  return tm_lua_script_give_error(s, error, status, &e);
}

static void script_arm(void *data)
{
  tm_lua_interrupt_arm(&((struct script *)data)->interrupt);
}

static void script_interrupt(void *data)
{
  tm_lua_interrupt_poke(&((struct script *)data)->interrupt);
}

/* ---- load, init: the file, its hooks, its init() ---- */

/* The hook from the returned table at 2, else from the environment at 1. */
static void find_hook(lua_State *L, struct script *s, enum hook hook)
{
  if (lua_istable(L, 2))
    lua_getfield(L, 2, hook_names[hook]);
  if (lua_isnoneornil(L, 3))
    lua_getfield(L, 1, hook_names[hook]);
  if (lua_isfunction(L, -1))
    s->hooks[hook] = luaL_ref(L, LUA_REGISTRYINDEX);
  else if (hook == HOOK_RUN && !lua_isnil(L, -1))
    s->run_is = luaL_typename(L, -1);
  else if (!lua_isnil(L, -1))
    luaL_error(L, "'%s' is a %s; expected a function", hook_names[hook], luaL_typename(L, -1));
  lua_settop(L, 2);
}

static int load_body(lua_State *L) /* (struct script *, file) */
{
  struct script *s = lua_touserdata(L, 1);
  const struct tm_setup *setup = s->setup;
  lua_settop(L, 2);
  tm_lua_set_search_paths(L, setup->script_dir);
  tm_lua_set_arg(L, setup);
  tm_lua_entry_script_add(L, setup, &s->retires, &s->waits);
  tm_lua_context_init(L, &s->context, setup);
  lua_pushcfunction(L, tm_lua_script_run_body);
  s->run_body_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushboolean(L, 0);
  s->lease_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_remove(L, 1);
  tm_lua_give_environment(L); /* [environment, file] */
  if (s->is_guest) {
    lua_pushvalue(L, 1);
    s->environment_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  tm_lua_memory_set_on(&s->memory, true);
  luaL_checkstack(L, (int)setup->arguments_len, "too many arguments");
  for (size_t i = 0; i < setup->arguments_len; i++)
    lua_pushstring(L, setup->arguments[i]);
  lua_call(L, (int)setup->arguments_len, 1); /* [environment, returned] */
  tm_lua_refuse_pipeline(L, 2, setup->script_name);
  for (int i = 0; i < HOOK_COUNT; i++)
    find_hook(L, s, (enum hook)i);
  s->has_prefetch = s->hooks[HOOK_PREFETCH] != LUA_NOREF;
  return 0;
}

/* Pushes the compiled file. */
static int read_file(struct script *s, struct tm_script_error *error)
{
  const struct tm_setup *setup = s->setup;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_lua_error e = { 0 };
  struct tm_err err = TM_ERR_NONE;
  const char *foreign = tm_names_of_file(setup->script_name);
  int code = foreign
                 ? tm_err_set(&err, TM_ESCRIPT, "cannot run '%s': %s", setup->script_name, foreign)
                 : tm_fs_read_file(tm_fs_real(), setup->script, TM_SCRIPT_MAX, &text, &err);
  if (code < 0)
    code = tm_lua_script_give_words(error, TM_INIT_EXCEPTION, &err);
  else if (tm_lua_load(s->L, tm_buf_str(&text), text.len, setup->script_name, &e) < 0)
    code = tm_lua_script_give_error(s, error, TM_INIT_EXCEPTION, &e);
  tm_buf_release(&text);
  return code;
}

static int load_script(struct script *s, struct tm_script_error *error)
{
  lua_pushcfunction(s->L, load_body);
  lua_pushlightuserdata(s->L, s);
  int code = read_file(s, error);
  if (code < 0) {
    lua_pop(s->L, 2); /* keeps (1) */
    return code;
  }
  return tm_lua_script_call(s, 2, HOOK_COUNT, TM_INIT_EXCEPTION, TM_INIT_TIMEOUT, error);
}

static int script_load(void *data, const struct tm_setup *setup, bool *has_no_run,
                       struct tm_script_error *error)
{
  struct script *s = data;
  struct tm_err err = TM_ERR_NONE;
  tm_require(!s->setup); /* it is loaded once */
  s->setup = setup;
  tm_lua_memory_limit(&s->memory, s->L, setup->memory_limit);
  int code = 0;
  if (tm_script_folders_make_own(setup, &err) < 0)
    code = tm_lua_script_give_words(error, TM_INIT_EXCEPTION, &err);
  if (code == 0 && setup->profile_file && *setup->profile_file)
    tm_lua_samples_start(&s->samples, &s->profiler, setup->profile_file, setup->script_dir,
                         setup->script_name);
  if (code == 0)
    code = load_script(s, error);
  if (code < 0 || s->hooks[HOOK_RUN] != LUA_NOREF)
    return code;
  *has_no_run = true;
  if (s->run_is)
    tm_err_set(&err, TM_ESCRIPT, "'%s' defines 'run' as a %s; expected a function run(mini_batch)",
               setup->script_name, s->run_is);
  else
    tm_err_set(&err, TM_ESCRIPT,
               "'%s' defines no function run(mini_batch); define it as a global, or return a table "
               "with it",
               setup->script_name);
  return tm_lua_script_give_words(error, TM_INIT_EXCEPTION, &err);
}

/* The memory limit is on during the protected call; the caller switches it off. */
static int hook_body(lua_State *L) /* (struct script *, function, arguments) */
{
  struct script *s = lua_touserdata(L, 1);
  tm_lua_memory_set_on(&s->memory, true);
  lua_call(L, lua_gettop(L) - 2, 0);
  return 0;
}

static void push_hook(struct script *s, enum hook hook)
{
  lua_pushcfunction(s->L, hook_body);
  lua_pushlightuserdata(s->L, s);
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->hooks[hook]);
}

static int script_init(void *data, struct tm_script_error *error)
{
  struct script *s = data;
  if (s->hooks[HOOK_INIT] == LUA_NOREF)
    return 1;
  push_hook(s, HOOK_INIT);
  return tm_lua_script_call(s, 2, HOOK_INIT, TM_INIT_EXCEPTION, TM_INIT_TIMEOUT, error);
}

void tm_lua_script_push_environment(const struct tm_script *script)
{
  const struct script *s = script->data;
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->environment_ref);
}

/* ---- recover, shutdown ---- */

static int script_recover(void *data, const char *reason, struct tm_script_error *error)
{
  struct script *s = data;
  struct tm_lua_error e = { 0 };
  if (s->hooks[HOOK_RECOVER] == LUA_NOREF)
    return 1;
  push_hook(s, HOOK_RECOVER);
  lua_pushstring(s->L, reason);
  int code = tm_lua_pcall(s->L, 3, 0, &e);
  tm_lua_memory_set_on(&s->memory, false);
  return code == 0 ? 0 : tm_lua_script_give_error(s, error, TM_RUN_EXCEPTION, &e);
}

static int script_shutdown(void *data, struct tm_script_error *error)
{
  struct script *s = data;
  struct tm_lua_error e = { 0 };
  int code = 0;
  if (s->hooks[HOOK_SHUTDOWN] != LUA_NOREF) {
    push_hook(s, HOOK_SHUTDOWN);
    code = tm_lua_pcall(s->L, 2, 0, &e);
    tm_lua_memory_set_on(&s->memory, false);
  }
  if (code < 0)
    tm_lua_script_give_error(s, error, TM_RUN_EXCEPTION, &e);
  fflush(stdout);
  return code;
}

/* ---- what the agent calls ---- */

static void fill_seam(struct tm_script *out, struct script *s)
{
  *out = (struct tm_script) {
    .data = s,
    .load = script_load,
    .init = script_init,
    .has_prefetch = &s->has_prefetch,
    .prefetch = s->is_guest ? tm_lua_script_guest_prefetch : tm_lua_script_prefetch,
    .drop = tm_lua_script_drop,
    .run = s->is_guest ? tm_lua_script_guest_run : tm_lua_script_run,
    .arm = script_arm,
    .interrupt = script_interrupt,
    .shown = &s->interrupt.running.shown,
    .waits = &s->waits,
    .recover = script_recover,
    .retires = &s->retires,
    .shutdown = script_shutdown,
  };
}
