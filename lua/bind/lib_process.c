/* lib_process.c - the C half of tidemill.process: starts a program, or runs it to its end
 * (sys/program.h).
 *
 * stdlib/tidemill/process.lua checks the script's arguments and passes one table of settings with
 * strings, numbers and booleans of the right types. The strings are used in place: that table keeps
 * them alive.
 *
 *  (1) Arrays of pointers are userdata, and output goes into held buffers, so that an error leaks
 *      nothing.
 *  (2) Buffered output of C is written to stdout before a program starts, so that lines keep their
 *      order.
 *  (3) A program that was started but not waited for is kept in a table of the registry, by its
 *      userdata. Whenever another one starts, programs that have ended are reaped, even if the
 *      script has no reference to them.
 */
#include <lauxlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "bind/hold.h"
#include "bind/interrupt.h"
#include "bind/libs.h"
#include "bind/state.h"
#include "sys/program.h"

#define TM_PROGRAM "tidemill.program"
#define OUTPUT_MAX ((size_t)1 << 30) /* bytes of each of stdout and stderr that are captured */

static const char running_key = 0; /* its address names the table of (3) */

struct program {
  pid_t pid;
  bool has_ended; /* reaped: keeps sys/program.c (3) */
  struct tm_process_end end;
};

/* ---- settings ---- */

/* A string of the table at 1, or NULL; the table keeps it. */
static const char *setting(lua_State *L, const char *name, size_t *len)
{
  lua_getfield(L, 1, name);
  const char *s = lua_tolstring(L, -1, len);
  lua_pop(L, 1);
  return s;
}

static bool flag(lua_State *L, const char *name)
{
  lua_getfield(L, 1, name);
  bool is_set = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return is_set;
}

/* Seconds as ns; `otherwise` if missing. */
static int64_t duration(lua_State *L, const char *name, int64_t otherwise)
{
  lua_getfield(L, 1, name);
  int64_t ns = lua_isnil(L, -1) ? otherwise : (int64_t)(lua_tonumber(L, -1) * 1e9);
  lua_pop(L, 1);
  return ns;
}

/* The list at `at` as a NULL-ended array, a userdata on top of the stack. Keeps (1). */
static char **push_list(lua_State *L, int at, size_t more)
{
  size_t n = lua_objlen(L, at);
  char **list = lua_newuserdata(L, (n + more + 1) * sizeof *list);
  for (size_t i = 0; i < n; i++) {
    lua_rawgeti(L, at, (int)i + 1);
    list[i] = (char *)lua_tostring(L, -1); /* not written to */
    lua_pop(L, 1);
  }
  list[n] = NULL;
  return list;
}

/* Whether `changes` at `at`, { NAME = true }, has the variable. */
static bool is_changed(lua_State *L, int at, const char *variable)
{
  lua_pushlstring(L, variable, strcspn(variable, "="));
  lua_rawget(L, at);
  bool is_there = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return is_there;
}

/* env: { "NAME=value", ... }, the inherited variables except those in `changes`. NULL: inherits
 * all. */
static char **push_env(lua_State *L)
{
  size_t inherited = 0;
  lua_getfield(L, 1, "env");
  if (lua_isnil(L, -1))
    return NULL;
  int list = lua_gettop(L);
  lua_getfield(L, 1, "changes");
  int changes = lua_gettop(L);
  while (environ != NULL && environ[inherited] != NULL)
    inherited++;
  char **env = push_list(L, list, inherited);
  size_t n = lua_objlen(L, list);
  for (size_t i = 0; i < inherited; i++)
    if (!is_changed(L, changes, environ[i]))
      env[n++] = environ[i];
  tm_require(n <= lua_objlen(L, list) + inherited);
  env[n] = NULL;
  return env;
}

static void read_settings(lua_State *L, struct tm_program *p)
{
  lua_settop(L, 1);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkstack(L, 12, "no room to start a program");
  lua_getfield(L, 1, "argv");
  p->argv = push_list(L, 2, 0);
  p->env = push_env(L);
  p->cwd = setting(L, "cwd", NULL);
  p->input = setting(L, "input", &p->input_len);
  p->out_path = setting(L, "stdout", NULL);
  p->err_path = setting(L, "stderr", NULL);
  fflush(stdout); /* keeps (2) */
  fflush(stderr);
}

/* Running programs are in a table at running_key: keeps (3). */

/* 1: the program has ended; 0: it runs; negative: unknown. */
static int wait_for(struct program *p, int64_t ns, struct tm_err *err)
{
  if (p->has_ended)
    return 1;
  tm_require(p->pid > 0);
  int rc = tm_program_wait(p->pid, ns, &p->end, err);
  if (rc < 0) /* somebody else has reaped it, so the number is no longer ours */
    p->end = (struct tm_process_end) { .pid = p->pid, .exit_status = -1 };
  p->has_ended = rc != 0;
  return rc;
}

/* Reaps and forgets programs that have ended. */
static void look_at_running(lua_State *L)
{
  tm_lua_push_place(L, &running_key);
  lua_pushnil(L);
  while (lua_next(L, -2)) { /* [running, program, true]; setting to nil is allowed on the way */
    lua_pop(L, 1);
    if (wait_for(lua_touserdata(L, -1), 0, NULL) != 0) {
      lua_pushvalue(L, -1);
      lua_pushnil(L);
      lua_rawset(L, -4);
    }
  }
  lua_pop(L, 1);
}

