/* error.c - describes an error that Lua code raised.
 *
 * The handler of lua_pcall runs where the error happened, with the stack still there, and writes
 * into the caller's struct tm_lua_error. It allocates with our own allocators, which do not fail.
 * The only Lua function that it calls is a value's __tostring, in a pcall of its own: another error
 * here would hide the important one.
 *
 * The stack leaves out our own frames: Lua chunks named "=tidemill/...", and C functions that these
 * call. The innermost line of the user is the first Lua frame that is left.
 *
 * If LuaJIT is out of memory, or the handler itself overflows, no handler runs, and only the
 * message is known.
 */
#include "state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "plan/names.h"
#include "plan/python.h"
#include "plan/python_line.h"

#define STACK_HEAD 24  /* frames shown at the inner end, */
#define STACK_TAIL 8   /* and at the outer end, if there are more */
#define LEVELS_MAX 400 /* checked frames: an overflow has many thousands, and each costs a walk */

#define CALLERS_MAX 4 /* C functions that call each other; beyond this they count as the user's */

struct catcher {
  struct tm_lua_error *e; /* or NULL */
  bool has_run;
};

void tm_lua_error_release(struct tm_lua_error *e)
{
  tm_buf_release(&e->message);
  tm_buf_release(&e->stack);
  tm_buf_release(&e->where);
}

static bool is_ours(const lua_Debug *f)
{
  return strncmp(f->source, "=tidemill/", 10) == 0;
}

/* A piece's name for the user: the whole path, which LuaJIT's short_src cuts. */
static const char *source_name(const lua_Debug *f)
{
  return f->source[0] == '@' || f->source[0] == '=' ? f->source + 1 : f->short_src;
}

/* Whether to show the frame at `level` to the user; fills `f`. A C function belongs to the Lua
 * function that calls it. */
static bool is_shown(lua_State *L, int level, lua_Debug *f)
{
  lua_getinfo(L, "Sln", f);
  if (strcmp(f->what, "C") != 0)
    return !is_ours(f);
  lua_Debug caller;
  for (int up = level + 1; up <= level + CALLERS_MAX; up++) {
    if (!lua_getstack(L, up, &caller))
      return false;
    lua_getinfo(L, "S", &caller);
    if (strcmp(caller.what, "C") != 0)
      return !is_ours(&caller);
  }
  return true;
}

static void add_frame(struct tm_buf *out, const lua_Debug *f)
{
  tm_buf_add_str(out, "\n\t");
  if (strcmp(f->what, "C") == 0)
    tm_buf_add_str(out, "[C]:");
  else
    tm_buf_printf(out, "%s:%d:", source_name(f), f->currentline);
  if (*f->namewhat)
    tm_buf_printf(out, " in function '%s'", f->name);
  else if (strcmp(f->what, "main") == 0)
    tm_buf_add_str(out, " in main code");
  else if (strcmp(f->what, "C") == 0)
    tm_buf_add_str(out, " in a C function");
  else
    tm_buf_printf(out, " in function <%s:%d>", source_name(f), f->linedefined);
}

/* Adds the frames; those between head and tail only as a number. */
void tm_lua_add_stack(lua_State *L, int first, struct tm_buf *out)
{
  lua_Debug f;
  int shown = 0, level;
  for (level = first; level <= LEVELS_MAX && lua_getstack(L, level, &f); level++)
    shown += is_shown(L, level, &f);
  if (shown == 0)
    return;
  tm_buf_add_str(out, "stack traceback:");
  int at = 0, end = level;
  for (level = first; level < end && lua_getstack(L, level, &f); level++) {
    if (!is_shown(L, level, &f))
      continue;
    if (at < STACK_HEAD || at >= shown - STACK_TAIL)
      add_frame(out, &f);
    else if (at == STACK_HEAD)
      tm_buf_printf(out, "\n\t... %d more", shown - STACK_HEAD - STACK_TAIL);
    at++;
  }
  if (end > LEVELS_MAX)
    tm_buf_add_str(out, "\n\t... and so on");
}

