/* session.c - see session.h.
 *
 * We call the user's code through tm_lua_pcall(), between tm_lua_interrupt_enter() and _leave(), so
 * its stack has no frame of ours. We show its values in the same way, because this calls their
 * __tostring.
 *
 * We call no other Lua functions except those of repl.lua. They may raise if memory runs out; the
 * user then gets the message.
 */
#include "prompt/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "bind/begun.h"
#include "bind/hold.h"
#include "bind/interrupt.h"
#include "bind/sources.h"
#include "bind/state.h"
#include "plan/names.h"
#include "prompt/lib_job.h"
#include "prompt/own_runtime.h"
#include "prompt/returned.h"
#include "sys/fs.h"

#define FILE_MAX (64u << 20) /* bytes of Lua */

struct tm_lua_session {
  lua_State *L;
  struct tm_lua_profiler profiler;
  struct tm_lua_interrupt interrupt;
  bool has_guards;
  int repl_ref; /* repl.lua's table, in the registry; LUA_NOREF before a prompt has begun */
  /* the result of keep_strings() when the prompt began */
  int strings_ref;
  struct tm_lua_begun begun; /* by lines of the prompt */
  struct tm_lua_prompt prompt;
};

struct tm_lua_session *tm_lua_session_new(const struct tm_lua_module *modules, struct tm_err *err)
{
  lua_State *L = tm_lua_new(modules, err);
  if (!L)
    return NULL;
  struct tm_lua_session *s = TM_NEW(struct tm_lua_session);
  s->L = L;
  s->repl_ref = LUA_NOREF;
  return s;
}

void tm_lua_session_free(struct tm_lua_session *s)
{
  if (!s)
    return;
  if (s->has_guards)
    tm_lua_profiler_close(&s->profiler);
  tm_lua_free(s->L);
  tm_lua_interrupt_release(&s->interrupt);
  free(s);
}

void tm_lua_session_show_notes(struct tm_lua_session *s)
{
  lua_pushboolean(s->L, true);
  lua_setfield(s->L, LUA_REGISTRYINDEX, TM_LUA_NOTES);
}

/* ---- messages ---- */

/* Adds "place: message", and the stack if it shows more than the place. */
static void add_failure(struct tm_buf *out, const struct tm_lua_error *e)
{
  const char *stack = tm_buf_str(&e->stack), *first = strstr(stack, "\n\t");
  if (e->where.len > 0)
    tm_buf_printf(out, "%s: ", e->where.data);
  tm_buf_add_str(out, tm_buf_str(&e->message));
  if (first && strstr(first + 1, "\n\t"))
    tm_buf_printf(out, "\n%s", stack);
}

static int fail(struct tm_buf *out, struct tm_lua_error *e)
{
  add_failure(out, e);
  tm_lua_error_release(e);
  return TM_ESCRIPT;
}

/* ---- scripts ---- */

/* (words, their number): sets `arg`, and returns all but the first. */
static int take_words(lua_State *L)
{
  char *const *words = lua_touserdata(L, 1);
  int n = (int)lua_tointeger(L, 2);
  tm_require(words && n > 0);
  luaL_checkstack(L, n + 4, "too many arguments");
  lua_createtable(L, n, 1);
  for (int i = 0; i < n; i++) {
    lua_pushstring(L, words[i]);
    lua_rawseti(L, -2, i);
  }
  lua_setglobal(L, "arg");
  for (int i = 1; i < n; i++)
    lua_pushstring(L, words[i]);
  return n > 1 ? n - 1 : 0;
}

/* Compiles the text; pushes the piece and its arguments. Returns how many arguments; or
 * TM_ESCRIPT. */
static int push_piece(lua_State *L, const char *text, size_t len, const char *shown_as,
                      char *const *words, size_t words_len, struct tm_lua_error *e)
{
  int base = lua_gettop(L);
  int rc = tm_lua_load(L, text, len, shown_as, e);
  if (rc < 0 || words_len == 0)
    return rc;
  lua_pushcfunction(L, take_words);
  lua_pushlightuserdata(L, (void *)words);
  lua_pushinteger(L, (lua_Integer)words_len);
  rc = tm_lua_pcall(L, 2, LUA_MULTRET, e);
  if (rc < 0)
    lua_settop(L, base);
  return rc < 0 ? rc : lua_gettop(L) - base - 1;
}