/* ---- results ---- */

/* Sets code or signal in the table on top of the stack. */
static void set_end(lua_State *L, const struct tm_process_end *end)
{
  lua_pushinteger(L, end->signal != 0 ? end->signal : end->exit_status);
  lua_setfield(L, -2, end->signal != 0 ? "signal" : "code");
}

static void set_output(lua_State *L, const char *name, const struct tm_buf *b)
{
  if (b == NULL)
    return;
  lua_pushlstring(L, tm_buf_str(b), b->len);
  lua_setfield(L, -2, name);
}

static bool is_interrupted(void *L)
{
  return tm_lua_interrupt_is_due(L);
}

/* run(settings) -> { code, signal, stdout, stderr, timed_out }, or nil, message, code */
static int process_run(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_program p = { 0 };
  struct tm_process_end end;
  bool timed_out;
  read_settings(L, &p);
  look_at_running(L);
  bool wants_out = flag(L, "capture_stdout"), wants_err = flag(L, "capture_stderr");
  struct tm_program_capture c = { .is_err_shown = flag(L, "show_stderr"),
                                  .max = OUTPUT_MAX,
                                  .is_interrupted = is_interrupted,
                                  .data = L };
  int64_t limit = duration(L, "timeout", 0);
  c.out = tm_lua_hold_buf(L);
  int out_at = lua_gettop(L);
  c.err = tm_lua_hold_buf(L);
  int err_at = lua_gettop(L);
  c.out = wants_out ? c.out : NULL;
  c.err = wants_err ? c.err : NULL;
  int rc = tm_program_run(&p, &c, limit, &end, &timed_out, &err);
  if (rc < 0) {
    tm_lua_push_err(L, &err);
  } else {
    lua_createtable(L, 0, 5);
    set_end(L, &end);
    set_output(L, "stdout", c.out);
    set_output(L, "stderr", c.err);
    lua_pushboolean(L, timed_out);
    lua_setfield(L, -2, "timed_out");
  }
  tm_lua_let_go(L, out_at);
  tm_lua_let_go(L, err_at);
  return rc < 0 ? 3 : 1;
}

/* ---- a started program ---- */

static struct program *check_program(lua_State *L)
{
  return luaL_checkudata(L, 1, TM_PROGRAM);
}

/* spawn(settings) -> program, or nil, message, code */
static int process_spawn(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_program p = { 0 };
  read_settings(L, &p);
  look_at_running(L);
  tm_lua_push_place(L, &running_key);
  struct program *new = lua_newuserdata(L, sizeof *new);
  *new = (struct program) { .has_ended = true };
  luaL_getmetatable(L, TM_PROGRAM);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_pushboolean(L, true);
  lua_rawset(L, -4); /* before the start: afterwards nothing may raise */
  pid_t pid = tm_program_start(&p, &err);
  if (pid < 0)
    return tm_lua_push_err(L, &err); /* the next look_at_running() forgets it */
  tm_require(pid > 0 && new->has_ended);
  new->pid = pid;
  new->has_ended = false;
  return 1;
}

/* program:wait([seconds]) -> { code, signal }, or nil, message, "ETIMEDOUT" */
static int program_wait(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct program *p = check_program(L);
  double limit = luaL_optnumber(L, 2, -1);
  luaL_argcheck(L, lua_isnoneornil(L, 2) || (limit >= 0 && limit <= 1e9), 2,
                "accepted: seconds from 0 to 1e9");
  int rc = wait_for(p, limit < 0 ? -1 : (int64_t)(limit * 1e9), &err);
  if (rc > 0 && p->end.exit_status < 0)
    rc = tm_err_set(&err, TM_EPROTOCOL, "it is not known how program %d ended", (int)p->pid);
  if (rc < 0)
    return tm_lua_push_err(L, &err);
  if (rc == 0) {
    lua_pushnil(L);
    lua_pushfstring(L, "program %d still runs after %f s", (int)p->pid, limit);
    lua_pushliteral(L, "ETIMEDOUT");
    return 3;
  }
  lua_createtable(L, 0, 1);
  set_end(L, &p->end);
  return 1;
}

/* program:kill([signal]) -> true */
static int program_kill(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct program *p = check_program(L);
  int signal = luaL_optint(L, 2, 9); /* SIGKILL */
  luaL_argcheck(L, signal >= 0 && signal <= 64, 2, "accepted: a signal's number, 0 to 64");
  int rc = p->has_ended ? 0 : tm_program_kill(p->pid, signal, &err);
  return tm_lua_push_outcome(L, rc, &err);
}

static int program_index(lua_State *L)
{
  struct program *p = check_program(L);
  const char *name = lua_tostring(L, 2);
  if (name != NULL && strcmp(name, "pid") == 0) {
    lua_pushinteger(L, p->pid);
    return 1;
  }
  lua_getmetatable(L, 1);
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  return 1;
}

static const luaL_Reg program_methods[] = {
  { "wait", program_wait },
  { "kill", program_kill },
  { "__index", program_index },
  { NULL, NULL },
};

static const luaL_Reg process_functions[] = {
  { "run", process_run },
  { "spawn", process_spawn },
  { NULL, NULL },
};

int tm_lua_open_process_c(lua_State *L)
{
  if (luaL_newmetatable(L, TM_PROGRAM))
    luaL_setfuncs(L, program_methods, 0);
  luaL_newlib(L, process_functions);
  return 1;
}