bool tm_lua_user_line(lua_State *L, struct tm_buf *out)
{
  lua_Debug f;
  for (int level = 0; lua_getstack(L, level, &f); level++) {
    lua_getinfo(L, "Sl", &f);
    if (strcmp(f.what, "C") == 0 || is_ours(&f) || f.currentline <= 0)
      continue;
    tm_buf_printf(out, "%s:%d", source_name(&f), f.currentline);
    return true;
  }
  lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_TAIL);
  bool is_known = lua_type(L, -1) == LUA_TSTRING;
  if (is_known)
    tm_buf_add_str(out, lua_tostring(L, -1));
  lua_pop(L, 1);
  return is_known;
}

/* Removes the position that `error` or the compiler put in front if `where` has the same
 * position. */
static void add_text(struct tm_buf *out, const char *text, size_t len, lua_State *L,
                     const char *where)
{
  size_t skip = strlen(where);
  if (skip > 0 && len > skip + 2 && strncmp(text, where, skip) == 0 && text[skip] == ':' &&
      text[skip + 1] == ' ') {
    tm_buf_add(out, text + skip + 2, len - skip - 2);
    return;
  }
  /* the same position, in LuaJIT's short form of a long path */
  lua_Debug f;
  for (int level = 0; *where && lua_getstack(L, level, &f); level++) {
    lua_getinfo(L, "Sl", &f);
    if (strcmp(f.what, "C") == 0 || is_ours(&f))
      continue;
    char place[LUA_IDSIZE + 16];
    int n = snprintf(place, sizeof(place), "%s:%d: ", f.short_src, f.currentline);
    if (n > 0 && len >= (size_t)n && strncmp(text, place, (size_t)n) == 0) {
      text += n;
      len -= (size_t)n;
    }
    break;
  }
  tm_buf_add(out, text, len);
}

static int call_tostring(lua_State *L)
{
  if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
    return 1;
  lua_pushnil(L);
  return 1;
}

/* Adds the result of __tostring of a table, userdata or cdata. */
static bool add_tostring(lua_State *L, int at, struct tm_buf *out)
{
  if (!luaL_getmetafield(L, at, "__tostring"))
    return false;
  lua_pop(L, 1);
  lua_pushcfunction(L, call_tostring);
  lua_pushvalue(L, at);
  bool ok = lua_pcall(L, 1, 1, 0) == 0 && lua_type(L, -1) == LUA_TSTRING;
  if (ok) {
    size_t len;
    const char *s = lua_tolstring(L, -1, &len);
    tm_buf_add(out, s, len);
  }
  lua_pop(L, 1);
  return ok;
}

/* Scripts often call error{ message = "..." }: uses the message of such a table. */
static void add_table(lua_State *L, int at, struct tm_buf *out)
{
  static const char *const keys[] = { "message", "msg", "error" };
  tm_buf_add_str(out, "error object is a table without __tostring");
  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
    lua_pushstring(L, keys[i]);
    lua_rawget(L, at);
    if (lua_type(L, -1) == LUA_TSTRING) {
      tm_buf_printf(out, "; its '%s' is: %s", keys[i], lua_tostring(L, -1));
      lua_pop(L, 1);
      return;
    }
    lua_pop(L, 1);
  }
}

/* Adds what to write instead of Python's grammar. A message of several lines has a stack, and was
 * explained when it was raised first. */
static void add_explanation(struct tm_buf *out, const char *message)
{
  const char *words = strchr(message, '\n') ? NULL : tm_python_explain(message);
  if (words && !strstr(message, words))
    tm_buf_printf(out, "; %s", words);
}

/* What to write instead of a class or a function of the original, as a global. A name in lower case
 * is more likely the script's own. */
static const char *find_global(const char *attempt, const char *name, size_t len)
{
  char owned[64];
  bool is_global = strstr(attempt, " global '") != NULL;
  if (!is_global || len >= sizeof(owned) ||
      !(isupper((unsigned char)*name) || memchr(name, '_', len)))
    return NULL;
  memcpy(owned, name, len);
  owned[len] = '\0';
  return tm_names_find("tidemill", owned);
}

