/* lib_onnx.c - tidemill.onnx_c, the C half of tidemill.onnx (stdlib/tidemill/onnx.lua), which has
 * checked the options.
 *
 * A session is a userdata that owns everything that a call needs, so that nothing is lost when
 * something raises. Functions that can fail return nil, message, code; the Lua half raises.
 */
#include "model/lib_onnx.h"

#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "bind/hold.h"
#include "bind/interrupt.h"
#include "bind/state.h"
#include "bind/stoppable.h"
#include "model/failure_words.h"
#include "model/lua_onnx.h"
#include "model/lua_tensor.h"
#include "model/prepared.h"
#include "sys/clock.h"
#include "sys/process.h"

#define TM_SESSION "tidemill.onnx.session"

struct session {
  char *shown;                      /* the model's path, for messages */
  struct tm_model_session *session; /* NULL: closed */
  const struct tm_tensor **inputs;  /* of a call, one for each input */
  size_t *outputs, outputs_len;     /* the wanted ones of a call */
  struct tm_results results;        /* of the last call, until they are pushed */
};

/* ---- arguments ---- */

/* A list of strings as a NULL-ended array in a userdata, which is pushed; the list keeps the
 * strings. */
static const char **push_strings(lua_State *L, int at)
{
  luaL_checktype(L, at, LUA_TTABLE);
  size_t n = lua_objlen(L, at);
  const char **list = lua_newuserdata(L, (n + 1) * sizeof *list);

  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, at, (int)i + 1);
    list[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  list[n] = NULL;
  return list;
}

static lua_Number number(lua_State *L, int at, const char *name)
{
  lua_getfield(L, at, name);
  lua_Number n = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return n;
}

/* The string lives as long as the table. */
static const char *text(lua_State *L, int at, const char *name)
{
  lua_getfield(L, at, name);
  const char *s = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  return s;
}

static bool flag(lua_State *L, int at, const char *name)
{
  lua_getfield(L, at, name);
  bool is_set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_set;
}

/* A list of {name, value} on top of the stack; leaves the array instead. */
static struct tm_settings take_settings(lua_State *L)
{
  luaL_checktype(L, -1, LUA_TTABLE);
  struct tm_settings s = { .len = lua_objlen(L, -1) };

  s.at = lua_newuserdata(L, (s.len + 1) * sizeof *s.at);
  for (size_t i = 0; i < s.len; i++) {
    lua_rawgeti(L, -2, (int)i + 1);
    lua_rawgeti(L, -1, 1);
    lua_rawgeti(L, -2, 2);
    s.at[i] =
        (struct tm_setting) { (char *)luaL_checkstring(L, -2), (char *)luaL_checkstring(L, -1) };
    lua_pop(L, 3);
  }
  return s;
}

/* providers = { {name = ..., settings = {{name, value}, ...}}, ... }; leaves values on the stack,
 * which own the memory. */
static void take_providers(lua_State *L, int at, struct tm_model_options *o)
{
  lua_getfield(L, at, "providers");
  luaL_checktype(L, -1, LUA_TTABLE);
  int list = lua_gettop(L);
  o->providers_len = lua_objlen(L, list);
  o->providers = lua_newuserdata(L, (o->providers_len + 1) * sizeof *o->providers);
  luaL_checkstack(L, 4 * (int)o->providers_len + 8, "too many providers");
  for (size_t i = 0; i < o->providers_len; i++) {
    lua_rawgeti(L, list, (int)i + 1);
    lua_getfield(L, -1, "name");
    o->providers[i].name = (char *)luaL_checkstring(L, -1);
    lua_getfield(L, -2, "settings");
    o->providers[i].settings = take_settings(L);
  }
}

