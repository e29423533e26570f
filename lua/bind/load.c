/* load.c - runs a pipeline file or another Lua file, and compiles an entry script.
 *
 * Each call has a state of its own and leaves nothing behind. We read the file and compile it as
 * text under the name that the user gave, so that messages say "pipeline.lua:12" and bytecode never
 * runs.
 *
 * `require` searches the folder of the pipeline file first, so that files can share definitions.
 * Its globals are not restricted: it is the user's program.
 */
#include "base/check.h"
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "bind/hold.h"
#include "plan/names.h"
#include "state.h"
#include "sys/fs.h"

#define FILE_MAX (64u << 20) /* bytes of Lua */

static int read_text(const char *path, struct tm_buf *text, struct tm_err *err)
{
  return tm_fs_read_file(tm_fs_real(), path, FILE_MAX, text, err);
}

static int read_pipeline(const char *path, struct tm_buf *text, struct tm_err *err)
{
  const char *foreign = tm_names_of_file(path);
  if (foreign)
    return tm_err_set(err, TM_EUSAGE, "'%s' is not a pipeline file: %s", path, foreign);
  int rc = read_text(path, text, err);
  return rc < 0 ? tm_err_set(err, TM_EUSAGE, "cannot open pipeline file '%s': %s", path,
                             tm_code_text(rc))
                : 0;
}

/* "pipeline.lua:12: words" */
static void fill_err(struct tm_err *err, int code, const struct tm_lua_error *e)
{
  if (e->where.len)
    tm_err_set(err, code, "%s: %s", e->where.data, tm_buf_str(&e->message));
  else
    tm_err_set(err, code, "%s", tm_buf_str(&e->message));
}

/* Puts the folder before all others that `require` looks in. */
static void add_module_dir(lua_State *L, const char *path)
{
  char *dir = tm_path_dir(path);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", dir, dir, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
  free(dir);
}

/* The line of the function's only tail call (tail.lua), or 0. The function is on top of the stack,
 * and stays there. */
static int tail_line(lua_State *L)
{
  int top = lua_gettop(L), line = 0;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tidemill.tail");
  if (tm_lua_pcall(L, 1, 1, NULL) == 0) {
    lua_pushvalue(L, top);
    if (tm_lua_pcall(L, 1, 1, NULL) == 0)
      line = (int)lua_tointeger(L, -1);
  }
  lua_settop(L, top);
  return line;
}

/* The line of the piece's closing call, for when the stack does not show it. The piece is on top of
 * the stack. */
static void note_tail(lua_State *L, const char *path)
{
  tm_require(lua_isfunction(L, -1));
  int line = tail_line(L);
  if (line > 0)
    lua_pushfstring(L, "%s:%d", path, line);
  else
    lua_pushstring(L, path);
  lua_setfield(L, LUA_REGISTRYINDEX, TM_LUA_TAIL);
}

void tm_lua_add_place(lua_State *L, bool is_tail, struct tm_buf *out)
{
  lua_Debug ar;
  int line = is_tail ? tail_line(L) : 0;
  if (lua_getinfo(L, ">S", &ar) && ar.linedefined > 0 && ar.source[0] == '@')
    tm_buf_printf(out, "%s:%d", ar.source + 1, line > 0 ? line : ar.linedefined);
}

void tm_lua_error_place_tail(lua_State *L, struct tm_lua_error *e)
{
  const char *text = tm_buf_str(&e->message);
  /* Lua itself raises these two, perhaps without a line */
  bool is_of_lua =
      strncmp(text, "not enough memory", 17) == 0 || strncmp(text, "stack overflow", 14) == 0;
  if (e->where.len == 0 && !is_of_lua && lua_isfunction(L, -1))
    tm_lua_add_place(L, true, &e->where);
  else
    lua_pop(L, 1);
}

/* Tells the libraries which file is loaded. */
static void begin_file(lua_State *L, const char *path)
{
  lua_pushstring(L, path);
  lua_setfield(L, LUA_REGISTRYINDEX, TM_LUA_FILE);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, TM_LUA_NOTES);
}

