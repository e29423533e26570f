/* lib_entry_script.c - the C side of `require "tidemill.entry_script"`: the worker's properties and
 * its log.
 *
 * The properties of the worker are copied into a table when the script is loaded; the module is
 * built when it is first required. The logger is a userdata that owns its path, its descriptor and
 * the buffer of a line. The first line opens the file. If the log cannot be written, stderr says so
 * once, and the script continues.
 */
#include "entry/lib_entry_script.h"

#include <fcntl.h>
#include <inttypes.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "bind/state.h"
#include "node/worker_page.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define TM_LOGGER "tidemill.logger"

static const char module_key = 0; /* its address is the module's name in the registry */

struct logger {
  char *path, *name; /* of the file; of the worker */
  int fd;            /* -1: not open */
  bool is_lost;      /* a failed write was reported */
  struct tm_buf line;
};

static int logger_gc(lua_State *L)
{
  struct logger *l = luaL_checkudata(L, 1, TM_LOGGER);
  tm_fs_close(tm_fs_real(), l->fd);
  l->fd = -1;
  free(l->path);
  free(l->name);
  l->path = l->name = NULL;
  tm_buf_release(&l->line);
  return 0;
}

static void say_lost(struct logger *l, const char *words)
{
  l->is_lost = true;
  fprintf(stderr, "%s; what the script logs is lost from here on\n", words);
}

/* Ends a line at every kind of line break, and indents the next line. Drops line breaks at the
 * end. */
static void add_message(struct tm_buf *out, const char *s, size_t len)
{
  while (len > 0 && (s[len - 1] == '\n' || s[len - 1] == '\r'))
    len--;
  for (size_t i = 0; i < len; i++) {
    if (s[i] != '\n' && s[i] != '\r') {
      tm_buf_add_char(out, s[i]);
      continue;
    }
    if (s[i] == '\r' && i + 1 < len && s[i + 1] == '\n')
      i++;
    tm_buf_add_str(out, "\n    ");
  }
}

static void write_line(struct logger *l, enum tm_level level, const char *s, size_t len)
{
  struct tm_err err;
  if (l->fd < 0)
    l->fd = tm_fs_open(tm_fs_real(), l->path, O_WRONLY | O_CREAT | O_APPEND, 0600, &err);
  if (l->fd < 0) {
    say_lost(l, err.text);
    return;
  }
  tm_buf_clear(&l->line);
  tm_time_log(&l->line, tm_clock_wall_ns());
  tm_buf_printf(&l->line, "|%s|%d|%s|", tm_level_name(level), (int)getpid(), l->name);
  add_message(&l->line, s, len);
  tm_buf_add_char(&l->line, '\n');
  int code = tm_fd_append(l->fd, l->line.data, l->line.len);
  if (code < 0) {
    tm_err_system(&err, code, "cannot write '%s'", l->path);
    say_lost(l, err.text);
  }
}

static int logger_write(lua_State *L) /* write(level, message); the caller filters levels */
{
  struct logger *l = luaL_checkudata(L, lua_upvalueindex(1), TM_LOGGER);
  int level = (int)luaL_checkinteger(L, 1);
  size_t len;
  const char *s = luaL_checklstring(L, 2, &len);
  luaL_argcheck(L, level >= TM_DEBUG && level <= TM_ERROR, 1, "no level");
  if (!l->is_lost)
    write_line(l, (enum tm_level)level, s, len);
  return 0;
}

/* keep_library(name, record) -> true; nil, message, code. Equal records have one file. */
static int keep_library(lua_State *L)
{
  const char *dir = lua_tostring(L, lua_upvalueindex(1)),
             *worker = lua_tostring(L, lua_upvalueindex(2));
  const char *name = luaL_checkstring(L, 1);
  size_t len;
  const char *record = luaL_checklstring(L, 2, &len);
  const struct tm_fs *fs = tm_fs_real();
  struct tm_err err = TM_ERR_NONE;
  int rc = *dir ? tm_fs_make_dirs(fs, dir, 0700, &err) : 0;

  if (*dir && rc >= 0) {
    char *path = tm_xprintf("%s/%s-%016" PRIx64, dir, name, tm_hash64(record, len));
    char *temporary = tm_xprintf("%s/.%s", dir, worker);
    rc = tm_fs_write_file(fs, temporary, record, len, 0600, &err);
    if (rc >= 0 && (rc = fs->rename(fs->self, temporary, path)) < 0)
      tm_err_system(&err, rc, "cannot rename '%s' to '%s'", temporary, path);
    free(temporary);
    free(path);
  }
  if (rc < 0)
    return tm_lua_push_err(L, &err);
  lua_pushboolean(L, true);
  return 1;
}

static int retire(lua_State *L) /* retire(why); the first reason stays */
{
  struct tm_buf *to = lua_touserdata(L, lua_upvalueindex(1));
  size_t len;
  const char *why = luaL_checklstring(L, 1, &len);
  if (to->len == 0)
    tm_buf_add(to, why, len);
  return 0;
}

static int show_wait(lua_State *L) /* show_wait(is_waiting) */
{
  _Atomic uint64_t *const *waits = lua_touserdata(L, lua_upvalueindex(1));
  if (*waits)
    atomic_store(*waits, lua_toboolean(L, 1) ? 1 : 0);
  return 0;
}