static struct tm_model_options take_options(lua_State *L, int at)
{
  luaL_checktype(L, at, LUA_TTABLE);
  struct tm_model_options o = {
    .intra_threads = (int)number(L, at, "intra_op_num_threads"),
    .inter_threads = (int)number(L, at, "inter_op_num_threads"),
    .is_parallel = flag(L, at, "is_parallel"),
    .allows_spinning = flag(L, at, "allow_spinning"),
    .owns_process = flag(L, at, "owns_process"),
    .optimization = (enum tm_optimization)number(L, at, "optimization"),
    .rows_max = (int64_t)number(L, at, "rows_max"),
    .falls_back = flag(L, at, "falls_back"),
  };
  lua_getfield(L, at, "enable_cpu_mem_arena");
  o.arena = lua_isnil(L, -1) ? TM_ARENA_AUTO : lua_toboolean(L, -1) ? TM_ARENA_ON : TM_ARENA_OFF;
  take_providers(L, at, &o);
  lua_getfield(L, at, "config");
  o.config = take_settings(L);
  return o;
}

/* ---- the library ---- */

static void push_buf(lua_State *L, int held, const struct tm_buf *b)
{
  lua_pushlstring(L, tm_buf_str(b), b->len);
  tm_lua_let_go(L, held);
}

/* runtime(folders) -> path, version, names of providers as lines; or nil, message, code */
static int onnx_runtime(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const struct tm_runtime *r = tm_runtime_open(push_strings(L, 1), &err);

  if (!r)
    return tm_lua_push_err(L, &err);
  struct tm_buf *names = tm_lua_hold_buf(L);
  int held = lua_gettop(L);
  tm_runtime_add_providers(r, names);
  lua_pushstring(L, r->path);
  lua_pushstring(L, r->version);
  push_buf(L, held, names);
  return 3;
}

/* record() -> which library was loaded, as JSON; nil: none was */
static int onnx_record(lua_State *L)
{
  const struct tm_runtime *r = tm_runtime_opened();

  lua_pushstring(L, r ? r->record : NULL);
  return 1;
}

/* take_log() -> lines of the library since the last call, each begins with its level, 0 to 3; how
 * many more there were. Nothing: there are none. */
static int onnx_take_log(lua_State *L)
{
  struct tm_runtime *r = tm_runtime_opened();

  if (!r || tm_ort_log_is_empty(&r->log))
    return 0;
  struct tm_buf *lines = tm_lua_hold_buf(L);
  int held = lua_gettop(L);
  lua_Number lost = (lua_Number)tm_ort_log_take(&r->log, lines);
  push_buf(L, held, lines);
  lua_pushnumber(L, lost);
  return 2;
}

/* cores() -> how many this process may use */
static int onnx_cores(lua_State *L)
{
  lua_pushinteger(L, tm_process_cores());
  return 1;
}

/* bytes(text) -> the bytes of "4GB"; nil: not a size */
static int onnx_bytes(lua_State *L)
{
  int64_t bytes;

  if (tm_text_size(luaL_checkstring(L, 1), &bytes))
    lua_pushnumber(L, (lua_Number)bytes);
  else
    lua_pushnil(L);
  return 1;
}

/* repeats(line, message) -> whether a line of the library's log says nothing that the message does
 * not say */
static int onnx_repeats(lua_State *L)
{
  lua_pushboolean(L, tm_failure_repeats(luaL_checkstring(L, 1), luaL_checkstring(L, 2)));
  return 1;
}

/* ---- a session ---- */

/* nil, message, code, whether a GPU failed */
static int push_failure(lua_State *L, const struct tm_err *err)
{
  int n = tm_lua_push_err(L, err);

  lua_pushboolean(L, tm_failure_is_of_gpu(err->text));
  return n + 1;
}

static struct session *check_session(lua_State *L)
{
  struct session *s = luaL_checkudata(L, 1, TM_SESSION);

  if (!s->session) {
    struct tm_err err;
    tm_err_set(&err, TM_EUSAGE, "cannot run '%s': the session is closed", s->shown);
    tm_lua_raise(L, &err);
  }
  return s;
}