/* Runs the piece; leaves its first result on top of the stack unless it fails. */
static int run_text(struct tm_lua_session *s, const char *text, size_t len, const char *shown_as,
                    char *const *words, size_t words_len, struct tm_buf *failure)
{
  struct tm_lua_error e = { 0 };
  int n = push_piece(s->L, text, len, shown_as, words, words_len, &e);
  int rc = n < 0 ? n : tm_lua_pcall(s->L, n, 1, &e);
  return rc < 0 ? fail(failure, &e) : 0;
}

int tm_lua_session_run(struct tm_lua_session *s, const char *text, size_t len, const char *shown_as,
                       char *const *words, size_t words_len, struct tm_buf *failure)
{
  int rc = run_text(s, text, len, shown_as, words, words_len, failure);
  if (rc >= 0)
    lua_pop(s->L, 1);
  return rc;
}

static void raise_stop(lua_State *L, lua_Debug *ar) /* the hook */
{
  lua_sethook(L, NULL, 0, 0);
  luaL_where(L, 0);
  lua_pushliteral(L, "interrupted!");
  lua_concat(L, 2);
  lua_error(L);
}

bool tm_lua_session_is_stopping(const struct tm_lua_session *s)
{
  return lua_gethook(s->L) == raise_stop;
}

bool tm_lua_session_stop(struct tm_lua_session *s)
{
  if (tm_lua_session_is_stopping(s))
    return false;
  lua_sethook(s->L, raise_stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
  return true;
}

static int read_file(const char *path, struct tm_buf *text, struct tm_buf *failure)
{
  struct tm_err err = TM_ERR_NONE;
  const char *foreign = tm_names_of_file(path);
  int rc = foreign ? tm_err_set(&err, TM_EUSAGE, "cannot run '%s': %s", path, foreign)
                   : tm_fs_read_file(tm_fs_real(), path, FILE_MAX, text, &err);
  if (rc < 0)
    tm_buf_add_str(failure, err.text);
  return rc;
}

int tm_lua_session_run_file(struct tm_lua_session *s, const char *path, char *const *words,
                            size_t words_len, struct tm_buf *failure)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = read_file(path, &text, failure);
  if (rc >= 0)
    rc = run_text(s, tm_buf_str(&text), text.len, path, words, words_len, failure);
  tm_buf_release(&text);
  if (rc < 0)
    return rc;
  if (tm_lua_returned_pipeline(s->L) && !tm_lua_own_runtime(s->L)) {
    tm_buf_printf(failure, "'%s' returns a pipeline, and nothing has run it; run it: tidemill run ",
                  path);
    tm_text_shell(failure, path);
    rc = TM_EUSAGE;
  } else if (tm_lua_returned_entry_script(s->L, path)) {
    tm_buf_printf(failure, "'%s' has been run as plain Lua; its run() over files: tidemill map ",
                  path);
    tm_text_shell(failure, path);
    tm_buf_add_str(failure, " INPUT...");
  }
  lua_pop(s->L, 1);
  return rc;
}

void tm_lua_session_set_screen(struct tm_lua_session *s, const struct tidemill_screen *screen)
{
  tm_lua_set_screen(s->L, screen);
}

struct tidemill_runtime *tm_lua_session_unfinished(struct tm_lua_session *s, size_t *len)
{
  *len = tm_lua_running_jobs(s->L);
  return *len > 0 ? tm_lua_own_runtime(s->L) : NULL;
}

struct tidemill_job *tm_lua_session_unfinished_job(struct tm_lua_session *s, size_t i)
{
  return tm_lua_running_job(s->L, i);
}

static int require_global(lua_State *L)
{
  lua_getglobal(L, "require");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_rawset(L, LUA_GLOBALSINDEX);
  return 0;
}

int tm_lua_session_require(struct tm_lua_session *s, const char *name, struct tm_buf *failure)
{
  struct tm_lua_error e = { 0 };
  lua_pushcfunction(s->L, require_global);
  lua_pushstring(s->L, name);
  return tm_lua_pcall(s->L, 1, 0, &e) < 0 ? fail(failure, &e) : 0;
}

/* ---- the prompt ---- */

/* help_of(topic) -> text, or nil. Upvalue 1: the session. */
static int help_of(lua_State *L)
{
  struct tm_lua_session *s = lua_touserdata(L, lua_upvalueindex(1));
  const char *topic = luaL_checkstring(L, 1);
  struct tm_buf *out = tm_lua_hold_buf(L);
  if (!s->prompt.help || !s->prompt.help(s->prompt.data, out, topic))
    return 0;
  lua_pushlstring(L, tm_buf_str(out), out->len);
  return 1;
}