/* init_left() -> the seconds until init_timeout; nil: there is none, or it is over */
static int init_left(lua_State *L)
{
  lua_Number left = (lua_tonumber(L, lua_upvalueindex(1)) - (lua_Number)tm_clock_mono_ns()) / 1e9;
  if (left <= 0)
    return 0;
  lua_pushnumber(L, left);
  return 1;
}

static const luaL_Reg logger_methods[] = {
  { "__gc", logger_gc },
  { NULL, NULL },
};

static void push_logger(lua_State *L, const struct tm_setup *setup)
{
  struct logger *l = lua_newuserdata(L, sizeof *l); /* [logger] */
  *l = (struct logger) { .fd = -1 };
  if (luaL_newmetatable(L, TM_LOGGER))
    luaL_register(L, NULL, logger_methods);
  lua_setmetatable(L, -2); /* from here on the collector releases it */
  l->path = tm_xstrdup(setup->logger_file);
  l->name = tm_xstrdup(setup->worker_name);
}

static void set_property(lua_State *L, const char *name, const char *value)
{
  lua_pushstring(L, value); /* NULL: nil */
  lua_setfield(L, -2, name);
}

static void set_list(lua_State *L, const char *name, char *const *words, size_t n)
{
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, words[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, name);
}

static void push_properties(lua_State *L, const struct tm_setup *setup)
{
  char cwd[PATH_MAX];
  lua_createtable(L, 0, 11); /* [properties] */
  set_property(L, "log_dir", setup->log_dir);
  set_property(L, "output_dir", setup->output_dir);
  set_property(L, "temp_dir", setup->temp_dir);
  set_property(L, "agent_name", setup->worker_name);
  set_property(L, "node_id", setup->node_id);
  set_property(L, "script_dir", setup->script_dir);
  set_property(L, "working_dir", getcwd(cwd, sizeof cwd) != NULL ? cwd : setup->script_dir);
  lua_pushinteger(L, (lua_Integer)setup->cores);
  lua_setfield(L, -2, "cores");
  set_list(L, "arguments", setup->arguments, setup->arguments_len);
  set_list(L, "runner_arguments", setup->runner_arguments, setup->runner_arguments_len);
}

static void add_folder(lua_State *L, const char *dir, size_t len)
{
  lua_pushlstring(L, dir, len);
  lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
}

/* Where libraries are looked for first: beside the copy of the user's script, and beside the script
 * itself. A script of tidemill's own has no such folder, because what is beside a model may come
 * from anywhere. A machine that sees other files than the supervisor's has only the copy. */
static void set_library_dirs(lua_State *L, const struct tm_setup *setup)
{
  const char *name = setup->script_name, *own = setup->library_dir;
  lua_newtable(L);
  if (!setup->has_own_script)
    add_folder(L, setup->script_dir, strlen(setup->script_dir));
  if (!setup->has_own_script && !setup->sizes_alone && tm_path_is_absolute(name)) {
    size_t len = (size_t)(tm_path_base(name) - name);
    add_folder(L, name, len > 1 ? len - 1 : 1);
  }
  if (own && *own && !setup->sizes_alone)
    add_folder(L, own, strlen(own));
  lua_setfield(L, -2, "library_dirs");
}

static int open_module(lua_State *L)
{
  lua_pushlightuserdata(L, (void *)&module_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  return 1;
}

void tm_lua_entry_script_add(lua_State *L, const struct tm_setup *setup, struct tm_buf *retires,
                             _Atomic uint64_t **waits)
{
  lua_pushlightuserdata(L, (void *)&module_key);
  lua_createtable(L, 0, 10); /* [key, module] */
  push_properties(L, setup);
  lua_setfield(L, -2, "properties");
  lua_pushinteger(L, (lua_Integer)setup->logging_level);
  lua_setfield(L, -2, "level");
  lua_pushboolean(L, setup->is_only_worker);
  lua_setfield(L, -2, "is_only_worker");
  lua_pushboolean(L, setup->owns_process);
  lua_setfield(L, -2, "owns_process");
  set_property(L, "gpu", getenv(TM_ENV_GPU));
  set_library_dirs(L, setup);
  lua_pushlightuserdata(L, retires);
  lua_pushcclosure(L, retire, 1);
  lua_setfield(L, -2, "retire");
  if (setup->models_dir && *setup->models_dir) {
    lua_pushstring(L, setup->models_dir);
    lua_setfield(L, -2, "models_dir");
  }
  lua_pushlightuserdata(L, waits);
  lua_pushcclosure(L, show_wait, 1);
  lua_setfield(L, -2, "show_wait");
  set_property(L, "session", setup->session);
  lua_pushnumber(L, setup->init_timeout_ns > 0
                        ? (lua_Number)(tm_clock_mono_ns() + setup->init_timeout_ns)
                        : 0);
  lua_pushcclosure(L, init_left, 1);
  lua_setfield(L, -2, "init_left");
  lua_pushstring(L, setup->libraries_dir ? setup->libraries_dir : "");
  lua_pushstring(L, setup->worker_name);
  lua_pushcclosure(L, keep_library, 2);
  lua_setfield(L, -2, "keep_library");
  push_logger(L, setup);
  lua_pushcclosure(L, logger_write, 1);
  lua_setfield(L, -2, "write");
  lua_rawset(L, LUA_REGISTRYINDEX);
  tm_lua_preload(L, "entry_script_c", open_module);
}