static int session_close(lua_State *L)
{
  struct session *s = luaL_checkudata(L, 1, TM_SESSION);

  tm_results_release(&s->results);
  tm_model_session_close(s->session);
  free(s->inputs);
  free(s->outputs);
  *s = (struct session) { .shown = s->shown };
  return 0;
}

static int session_collect(lua_State *L)
{
  struct session *s = luaL_checkudata(L, 1, TM_SESSION);

  session_close(L);
  free(s->shown);
  s->shown = NULL;
  return 0;
}

static struct session *push_session(lua_State *L)
{
  struct session *s = lua_newuserdata(L, sizeof *s);

  *s = (struct session) { 0 };
  luaL_getmetatable(L, TM_SESSION);
  lua_setmetatable(L, -2);
  return s;
}

struct opening {
  struct session *to;
  const char *path;
  const char *const *folders;
  struct tm_model_options options;
  struct tm_model_loading loading;
  struct tm_err err;
};

static int open_body(void *data)
{
  struct opening *o = data;
  struct tm_runtime *r = tm_runtime_open(o->folders, &o->err);

  if (!r) {
    tm_err_wrap(&o->err, "cannot load '%s'", o->options.shown);
    return o->err.code;
  }
  o->to->session = tm_model_session_open(r, o->path, &o->options, &o->loading, &o->err);
  if (!o->to->session)
    return o->err.code;
  const struct tm_signature *s = &tm_model_session_model(o->to->session)->signature;
  o->to->shown = tm_xstrdup(o->options.shown);
  o->to->inputs = tm_xcalloc(s->inputs.len + 1, sizeof *o->to->inputs);
  o->to->outputs = tm_xcalloc(s->outputs.len + 1, sizeof *o->to->outputs);
  return 0;
}

static void open_stop(void *data)
{
  tm_model_loading_stop(&((struct opening *)data)->loading);
}

/* open(path, options, folders, shown) -> session, what the model says, seconds; or nil, message,
 * code, whether a GPU failed, whether a provider cannot be used. `shown`: the path in messages */
static int onnx_open(lua_State *L)
{
  struct opening o = { .path = luaL_checkstring(L, 1), .err = TM_ERR_NONE };
  const struct tm_lua_stoppable call = { open_body, open_stop, &o };

  lua_settop(L, 4);
  o.folders = push_strings(L, 3);
  o.options = take_options(L, 2);
  o.options.shown = luaL_checkstring(L, 4);
  o.to = push_session(L);
  int at = lua_gettop(L);
  int64_t begin = tm_clock_mono_ns();
  if (tm_lua_call_stoppable(L, &call) < 0) {
    int n = push_failure(L, &o.err);
    lua_pushboolean(L, o.loading.lacks_provider);
    return n + 1;
  }
  lua_pushvalue(L, at);
  tm_lua_push_model(L, tm_model_session_model(o.to->session));
  lua_pushnumber(L, (lua_Number)(tm_clock_mono_ns() - begin) / 1e9);
  return 3;
}

/* ---- one copy of the weights ---- */

struct preparation {
  const char *path;
  const char *const *folders;
  struct tm_model_options options;
  struct tm_preparing preparing;
  struct tm_prepared result;
  struct tm_err err;
};

static int prepare_body(void *data)
{
  struct preparation *p = data;
  struct tm_runtime *r = tm_runtime_open(p->folders, &p->err);

  return r ? tm_prepared_find(&p->result, r, p->path, &p->options, &p->preparing, &p->err) : 0;
}

static void prepare_stop(void *data)
{
  tm_preparing_stop(&((struct preparation *)data)->preparing);
}