/* For a module of ours that the file uses without require. */
static void add_module_hint(struct tm_buf *out, const char *attempt, const char *name, size_t n)
{
  static const char index[] = "attempt to index global '";
  if (strncmp(attempt, index, sizeof(index) - 1) != 0)
    return;
  if (tm_text_has_word("tidemill", name, n))
    tm_buf_add_str(out, "; write above: local tidemill = require \"tidemill\"");
  else if (tm_text_has_word("develop|frame|fs|process", name, n))
    tm_buf_printf(out, "; if it is the module, write above: local %.*s = require \"tidemill.%.*s\"",
                  (int)n, name, (int)n, name);
}

/* Lua says "attempt to call global 'len' (a nil value)". For a name that Python users know, adds
 * the name in Lua. A local variable is the script's own name. */
static void add_hint(struct tm_buf *out, const char *message)
{
  static const char nil[] = "' (a nil value)";
  size_t len = strlen(message), tail = sizeof(nil) - 1;
  const char *attempt = strstr(message, "attempt to ");
  if (!attempt || len < tail || strcmp(message + len - tail, nil) != 0)
    return;
  bool is_own = strstr(attempt, " local '") || strstr(attempt, " upvalue '");
  const char *name = strchr(attempt, '\''), *end = message + len - tail;
  if (!name || name >= end || is_own)
    return;
  size_t n = (size_t)(end - ++name);
  const char *words = tm_python_find(name, n), *instead = find_global(attempt, name, n);
  if (words)
    tm_buf_printf(out, "; Python's '%.*s' is in Lua: %s", (int)n, name, words);
  else if (instead)
    tm_buf_printf(out, "; %s", instead);
  else
    add_module_hint(out, attempt, name, n);
}

static void add_message(lua_State *L, int at, struct tm_buf *out, const char *where)
{
  size_t len;
  const char *s;
  switch (lua_type(L, at)) {
  case LUA_TSTRING:
    s = lua_tolstring(L, at, &len);
    add_text(out, s, len, L, where);
    add_hint(out, s);
    add_explanation(out, s);
    break;
  case LUA_TNIL: tm_buf_add_str(out, "error object is nil"); break;
  case LUA_TBOOLEAN:
    tm_buf_printf(out, "error object is the boolean %s", lua_toboolean(L, at) ? "true" : "false");
    break;
  case LUA_TNUMBER:
    tm_buf_printf(out, "error object is the number %.14g", lua_tonumber(L, at));
    break;
  case LUA_TTABLE:
    if (!add_tostring(L, at, out))
      add_table(L, at, out);
    break;
  default:
    if (!add_tostring(L, at, out))
      tm_buf_printf(out, "error object is a %s", luaL_typename(L, at));
  }
}

/* Upvalue 1: the struct catcher. Does not change the error object. */
static int on_error(lua_State *L)
{
  struct catcher *c = lua_touserdata(L, lua_upvalueindex(1));
  if (c->has_run || !c->e)
    return 1;
  c->has_run = true;
  tm_lua_user_line(L, &c->e->where);
  add_message(L, 1, &c->e->message, tm_buf_str(&c->e->where));
  tm_lua_add_stack(L, 1, &c->e->stack); /* without the handler's frame */
  return 1;
}

/* Without a handler: takes the place from a message of the compiler, "x.lua:3: ...". */
static void split_place(struct tm_lua_error *e)
{
  const char *text = tm_buf_str(&e->message), *colon = strchr(text, ':');
  while (colon && !(colon[1] >= '0' && colon[1] <= '9'))
    colon = strchr(colon + 1, ':');
  size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
  if (digits == 0 || strncmp(colon + 1 + digits, ": ", 2) != 0 ||
      memchr(text, '\n', (size_t)(colon - text)))
    return;
  size_t place = (size_t)(colon - text) + 1 + digits;
  tm_buf_add(&e->where, text, place);
  tm_buf_remove_front(&e->message, place + 2);
}