/* source(i) -> module, label and text of the i-th compiled-in module, from 1; nothing after the
 * last.
 */
static int source_of(lua_State *L)
{
  lua_Integer wanted = luaL_checkinteger(L, 1);
  const struct tm_lua_source *s = tm_lua_sources;
  for (lua_Integer i = 1; i < wanted && s->module; i++)
    s++;
  if (!s->module)
    return 0;
  lua_pushstring(L, s->module);
  lua_pushstring(L, s->label);
  lua_pushlstring(L, s->text, s->text_len);
  return 3;
}

/* say(words). Upvalue 1: the session. */
static int say(lua_State *L)
{
  const struct tm_lua_session *s = lua_touserdata(L, lua_upvalueindex(1));
  s->prompt.say(s->prompt.data, luaL_checkstring(L, 1));
  return 0;
}

/* set_status(words or nil). Upvalue 1: the session. */
static int set_status(lua_State *L)
{
  const struct tm_lua_session *s = lua_touserdata(L, lua_upvalueindex(1));
  s->prompt.set_status(s->prompt.data, luaL_optstring(L, 1, NULL));
  return 0;
}

/* width() -> columns. Upvalue 1: the session. */
static int width_of(lua_State *L)
{
  const struct tm_lua_session *s = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushinteger(L, s->prompt.width(s->prompt.data));
  return 1;
}

/* keep_strings() -> { metatable of strings, `string`, metatable with a copy of `string` as __index
 * } */
static int keep_strings(lua_State *L)
{
  lua_createtable(L, 3, 0);
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_rawseti(L, -3, 1);
  lua_pop(L, 1);
  lua_getglobal(L, "string");
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, 2);
  lua_createtable(L, 0, 1);
  lua_createtable(L, 0, 24); /* [kept, string, meta, copy] */
  for (lua_pushnil(L); lua_next(L, -4); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
  }
  lua_setfield(L, -2, "__index");
  lua_rawseti(L, -3, 3);
  lua_pop(L, 1);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

static int begin(lua_State *L)
{
  struct tm_lua_session *s = lua_touserdata(L, 1);
  tm_lua_profiler_open(L, &s->profiler);
  s->has_guards = true;
  tm_lua_interrupt_open(L, &s->interrupt, &s->profiler);
  s->strings_ref = keep_strings(L);
  tm_lua_begun_open(L, &s->begun);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tidemill.repl");
  lua_call(L, 1, 1);
  lua_pushvalue(L, -1);
  s->repl_ref = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_getfield(L, -1, "open");
  lua_pushcfunction(L, source_of);
  static const lua_CFunction functions[] = { help_of, say, set_status, width_of };
  for (size_t i = 0; i < TM_COUNT_OF(functions); i++) {
    lua_pushlightuserdata(L, s);
    lua_pushcclosure(L, functions[i], 1);
  }
  tm_lua_set_runtime(L, s->prompt.runtime);
  tm_lua_set_beside(L, s->prompt.background);
  lua_call(L, 5, 0);
  return 0;
}

int tm_lua_session_begin_prompt(struct tm_lua_session *s, const struct tm_lua_prompt *p,
                                struct tm_err *err)
{
  struct tm_lua_error e = { 0 };
  tm_require(s->repl_ref == LUA_NOREF && !s->has_guards); /* a session has one prompt */
  s->prompt = *p;
  lua_pushcfunction(s->L, begin);
  lua_pushlightuserdata(s->L, s);
  if (tm_lua_pcall(s->L, 1, 0, &e) < 0) {
    tm_err_set(err, TM_ESCRIPT, "cannot prepare a prompt: %s", tm_buf_str(&e.message));
    tm_lua_error_release(&e);
    return TM_ESCRIPT;
  }
  tm_lua_interrupt_arm(&s->interrupt);
  return 0;
}

bool tm_lua_session_interrupt(struct tm_lua_session *s)
{
  tm_lua_interrupt_poke(&s->interrupt);
  return s->interrupt.is_in_user != 0;
}

bool tm_lua_session_is_running(const struct tm_lua_session *s)
{
  return s->interrupt.is_in_user != 0;
}