/* `at` is place of prepare(); its strings live as long as that table. */
static struct tm_preparing take_place(lua_State *L, int at)
{
  luaL_checktype(L, at, LUA_TTABLE);
  return (struct tm_preparing) { .fs = tm_fs_real(),
                                 .folder = text(L, at, "models_dir"),
                                 .session = text(L, at, "session"),
                                 .weights_min = (int64_t)number(L, at, "weights_min"),
                                 .is_limited = flag(L, at, "is_limited") };
}

/* prepare(path, options, folders, place, wait_s) -> state, text: "ready" or "made" and the path of
 * the copy; "busy": another process makes it; "plain", "unchecked" or "refused" and the reason;
 * "none": there is no need, or the model or the library cannot be loaded */
static int onnx_prepare(lua_State *L)
{
  static const char *const states[] = {
    [TM_PREPARED_NONE] = "none",          [TM_PREPARED_READY] = "ready",
    [TM_PREPARED_MADE] = "made",          [TM_PREPARED_BUSY] = "busy",
    [TM_PREPARED_PLAIN] = "plain",        [TM_PREPARED_REFUSED] = "refused",
    [TM_PREPARED_UNCHECKED] = "unchecked"
  };
  struct preparation p = { .path = luaL_checkstring(L, 1), .err = TM_ERR_NONE };
  const struct tm_lua_stoppable call = { prepare_body, prepare_stop, &p };
  bool is_interrupted;

  lua_settop(L, 5);
  p.preparing = take_place(L, 4);
  p.preparing.wait_ns = (int64_t)(luaL_checknumber(L, 5) * 1e9);
  p.folders = push_strings(L, 3);
  p.options = take_options(L, 2);
  p.options.shown = p.path;
  int rc = tm_lua_try_stoppable(L, &call, &is_interrupted);
  lua_pushstring(L, states[p.result.state]);
  lua_pushstring(L, p.result.path ? p.result.path : p.result.why);
  tm_prepared_release(&p.result);
  if (is_interrupted)
    tm_lua_interrupt_raise_if_due(L);
  return rc < 0 ? tm_lua_push_err(L, &p.err) : 2;
}

/* ---- a call ---- */

/* Raises at the caller's line. */
static void refuse(lua_State *L, const struct tm_err *err)
{
  tm_lua_raise(L, err);
}

static const struct tm_tensor *take_tensor(lua_State *L, int at, const char *name)
{
  struct tm_err err;

  if (!tm_lua_is_tensor(L, at)) {
    tm_err_set(&err, TM_EUSAGE,
               "input '%s' is a %s; accepted: a tensor, such as that of tensor.from_table(type, "
               "values)",
               name, luaL_typename(L, at));
    refuse(L, &err);
  }
  return tm_lua_check_tensor(L, at);
}

/* Raises: `what` was given instead of tensors by name. */
static void refuse_nameless(lua_State *L, const struct tm_model_values *inputs, const char *what)
{
  struct tm_err err;

  tm_err_set(&err, TM_EUSAGE,
             "%s, and the model has %zu input%s; accepted: a table by name, { %s = tensor%s }",
             what, inputs->len, inputs->len == 1 ? "" : "s",
             inputs->len > 0 ? inputs->at[0].name : "name", inputs->len == 1 ? "" : ", ...");
  refuse(L, &err);
}

/* A key that is not a name. A number is not converted, which would confuse lua_next(). */
static void refuse_key(lua_State *L, int at, const struct tm_model_values *inputs)
{
  char what[80];

  if (lua_type(L, at) == LUA_TNUMBER)
    snprintf(what, sizeof what, "the inputs have the key %.14g", lua_tonumber(L, at));
  else
    snprintf(what, sizeof what, "the inputs have a %s as a key", luaL_typename(L, at));
  refuse_nameless(L, inputs, what);
}

static void take_single(lua_State *L, struct session *s, const struct tm_model_values *inputs)
{
  if (inputs->len != 1)
    refuse_nameless(L, inputs, "one tensor was given");
  s->inputs[0] = tm_lua_check_tensor(L, 2);
}

