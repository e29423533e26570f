/* lib_fs.c - tidemill.fs: files and folders for scripts, on top of core/sys.
 *
 * An operation that fails returns nil, a message and the code's name ("ENOENT"). A wrong argument
 * raises at the caller's line. Options are a table of booleans; an unknown name is refused, so that
 * a typing error is noticed.
 *
 * Code that can raise (reading arguments, making Lua values) is separate from code that holds
 * memory from malloc: a userdata holds the buffers, and a path is a Lua string.
 */
#include <errno.h>
#include <lauxlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "bind/hold.h"
#include "bind/libs.h"
#include "bind/state.h"
#include "sys/fs.h"
#include "sys/whole_file.h"

#define READ_MAX ((size_t)1 << 30) /* bytes that read() takes into memory */

/* ---- arguments and answers ---- */

struct option {
  const char *name;
  bool value; /* the default; then the given value */
};

static struct option *find_option(struct option *options, const char *name)
{
  for (; options->name != NULL; options++)
    if (strcmp(options->name, name) == 0)
      return options;
  return NULL;
}

/* Raises at the caller's line for an unknown option, or a value that is not a boolean. */
static void refuse_option(lua_State *L, const char *function, const struct option *options,
                          const char *given)
{
  struct tm_err err = TM_ERR_NONE;
  char names[128];
  size_t len = 0;
  for (const struct option *o = options; o->name != NULL && len < sizeof names; o++)
    len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", o == options ? "" : ", ",
                            o->name);
  tm_err_set(&err, TM_EUSAGE,
             "fs.%s: cannot take option '%s' as given; accepted: %s, each true or false", function,
             given, names);
  tm_lua_raise(L, &err);
}