/* Pushes a function of repl.lua. */
static void push_function(struct tm_lua_session *s, const char *name)
{
  tm_require(s->repl_ref != LUA_NOREF);
  lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->repl_ref);
  lua_pushstring(s->L, name);
  lua_rawget(s->L, -2);
  lua_remove(s->L, -2);
}

/* Takes the message of the first interruption, with its place; or the error of a C function that
 * ended before. */
static void take_interruption(struct tm_lua_session *s, struct tm_lua_error *e, bool has_raised)
{
  if (has_raised) {
    tm_lua_error_release(e);
    *e = (struct tm_lua_error) { .stack = s->interrupt.stack, .where = s->interrupt.where };
    s->interrupt.stack = s->interrupt.where = (struct tm_buf)TM_BUF_NONE;
  }
  tm_buf_clear(&e->message);
  tm_buf_add_str(&e->message, "interrupted");
}

/* Drops modules that an interruption left half loaded. */
static void forget_half_loaded(struct tm_lua_session *s)
{
  push_function(s, "forget_half_loaded");
  (void)tm_lua_pcall(s->L, 0, 0, NULL);
}

/* Calls a function that can be interrupted; the function and `nargs` arguments are on the stack. */
static enum tm_lua_fed call(struct tm_lua_session *s, int nargs, int nresults, struct tm_buf *out)
{
  struct tm_lua_error e = { 0 };
  int base = lua_gettop(s->L) - nargs - 1;
  tm_require(base >= 0);
  tm_lua_interrupt_enter(&s->interrupt);
  int rc = tm_lua_pcall(s->L, nargs, nresults, &e);
  bool has_raised = tm_lua_interrupt_leave(&s->interrupt);
  if (s->interrupt.is_poked) {
    lua_settop(s->L, base);
    forget_half_loaded(s);
    take_interruption(s, &e, has_raised);
    fail(out, &e);
    return TM_LUA_INTERRUPTED;
  }
  if (rc == 0)
    return TM_LUA_DONE;
  fail(out, &e);
  return TM_LUA_FAILED;
}

void tm_lua_session_hear(struct tm_lua_session *s)
{
  bool goes_on = s->prompt.background != NULL;
  while (goes_on) {
    tm_lua_interrupt_enter(&s->interrupt);
    goes_on = tm_lua_hear_job(s->L);
    if (tm_lua_interrupt_leave(&s->interrupt)) {
      char *words = tm_xprintf("%s: on_event was interrupted", tm_buf_str(&s->interrupt.where));
      s->prompt.say(s->prompt.data, words);
      free(words);
      forget_half_loaded(s);
    }
  }
}

int tm_lua_session_running(struct tm_lua_session *s)
{
  int n = 0;
  push_function(s, "running");
  if (tm_lua_pcall(s->L, 0, 1, NULL) == 0) {
    n = (int)lua_tointeger(s->L, -1);
    lua_pop(s->L, 1);
  }
  return n;
}

/* Appends the string on top of the stack, and pops it. */
static void take_text(lua_State *L, struct tm_buf *out)
{
  tm_require(lua_gettop(L) > 0);
  size_t len;
  const char *text = lua_tolstring(L, -1, &len);
  if (text)
    tm_buf_add(out, text, len);
  lua_pop(L, 1);
}

static int collect(lua_State *L)
{
  lua_gc(L, LUA_GCCOLLECT, 0);
  return 0;
}

/* Ends the work of loops that were left early; a loop that a variable has goes on. */
static void end_left_loops(struct tm_lua_session *s)
{
  if (tm_lua_begun_is_empty(&s->begun))
    return;
  lua_pushcfunction(s->L, collect);
  (void)tm_lua_pcall(s->L, 0, 0, NULL); /* it calls finalizers of the user's */
}

/* Calls the piece on the stack with `nargs` arguments, and shows its results. */
static enum tm_lua_fed run_piece(struct tm_lua_session *s, int nargs,
                                 const struct tm_lua_look *look, struct tm_buf *out)
{
  int base = lua_gettop(s->L) - nargs - 1;
  enum tm_lua_fed fed = call(s, nargs, LUA_MULTRET, out);
  int n = lua_gettop(s->L) - base;
  if (fed == TM_LUA_DONE && n > 0) {
    if (!lua_checkstack(s->L, 4))
      lua_settop(s->L, base + (n = 1));
    push_function(s, "shown");
    lua_pushinteger(s->L, look->width);
    lua_pushboolean(s->L, look->has_color);
    for (int i = 0; i < 3; i++)
      lua_insert(s->L, base + 1); /* [shown, width, has_color, values ...] */
    fed = call(s, n + 2, 1, out);
    if (fed == TM_LUA_DONE)
      take_text(s->L, out);
  }
  lua_settop(s->L, base);
  end_left_loops(s);
  return fed;
}