static void take_inputs(lua_State *L, struct session *s, const struct tm_model_values *inputs)
{
  struct tm_err err;

  memset(s->inputs, 0, inputs->len * sizeof *s->inputs);
  if (tm_lua_is_tensor(L, 2)) {
    take_single(L, s, inputs);
    return;
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, 2)) { /* [name, tensor] */
    int value = lua_gettop(L);
    if (lua_type(L, value - 1) != LUA_TSTRING)
      refuse_key(L, value - 1, inputs);
    const char *name = lua_tostring(L, value - 1);
    int i = tm_model_values_find(inputs, "input", name, &err);
    if (i < 0)
      refuse(L, &err);
    s->inputs[i] = take_tensor(L, value, name);
    lua_pop(L, 1);
  }
}

static void take_outputs(lua_State *L, struct session *s, const struct tm_model_values *outputs)
{
  struct tm_err err;
  bool is_all = lua_isnoneornil(L, 3);

  s->outputs_len = is_all ? outputs->len : lua_objlen(L, 3);
  luaL_argcheck(L, s->outputs_len <= outputs->len, 3, "more names than outputs");
  for (size_t i = 0; i < s->outputs_len; i++) {
    s->outputs[i] = i;
    if (is_all)
      continue;
    lua_rawgeti(L, 3, (int)i + 1);
    int place = tm_model_values_find(outputs, "output", luaL_checkstring(L, -1), &err);
    if (place < 0)
      refuse(L, &err);
    s->outputs[i] = (size_t)place;
    lua_pop(L, 1);
  }
}

struct running {
  struct session *s;
  struct tm_err err;
};

static int run_body(void *data)
{
  struct running *r = data;
  struct session *s = r->s;

  return tm_model_session_run(s->session, s->inputs, s->outputs, s->outputs_len, &s->results,
                              &r->err);
}

static void run_stop(void *data)
{
  tm_model_session_stop(((struct running *)data)->s->session);
}

/* run(session, inputs, names of outputs or nil) -> outputs; or nil, message, code, whether a GPU
 * failed */
static int onnx_run(lua_State *L)
{
  struct session *s = check_session(L);
  const struct tm_signature *signature = &tm_model_session_model(s->session)->signature;
  struct running r = { .s = s, .err = TM_ERR_NONE };
  const struct tm_lua_stoppable call = { run_body, run_stop, &r };

  lua_settop(L, 3);
  tm_results_release(&s->results);
  take_inputs(L, s, &signature->inputs);
  take_outputs(L, s, &signature->outputs);
  luaL_checkstack(L, (int)s->outputs_len + 8, "too many outputs");
  tm_model_session_forget_stop(s->session);
  if (tm_lua_call_stoppable(L, &call) < 0)
    return push_failure(L, &r.err);
  for (size_t i = 0; i < s->outputs_len; i++)
    if (!tm_lua_push_output(L, &s->results, i, &r.err)) {
      tm_err_wrap(&r.err, "cannot run '%s'", s->shown);
      return tm_lua_push_err(L, &r.err);
    }
  tm_results_release(&s->results);
  return (int)s->outputs_len;
}

static const luaL_Reg session_methods[] = {
  { "__gc", session_collect },
  { NULL, NULL },
};

static const luaL_Reg onnx_functions[] = {
  { "runtime", onnx_runtime },
  { "record", onnx_record },
  { "take_log", onnx_take_log },
  { "cores", onnx_cores },
  { "bytes", onnx_bytes },
  { "open", onnx_open },
  { "run", onnx_run },
  { "prepare", onnx_prepare },
  { "close", session_close },
  { "repeats", onnx_repeats },
  { NULL, NULL },
};

int tm_lua_open_onnx_c(lua_State *L)
{
  if (luaL_newmetatable(L, TM_SESSION))
    luaL_setfuncs(L, session_methods, 0);
  luaL_newlib(L, onnx_functions);
  return 1;
}