/* The table of options at `arg`, which may be missing. `options` ends with a NULL name. */
static void read_options(lua_State *L, int arg, const char *function, struct option *options)
{
  if (lua_isnoneornil(L, arg))
    return;
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_pushnil(L);
  while (lua_next(L, arg)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : luaL_typename(L, -2);
    struct option *o = find_option(options, name);
    if (o == NULL || !lua_isboolean(L, -1))
      refuse_option(L, function, options, name);
    else
      o->value = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
}

/* ---- files ---- */

static int fs_read(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = tm_lua_check_path(L, 1);
  struct tm_buf *text = tm_lua_hold_buf(L);
  int rc = tm_file_read(path, READ_MAX, text, &err);
  if (rc < 0) {
    tm_lua_let_go(L, -1);
    return tm_lua_push_err(L, &err);
  }
  lua_pushlstring(L, tm_buf_str(text), text->len);
  tm_lua_let_go(L, -2);
  return 1;
}

static int fs_write(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct option options[] = { { "sync", true }, { NULL, false } };
  size_t len;
  const char *path = tm_lua_check_path(L, 1), *text = luaL_checklstring(L, 2, &len);
  read_options(L, 3, "write", options);
  return tm_lua_push_outcome(L, tm_file_write(path, text, len, options[0].value, &err), &err);
}

static int fs_append(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  size_t len;
  const char *path = tm_lua_check_path(L, 1), *text = luaL_checklstring(L, 2, &len);
  return tm_lua_push_outcome(L, tm_file_append(path, text, len, &err), &err);
}

static int fs_copy(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct option options[] = { { "sync", true }, { NULL, false } };
  const char *from = tm_lua_check_path(L, 1), *to = tm_lua_check_path(L, 2);
  read_options(L, 3, "copy", options);
  return tm_lua_push_outcome(L, tm_file_copy(from, to, options[0].value, &err), &err);
}

/* ---- folders ---- */

static int make_dir(const char *path, bool parents, bool exist_ok, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = 0;
  if (parents) {
    char *above = tm_path_dir(path);
    rc = tm_fs_make_dirs(fs, above, 0777, err);
    free(above);
  }
  if (rc < 0)
    return rc;
  rc = fs->mkdir(fs->self, path, 0777);
  bool is_there = rc == -EEXIST && fs->stat(fs->self, path, true, &st) == 0 && S_ISDIR(st.mode);
  if (rc == 0 || (is_there && exist_ok))
    return 0;
  if (is_there)
    return tm_err_set(
        err, rc, "cannot make folder '%s': it exists ({ exist_ok = true } accepts that)", path);
  if (rc == -ENOENT)
    return tm_err_set(err, rc,
                      "cannot make folder '%s': the folder above it is missing ({ parents = true } "
                      "makes it)",
                      path);
  return tm_err_system(err, rc, "cannot make folder '%s'", path);
}

static int fs_mkdir(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct option options[] = { { "parents", false }, { "exist_ok", false }, { NULL, false } };
  size_t len = strlen(tm_lua_check_path(L, 1));
  const char *path = lua_tostring(L, 1);
  read_options(L, 2, "mkdir", options);
  while (len > 1 && path[len - 1] == '/')
    len--;
  lua_pushlstring(L, path, len); /* "a/b/" is made as "a/b" */
  path = lua_tostring(L, -1);
  return tm_lua_push_outcome(L, make_dir(path, options[0].value, options[1].value, &err), &err);
}

struct names {
  struct tm_buf *text; /* each with its NUL */
  int count;
};

static int on_name(void *data, const char *name, int type)
{
  struct names *n = data;
  tm_buf_add(n->text, name, strlen(name) + 1);
  n->count++;
  return 0;
}

static int by_bytes(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int fs_list(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  const char *path = tm_lua_check_path(L, 1);
  struct names names = { tm_lua_hold_buf(L), 0 };
  int held = lua_gettop(L), rc = tm_dir_read(path, on_name, &names);
  if (rc < 0) {
    tm_err_system(&err, rc, "cannot list folder '%s'", path);
    tm_lua_let_go(L, held);
    return tm_lua_push_err(L, &err);
  }
  const char **sorted = lua_newuserdata(L, (size_t)(names.count + 1) * sizeof *sorted);
  const char *at = tm_buf_str(names.text);
  for (int i = 0; i < names.count; i++, at += strlen(at) + 1)
    sorted[i] = at;
  qsort(sorted, (size_t)names.count, sizeof *sorted, by_bytes);
  lua_createtable(L, names.count, 0);
  for (int i = 0; i < names.count; i++) {
    lua_pushstring(L, sorted[i]);
    lua_rawseti(L, -2, i + 1);
  }
  tm_lua_let_go(L, held);
  return 1;
}

/* ---- questions ---- */

static const char *type_name(uint32_t mode)
{
  if (S_ISREG(mode))
    return "file";
  if (S_ISDIR(mode))
    return "directory";
  return S_ISLNK(mode) ? "link" : "other";
}

static int fs_stat(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_stat st;
  struct option options[] = { { "follow", true }, { NULL, false } };
  const char *path = tm_lua_check_path(L, 1);
  read_options(L, 2, "stat", options);
  int rc = tm_fs_real()->stat(tm_fs_real()->self, path, options[0].value, &st);
  if (rc < 0) {
    tm_err_system(&err, rc, "cannot look at '%s'", path);
    return tm_lua_push_err(L, &err);
  }
  lua_createtable(L, 0, 4);
  lua_pushstring(L, type_name(st.mode));
  lua_setfield(L, -2, "type");
  lua_pushnumber(L, (lua_Number)st.size);
  lua_setfield(L, -2, "size");
  lua_pushnumber(L, (lua_Number)st.mtime_ns / 1e9);
  lua_setfield(L, -2, "mtime");
  lua_pushinteger(L, (lua_Integer)(st.mode & 07777));
  lua_setfield(L, -2, "mode");
  return 1;
}

static int fs_exists(lua_State *L)
{
  lua_pushboolean(L, tm_fs_exists(tm_fs_real(), tm_lua_check_path(L, 1)));
  return 1;
}

/* ---- removal ---- */

/* Whether the path has no name of its own: "", "/", ".", "..", also with slashes after it. Removing
 * such a folder would remove more than the user meant. */
static bool is_root(const char *path)
{
  size_t end = strlen(path), start;
  while (end > 0 && path[end - 1] == '/')
    end--;
  for (start = end; start > 0 && path[start - 1] != '/';)
    start--;
  size_t len = end - start;
  return len == 0 || (len <= 2 && strncmp(path + start, "..", len) == 0);
}

static int fs_remove(lua_State *L)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_stat st;
  struct option options[] = { { "recursive", false }, { NULL, false } };
  const struct tm_fs *fs = tm_fs_real();
  const char *path = tm_lua_check_path(L, 1);
  read_options(L, 2, "remove", options);
  if (options[0].value && is_root(path)) {
    tm_err_set(&err, TM_EUSAGE, "fs.remove: '%s' is not removed with all that is in it", path);
    return tm_lua_raise(L, &err);
  }
  int rc = fs->stat(fs->self, path, false, &st);
  if (rc == 0 && options[0].value)
    return tm_lua_push_outcome(L, tm_tree_remove(path, &err), &err);
  if (rc == 0)
    rc = fs->unlink(fs->self, path);
  if (rc == -ENOTEMPTY)
    tm_err_set(
        &err, rc,
        "cannot remove '%s': the folder is not empty ({ recursive = true } removes what is in it)",
        path);
  else if (rc < 0)
    tm_err_system(&err, rc, "cannot remove '%s'", path);
  return tm_lua_push_outcome(L, rc, &err);
}

static const luaL_Reg fs_functions[] = {
  { "read", fs_read }, { "write", fs_write }, { "append", fs_append }, { "mkdir", fs_mkdir },
  { "list", fs_list }, { "stat", fs_stat },   { "exists", fs_exists }, { "remove", fs_remove },
  { "copy", fs_copy }, { NULL, NULL },
};

int tm_lua_open_fs(lua_State *L)
{
  luaL_newlib(L, fs_functions);
  return 1;
}