enum tm_lua_fed tm_lua_session_feed(struct tm_lua_session *s, const char *text, size_t len,
                                    const char *name, const struct tm_lua_look *look,
                                    struct tm_buf *out)
{
  struct tm_lua_error e = { 0 };
  push_function(s, "compile");
  lua_pushlstring(s->L, text, len);
  lua_pushfstring(s->L, "=%s", name);
  if (tm_lua_pcall(s->L, 2, 2, &e) < 0) {
    fail(out, &e);
    return TM_LUA_FAILED;
  }
  if (lua_isfunction(s->L, -2)) {
    if (lua_isnumber(s->L, -1))
      lua_pushfstring(s->L, "%s:%d", name, (int)lua_tointeger(s->L, -1));
    else
      lua_pushnil(s->L);
    lua_setfield(s->L, LUA_REGISTRYINDEX, TM_LUA_TAIL);
    lua_pop(s->L, 1);
    return run_piece(s, 0, look, out);
  }
  tm_require(lua_isstring(s->L, -1)); /* "more", or a message */
  bool is_more = strcmp(lua_tostring(s->L, -1), "more") == 0;
  if (!is_more)
    tm_buf_add_str(out, lua_tostring(s->L, -1));
  lua_pop(s->L, 2);
  return is_more ? TM_LUA_MORE : TM_LUA_FAILED;
}

enum tm_lua_fed tm_lua_session_feed_file(struct tm_lua_session *s, const char *path,
                                         char *const *words, size_t words_len,
                                         const struct tm_lua_look *look, struct tm_buf *out)
{
  struct tm_lua_error e = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  enum tm_lua_fed fed = TM_LUA_FAILED;
  if (read_file(path, &text, out) >= 0) {
    int n = push_piece(s->L, tm_buf_str(&text), text.len, path, words, words_len, &e);
    if (n < 0)
      fail(out, &e);
    else
      fed = run_piece(s, n, look, out);
  }
  tm_buf_release(&text);
  return fed;
}

/* If the user has changed the metatable of strings, pushes it and restores the original one:
 * true, and the caller must put it back. Otherwise changes nothing, because LuaJIT drops its
 * compiled code at such a change. */
static bool push_changed_strings(struct tm_lua_session *s)
{
  lua_State *L = s->L;
  lua_rawgeti(L, LUA_REGISTRYINDEX, s->strings_ref);
  int kept = lua_gettop(L);
  lua_pushliteral(L, "");
  bool is_changed = !lua_getmetatable(L, -1);
  if (is_changed)
    lua_pushnil(L); /* [kept, "", meta] */
  lua_rawgeti(L, kept, 1);
  is_changed = is_changed || !lua_rawequal(L, -1, -2);
  lua_pushliteral(L, "__index");
  lua_rawget(L, -2);
  lua_rawgeti(L, kept, 2);
  is_changed = is_changed || !lua_rawequal(L, -1, -2);
  lua_settop(L, kept + 2);
  lua_insert(L, kept); /* [meta, kept, ""] */
  if (is_changed) {
    lua_rawgeti(L, kept + 1, 3);
    lua_setmetatable(L, -2);
  }
  lua_settop(L, kept);
  return is_changed;
}

void tm_lua_session_complete(struct tm_lua_session *s, const char *text, size_t len, int width,
                             struct tm_buf *insert, struct tm_buf *list)
{
  struct tm_buf words = TM_BUF_NONE;
  int top = lua_gettop(s->L);
  bool has_changed = push_changed_strings(s);
  push_function(s, "complete");
  lua_pushlstring(s->L, text, len);
  lua_pushinteger(s->L, width);
  if (call(s, 2, 2, &words) == TM_LUA_DONE) {
    take_text(s->L, list);
    take_text(s->L, insert);
  }
  if (has_changed) { /* [meta] */
    lua_pushliteral(s->L, "");
    lua_insert(s->L, -2);
    lua_setmetatable(s->L, -2);
  }
  lua_pop(s->L, 1);
  tm_require(lua_gettop(s->L) == top);
  tm_buf_release(&words);
}
