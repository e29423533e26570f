/* lua_script.c - an entry script in Lua, with the interface that the agent uses.
 *
 *   agent            script_run()                 run_body(), protected
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
 * The hot path, script_run(), looks up no names, and allocates only the paths and the array.
 * interrupt.h can end a stuck call in run(), init() or loading. Code between _enter() and _leave()
 * may raise anywhere, so it holds no memory.
 */
#include "entry/lua_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/time.h"
#include "bind/begun.h"
#include "bind/interrupt.h"
#include "bind/missing.h"
#include "bind/script_memory.h"
#include "bind/source_map.h"
#include "bind/state.h"
#include "entry/context.h"
#include "entry/lib_entry_script.h"
#include "entry/lua_frame.h"
#include "entry/rows.h"
#include "entry/samples.h"
#include "entry/script_folders.h"
#include "plan/names.h"
#include "sys/fs.h"

#define TM_SCRIPT_MAX ((size_t)64 << 20) /* bytes of a file */

enum hook { HOOK_INIT, HOOK_RUN, HOOK_SHUTDOWN, HOOK_RECOVER, HOOK_COUNT };
static const char *const hook_names[HOOK_COUNT] = { "init", "run", "shutdown", "recover" };

struct script {
  lua_State *L;
  int hooks[HOOK_COUNT]; /* in the registry; LUA_NOREF: none */
  const char *run_is;    /* the type of `run` if it is not a function, "string"; else NULL */
  int run_body_ref;
  int lease_ref;                /* in the registry: the lease of the last frame; false before */
  const struct tm_setup *setup; /* the agent's; set by load() */
  bool is_guest;                /* tm_lua_script_open_in(): the state is not ours */
  int environment_ref, given_ref, returned_ref; /* of a guest: globals, given value, result */
  struct tm_lua_context context;
  struct tm_lua_memory memory;
  struct tm_lua_profiler profiler;
  struct tm_lua_interrupt interrupt;
  struct tm_lua_samples samples;
  struct tm_lua_begun begun; /* in run() */
  struct tm_buf retires;     /* why this process must not run another mini-batch; empty: it may */
};

/* The argument of run_body(), as light userdata. */
struct run {
  struct script *script;
  const struct tm_run_call *call;
  struct tm_buf *rows;
  uint32_t returned;
  bool is_wrong; /* `err` says why the result of run() is wrong */
  struct tm_err err;
};

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
static int give_error(struct script *s, struct tm_script_error *out, enum tm_status status,
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

static int give_words(struct tm_script_error *out, enum tm_status status, const struct tm_err *err)
{
  out->status = status;
  tm_buf_add_str(&out->message, err->text);
  return err->code;
}

/* ---- calls ---- */

/* Reports where a call was interrupted, whatever it has raised since. If the hook ended in a call,
 * `return session:run(x)`, the stack has lost its line. */
static int give_interrupted(struct script *s, struct tm_script_error *out, enum tm_status status)
{
  bool is_init = status == TM_INIT_TIMEOUT;
  int64_t timeout_ns = is_init ? s->setup->init_timeout_ns : s->setup->run_timeout_ns;
  struct tm_lua_error e = { .stack = s->interrupt.stack, .where = s->interrupt.where };
  tm_buf_printf(&e.message, "%s ", is_init ? "init()" : "run()");
  if (timeout_ns > 0)
    tm_buf_printf(&e.message, "took longer than %s (%g s) and ",
                  is_init ? "init_timeout" : "run_invocation_timeout",
                  (double)timeout_ns / (double)TM_S);
  tm_buf_add_str(&e.message, "was interrupted");
  s->interrupt.stack = s->interrupt.where = (struct tm_buf)TM_BUF_NONE;
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->hooks[is_init ? HOOK_INIT : HOOK_RUN]);
  tm_lua_error_place_tail(s->L, &e);
  return give_error(s, out, status, &e);
}