static void say_notes(lua_State *L, void (*on_note)(void *data, const char *words), void *data)
{
  lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_NOTES);
  for (size_t i = 1; on_note && i <= lua_objlen(L, -1); i++) {
    lua_rawgeti(L, -1, (int)i);
    on_note(data, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

struct tm_json *tm_lua_pipeline_at(lua_State *L, int index, const char *name, struct tm_err *err)
{
  struct tm_json *v = tm_lua_to_json(L, index, err);
  if (v && v->tag && strcmp(v->tag, "Pipeline") == 0)
    return v;
  struct tm_buf said = TM_BUF_NONE;
  if (v && v->tag)
    tm_buf_printf(&said, "%s %s", tm_text_article(v->tag), v->tag);
  else if (lua_isnoneornil(L, index))
    tm_buf_add_str(&said, "nothing");
  else
    tm_buf_printf(&said, "a %s", luaL_typename(L, index));
  bool is_object = v && v->tag; /* no entry script returns one */
  char *word = tm_text_shell_word(tm_path_base(name));
  tm_err_set(err, TM_EUSAGE,
             "%s: returns %s; a pipeline file ends with: return tidemill.Pipeline { name = ..., "
             "steps = { ... } }%s%s%s",
             name, said.data, is_object ? "" : "; an entry script runs by: tidemill map ",
             is_object ? "" : word, is_object ? "" : " INPUT...");
  free(word);
  tm_buf_release(&said);
  tm_json_free(v);
  return NULL;
}

/* Calls the host, which adds values to the state. [piece] */
static int call_prepare(lua_State *L)
{
  const struct tm_lua_piece *piece = lua_touserdata(L, 1);
  lua_settop(L, 0);
  piece->prepare(piece->data, L);
  return 0;
}

static int prepare(lua_State *L, const struct tm_lua_piece *piece, struct tm_lua_error *e)
{
  if (!piece->prepare)
    return 0;
  lua_pushcfunction(L, call_prepare);
  lua_pushlightuserdata(L, (void *)piece);
  return tm_lua_pcall(L, 1, 0, e);
}

/* Runs the piece; its result is on top of the stack. */
static int run_definition(lua_State *L, const struct tm_lua_piece *piece, const char *text,
                          size_t len, struct tm_err *err)
{
  struct tm_lua_error e = { 0 };
  const char *path = piece->name;
  int rc = prepare(L, piece, &e);
  if (rc == 0)
    rc = tm_lua_load(L, text, len, path, &e);
  if (rc == 0) {
    add_module_dir(L, path);
    begin_file(L, path);
    note_tail(L, path);
    rc = tm_lua_pcall(L, 0, 1, &e);
  }
  if (rc < 0)
    fill_err(err, TM_EUSAGE, &e);
  tm_lua_error_release(&e);
  return rc;
}

static struct tm_json *run_pipeline(lua_State *L, const struct tm_lua_piece *piece,
                                    const char *text, size_t len, struct tm_err *err)
{
  return run_definition(L, piece, text, len, err) == 0 ? tm_lua_pipeline_at(L, -1, piece->name, err)
                                                       : NULL;
}

static void keep_fields(lua_State *L, const char *const *names, size_t n)
{
  for (size_t i = 0; i < n; i++)
    lua_getfield(L, LUA_REGISTRYINDEX, names[i]);
}

static void put_back_fields(lua_State *L, int first, const char *const *names, size_t n)
{
  tm_require(lua_gettop(L) >= first + (int)n - 1);
  for (size_t i = 0; i < n; i++) {
    lua_pushvalue(L, first + (int)i);
    lua_setfield(L, LUA_REGISTRYINDEX, names[i]);
  }
}

/* Sets the place of the Pipeline on top of the stack to this file if the stack does not show it:
 * `return Pipeline { ... }` replaces its caller there. */
static void place_pipeline(lua_State *L, const char *path)
{
  size_t n = strlen(path);
  bool is_tagged = lua_getmetatable(L, -1);
  tm_require(is_tagged); /* as a Pipeline */
  lua_getfield(L, -1, "__tm_where");
  const char *where = lua_tostring(L, -1);
  if (!where || strncmp(where, path, n) != 0 || where[n] != ':') {
    lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_TAIL);
    lua_setfield(L, -3, "__tm_where");
  }
  lua_pop(L, 2);
}

struct note_target {
  lua_State *L;
  int index; /* the notes of the file or script that loads this one */
};

static void pass_note(void *data, const char *words)
{
  const struct note_target *to = data;
  if (lua_istable(to->L, to->index)) {
    lua_pushstring(to->L, words);
    lua_rawseti(to->L, to->index, (int)lua_objlen(to->L, to->index) + 1);
  } else if (lua_toboolean(to->L, to->index))
    fprintf(stderr, "tidemill: note: %s\n", words);
}

int tm_lua_load_here(lua_State *L, const char *path, struct tm_err *err)
{
  static const char *const fields[] = { TM_LUA_FILE, TM_LUA_NOTES, TM_LUA_TAIL };
  struct tm_lua_piece piece = { .name = path };
  struct tm_buf text = TM_BUF_NONE;
  int top = lua_gettop(L);
  struct tm_json *v = NULL;
  if (read_pipeline(path, &text, err) < 0)
    return err->code;
  keep_fields(L, fields, TM_COUNT_OF(fields));
  v = run_pipeline(L, &piece, tm_buf_str(&text), text.len, err);
  if (v) {
    say_notes(L, pass_note, &(struct note_target) { L, top + 2 });
    place_pipeline(L, path);
  }
  put_back_fields(L, top + 1, fields, TM_COUNT_OF(fields));
  tm_buf_release(&text);
  if (v)
    lua_replace(L, top + 1);
  lua_settop(L, v ? top + 1 : top);
  tm_json_free(v);
  return v ? 0 : err->code;
}

struct tm_json *tm_lua_load_piece(const struct tm_lua_piece *piece, struct tm_err *err)
{
  tm_require(piece->name && piece->modules);
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  lua_State *L = NULL;
  int rc = piece->text ? 0 : read_pipeline(piece->name, &text, err);
  if (rc == 0 && (L = tm_lua_new(piece->modules, err)) != NULL)
    v = run_pipeline(L, piece, piece->text ? piece->text : tm_buf_str(&text),
                     piece->text ? strlen(piece->text) : text.len, err);
  if (v || (L && !strstr(err->text, "(a nil value)"))) /* such an error names the variable itself */
    say_notes(L, piece->on_note, piece->data);
  tm_lua_free(L);
  tm_buf_release(&text);
  return v;
}

struct tm_json *tm_lua_load_pipeline(const char *path, const struct tm_lua_module *modules,
                                     void (*on_note)(void *data, const char *words), void *data,
                                     struct tm_err *err)
{
  struct tm_lua_piece piece = {
    .name = path, .modules = modules, .on_note = on_note, .data = data
  };
  return tm_lua_load_piece(&piece, err);
}

struct tm_json *tm_lua_load_values(const struct tm_lua_piece *piece, struct tm_err *err)
{
  const char *path = piece->name;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = NULL;
  lua_State *L = NULL;
  int rc = read_text(path, &text, err);
  if (rc < 0)
    tm_err_set(err, TM_EUSAGE, "cannot open '%s': %s", path, tm_code_text(rc));
  else if ((L = tm_lua_new(piece->modules, err)) != NULL &&
           run_definition(L, piece, tm_buf_str(&text), text.len, err) == 0 &&
           !(v = tm_lua_to_json(L, -1, err)))
    tm_err_wrap(err, "%s", path);
  tm_lua_free(L);
  tm_buf_release(&text);
  return v;
}

#define IS_PIPELINE                                                                                \
  "'%s' returns a pipeline, and an entry script defines run(); to run it: tidemill run %s"

void tm_lua_refuse_pipeline(lua_State *L, int at, const char *shown_as)
{
  if (!luaL_getmetafield(L, at, "__tm_tag"))
    return;
  const char *tag = lua_tostring(L, -1);
  if (tag && strcmp(tag, "Pipeline") == 0) {
    struct tm_buf *word = tm_lua_hold_buf(L);
    tm_text_shell(word, shown_as);
    luaL_error(L, IS_PIPELINE, shown_as, tm_buf_str(word));
  }
  lua_pop(L, 1);
}

/* Refuses a pipeline file in place of an entry script, without running it: its main code ends with
 * the call of a function `Pipeline`. tm_lua_refuse_pipeline() sees other forms. [piece] */
static int check_role(lua_State *L, const char *text, const char *shown_as, struct tm_err *err)
{
  const char *name = NULL;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tidemill.tail");
  if (strstr(text, "tidemill") && tm_lua_pcall(L, 1, 1, NULL) == 0) {
    lua_pushvalue(L, -2);
    if (tm_lua_pcall(L, 1, 2, NULL) == 0)
      name = lua_tostring(L, -1);
  }
  if (!name || strcmp(name, "Pipeline") != 0)
    return 0;
  char *word = tm_text_shell_word(shown_as);
  tm_err_set(err, TM_ESCRIPT, IS_PIPELINE, shown_as, word);
  free(word);
  return err->code;
}

int tm_lua_check_script(const char *path, const char *shown_as, const struct tm_lua_module *modules,
                        struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_lua_error e = { 0 };
  lua_State *L = NULL;
  int rc = read_text(path, &text, err);
  if (rc < 0)
    goto done;
  L = tm_lua_new(modules, err);
  rc = L ? tm_lua_load(L, tm_buf_str(&text), text.len, shown_as, &e) : TM_ELIMIT;
  if (L && rc < 0)
    fill_err(err, TM_ESCRIPT, &e);
  if (rc == 0)
    rc = check_role(L, tm_buf_str(&text), shown_as, err);
done:
  tm_lua_free(L);
  tm_lua_error_release(&e);
  tm_buf_release(&text);
  return rc;
}