int tm_lua_pcall(lua_State *L, int nargs, int nresults, struct tm_lua_error *e)
{
  int base = lua_gettop(L) - nargs; /* the function's place, then the handler's */
  tm_require(base >= 1);
  struct catcher c = { e, false };
  if (e) {
    tm_buf_clear(&e->message);
    tm_buf_clear(&e->stack);
    tm_buf_clear(&e->where);
  }
  lua_pushlightuserdata(L, &c);
  lua_pushcclosure(L, on_error, 1);
  lua_insert(L, base);
  int rc = lua_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  if (rc == 0) {
    tm_require(nresults == LUA_MULTRET || lua_gettop(L) == base - 1 + nresults);
    return 0;
  }
  if (e && !c.has_run)
    add_message(L, lua_gettop(L), &e->message, "");
  lua_pop(L, 1);
  tm_require(lua_gettop(L) == base - 1);
  return TM_ESCRIPT;
}

/* Describes the compiler's message, with what to write if the line is Python's. */
static void add_syntax(lua_State *L, const char *text, size_t len, struct tm_lua_error *e)
{
  const char *message = lua_tostring(L, -1);
  struct tm_lua_error place = { TM_BUF_NONE, TM_BUF_NONE, TM_BUF_NONE };
  tm_buf_add_str(&place.message, message ? message : "");
  split_place(&place);
  const char *number = strrchr(tm_buf_str(&place.where), ':');
  unsigned long line = number ? strtoul(number + 1, NULL, 10) : 0;
  size_t n = 0;
  const char *name = NULL,
             *module = line ? tm_python_find_import(text, len, line, &name, &n) : NULL;
  const char *words = line && !module ? tm_python_explain_line(text, len, line, message) : NULL;
  tm_lua_error_release(&place);
  if (module)
    tm_buf_printf(&e->message, "%s; Python's '%.*s' is in Lua: %s", message, (int)n, name, module);
  else if (words)
    tm_buf_printf(&e->message, "%s; %s", message, words);
  else
    add_message(L, lua_gettop(L), &e->message, "");
  split_place(e);
}

int tm_lua_load(lua_State *L, const char *text, size_t len, const char *shown_as,
                struct tm_lua_error *e)
{
  if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
    text += 3;
    len -= 3;
  }
  if (len > 0 &&
      text[0] == '#') { /* keeps the line break of the `#!` line, or line numbers would be wrong */
    const char *end = memchr(text, '\n', len);
    len = end ? (size_t)(text + len - end) : 0;
    text = end ? end : text;
  }
  if (len > 0 && text[0] == '\x1b') { /* bytecode has no lines, and could do anything */
    tm_lua_error_release(e);
    tm_buf_printf(&e->message, "'%s' is compiled Lua; accepted: its source", shown_as);
    return TM_ESCRIPT;
  }
  struct tm_buf label = TM_BUF_NONE;
  tm_buf_printf(&label, "@%s", shown_as);
  int rc = luaL_loadbufferx(L, text, len, label.data, "t");
  tm_buf_release(&label);
  if (rc == 0)
    return 0;
  tm_lua_error_release(e);
  add_syntax(L, text, len, e);
  lua_pop(L, 1);
  return TM_ESCRIPT;
}

int tm_lua_push_err(lua_State *L, const struct tm_err *err)
{
  lua_pushnil(L);
  lua_pushstring(L, err->text);
  lua_pushstring(L, tm_code_name(err->code));
  return 3;
}

int tm_lua_push_outcome(lua_State *L, int rc, const struct tm_err *err)
{
  if (rc < 0)
    return tm_lua_push_err(L, err);
  lua_pushboolean(L, true);
  return 1;
}

int tm_lua_raise(lua_State *L, const struct tm_err *err)
{
  struct tm_buf where = TM_BUF_NONE;
  char place[512] = "";
  if (tm_lua_user_line(L, &where))
    snprintf(place, sizeof(place), "%s: ", where.data);
  if (strncmp(err->text, place, strlen(place)) == 0) /* as that of a definition in the same line */
    place[0] = '\0';
  tm_buf_release(&where); /* lua_pushfstring may raise: no memory from malloc is alive then */
  lua_pushfstring(L, "%s%s", place, err->text);
  return lua_error(L);
}