/* Calls a function without results that can be interrupted. `timeout`: the status in that case. */
static int call(struct script *s, int nargs, enum tm_status status, enum tm_status timeout,
                struct tm_script_error *error)
{
  struct tm_lua_error e = { 0 };
  tm_lua_interrupt_enter(&s->interrupt);
  int code = tm_lua_pcall(s->L, nargs, 0, &e);
  tm_lua_memory_set_on(&s->memory, false);
  if (tm_lua_interrupt_leave(&s->interrupt)) {
    tm_lua_error_release(&e);
    return give_interrupted(s, error, timeout);
  }
  return code == 0 ? 0 : give_error(s, error, status, &e);
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

/* Does nothing if an earlier load of this state has already set it. */
static void set_search_path(lua_State *L, const char *field, const char *dir, const char *patterns)
{
  lua_getglobal(L, "package");
  const char *own = luaL_gsub(L, patterns, "@", dir);
  lua_getfield(L, -2, field);
  if (strncmp(lua_tostring(L, -1), own, strlen(own)) == 0)
    lua_remove(L, -2);
  else
    lua_concat(L, 2); /* [package, path] */
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

static void set_arg(lua_State *L, const struct tm_setup *setup)
{
  lua_createtable(L, (int)setup->arguments_len, 1);
  lua_pushstring(L, setup->script_name);
  lua_rawseti(L, -2, 0);
  for (size_t i = 0; i < setup->arguments_len; i++) {
    lua_pushstring(L, setup->arguments[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setglobal(L, "arg");
}

/* Gives [file] an environment of its own: [environment, file] */
static void give_environment(lua_State *L)
{
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfenv(L, -3);
  lua_insert(L, -2);
}

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

static int run_body(lua_State *L);

static int load_body(lua_State *L) /* (struct script *, file) */
{
  struct script *s = lua_touserdata(L, 1);
  const struct tm_setup *setup = s->setup;
  lua_settop(L, 2);
  set_search_path(L, "path", setup->script_dir, "@/?.lua;@/?/init.lua;");
  set_search_path(L, "cpath", setup->script_dir, "@/?.so;");
  set_arg(L, setup);
  tm_lua_entry_script_add(L, setup, &s->retires);
  tm_lua_context_init(L, &s->context, setup);
  lua_pushcfunction(L, run_body);
  s->run_body_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushboolean(L, 0);
  s->lease_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_remove(L, 1);
  give_environment(L); /* [environment, file] */
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
    code = give_words(error, TM_INIT_EXCEPTION, &err);
  else if (tm_lua_load(s->L, tm_buf_str(&text), text.len, setup->script_name, &e) < 0)
    code = give_error(s, error, TM_INIT_EXCEPTION, &e);
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
  return call(s, 2, TM_INIT_EXCEPTION, TM_INIT_TIMEOUT, error);
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
    code = give_words(error, TM_INIT_EXCEPTION, &err);
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
  return give_words(error, TM_INIT_EXCEPTION, &err);
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
  return call(s, 2, TM_INIT_EXCEPTION, TM_INIT_TIMEOUT, error);
}

/* ---- run ---- */

static void push_mini_batch(lua_State *L, const struct tm_run_call *call)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, call->bytes, call->bytes_len);
  lua_createtable(L, (int)call->items, 0);
  for (int i = 1; tm_item_next(&r, &item); i++) {
    lua_pushlstring(L, item.path, item.path_len);
    lua_rawseti(L, -2, i);
  }
}

/* Pushes a data frame over memory outside Lua, and keeps its lease for script_run(). */
static void push_frame(lua_State *L, struct script *s, const struct tm_data_frame *frame)
{
  tm_lua_frame_push(L, frame); /* [lease, frame] */
  lua_pushvalue(L, -2);
  lua_rawseti(L, LUA_REGISTRYINDEX, s->lease_ref);
  lua_remove(L, -2);
}

/* From now on, the frame that run() got raises when it is used. */
static void end_frame(struct script *s)
{
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->lease_ref);
  if (!lua_isboolean(s->L, -1))
    tm_lua_frame_end(s->L, -1);
  lua_pop(s->L, 1);
}

/* Adds rows for the first of the `n` values from 2 up. */
static int add_returned(lua_State *L, struct run *run, int n)
{
  const struct tm_setup *setup = run->script->setup;
  struct tm_buf *rows = setup->append_row ? run->rows : NULL;
  struct tm_extras *extras = run->call->extras;
  struct tm_lua_rows lines = { rows, setup->escapes_line_breaks, setup->separator != ' ',
                               extras ? &extras->faults : NULL };
  struct tm_lua_frame_rows to = { .separator = (char)setup->separator,
                                  .escapes = setup->escapes_line_breaks,
                                  .rows = rows,
                                  .columns = rows && extras ? &extras->columns : NULL };
  if (n > 0 && lua_istable(L, 2))
    return tm_lua_rows_add(L, 2, &lines, &run->returned, &run->err);
  if (n > 0 && tm_lua_is_frame(L, 2))
    return tm_lua_frame_rows(L, 2, &to, &run->returned, &run->err);
  return tm_lua_rows_refuse(L, 2, n, &run->err);
}

static int run_body(lua_State *L) /* (struct run *) */
{
  struct run *run = lua_touserdata(L, 1);
  struct script *s = run->script;
  tm_lua_memory_set_on(&s->memory, true);
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->hooks[HOOK_RUN]);
  if (s->given_ref != LUA_NOREF)
    lua_rawgeti(L, LUA_REGISTRYINDEX, s->given_ref);
  else if (run->call->frame)
    push_frame(L, s, run->call->frame);
  else
    push_mini_batch(L, run->call);
  tm_lua_context_push(L, &s->context, run->call);
  lua_call(L, 2, LUA_MULTRET); /* [run, returned ...] */
  int n = lua_gettop(L) - 1;
  lua_settop(L, n < 2 ? n + 1 : 3); /* looks at no more values than this */
  if (s->is_guest && n > 0) {
    lua_pushvalue(L, 2);
    s->returned_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  run->is_wrong = add_returned(L, run, n) < 0;
  return 0;
}

static int script_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                      uint32_t *returned, struct tm_script_error *error)
{
  struct script *s = data;
  struct run run;
  struct tm_lua_error e = { 0 };
  size_t begin = rows->len;
  run.script = s; /* sets single fields: `err` is large, and needed only for errors */
  run.call = call;
  run.rows = rows;
  run.returned = 0;
  run.is_wrong = false;
  tm_lua_begun_keep(&s->begun);
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->run_body_ref);
  lua_pushlightuserdata(s->L, &run);
  tm_lua_interrupt_enter(&s->interrupt);
  int code = tm_lua_pcall(s->L, 1, 0, &e);
  tm_lua_memory_set_on(&s->memory, false);
  bool is_interrupted = tm_lua_interrupt_leave(&s->interrupt);
  tm_lua_context_end(&s->context); /* keeps (3) */
  tm_lua_begun_end(&s->begun);
  if (call->frame)
    end_frame(s);
  *returned = run.returned;
  if (is_interrupted) {
    rows->len = begin; /* keeps (2) */
    tm_lua_error_release(&e);
    return give_interrupted(s, error, TM_RUN_TIMEOUT);
  }
  if (code == 0 && !run.is_wrong)
    return 0;
  rows->len = begin; /* keeps (2) */
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->hooks[HOOK_RUN]);
  if (code == 0) { /* no line raised it, so the place is the definition of run() */
    tm_lua_add_place(s->L, false, &error->where);
    return give_words(error, TM_RUN_WRONG_RETURN, &run.err);
  }
  tm_lua_error_place_tail(s->L, &e);
  return give_error(s, error, TM_RUN_EXCEPTION, &e);
}

static int guest_run(void *data, const struct tm_run_call *call, struct tm_buf *rows,
                     uint32_t *returned, struct tm_script_error *error)
{
  struct script *s = data;
  tm_require(s->is_guest && s->given_ref == LUA_NOREF && s->run_body_ref != LUA_NOREF);
  s->given_ref = luaL_ref(s->L, LUA_REGISTRYINDEX);
  s->returned_ref = LUA_NOREF;
  int code = script_run(s, call, rows, returned, error);
  luaL_unref(s->L, LUA_REGISTRYINDEX, s->given_ref);
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->returned_ref); /* LUA_NOREF: nil */
  luaL_unref(s->L, LUA_REGISTRYINDEX, s->returned_ref);
  s->given_ref = s->returned_ref = LUA_NOREF;
  return code;
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
  return code == 0 ? 0 : give_error(s, error, TM_RUN_EXCEPTION, &e);
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
    give_error(s, error, TM_RUN_EXCEPTION, &e);
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
    .run = s->is_guest ? guest_run : script_run,
    .arm = script_arm,
    .interrupt = script_interrupt,
    .shown = &s->interrupt.running.shown,
    .recover = script_recover,
    .retires = &s->retires,
    .shutdown = script_shutdown,
  };
}
