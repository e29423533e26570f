/* lib_store.c - tidemill.store: the C half of Workspace, Datastore and registered datasets in
 * stdlib/tidemill/workspace.lua.
 *
 * Each call opens the workspace's database, does one thing and closes it. Errors raise at the
 * innermost line of the user's code; then only userdata hold memory from malloc.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "hold.h"
#include "lib_store.h"
#include "plan/datasets.h"
#include "params/params.h"
#include "plan/params_check.h"
#include "state.h"
#include "store/datastores.h"
#include "store/registry.h"
#include "store/workspace.h"
#include "sys/clock.h"
#include "sys/fs.h"

char *tm_lua_base_dir(lua_State *L, struct tm_err *err)
{
  struct tm_buf where = TM_BUF_NONE;
  char *cwd, *file = NULL, *dir = NULL;
  lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_FILE);
  cwd = getcwd(NULL, 0);
  if (!cwd)
    tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
  else if (lua_isstring(L, -1))
    file = tm_path_absolute(cwd, lua_tostring(L, -1));
  else if (tm_lua_user_line(L, &where))
    file = tm_path_absolute(cwd, tm_buf_str(&where));
  lua_pop(L, 1);
  tm_buf_release(&where);
  dir = file ? tm_path_dir(file) : tm_xstrdup(cwd); /* NULL gives NULL */
  free(file);
  free(cwd);
  return dir;
}

/* Ends a call: raises the error in `err`, else returns *held as a Lua value, or nothing if it is
 * NULL.
 */
static int answer(lua_State *L, int at, struct tm_json **held, const struct tm_err *err)
{
  if (err->code < 0) {
    tm_lua_let_go(L, at);
    return tm_lua_raise(L, err);
  }
  if (!*held)
    return 0;
  tm_lua_push_json(L, *held);
  tm_lua_let_go(L, at);
  return 1;
}

static struct tm_json *strings(const char *first, const char *first_value, const char *second,
                               const char *second_value)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, first, tm_json_new_string(first_value));
  if (second)
    tm_json_set(v, second, tm_json_new_string(second_value));
  return v;
}

/* workspace(path or nil) -> absolute path of the existing folder. */
static int store_workspace(lua_State *L)
{
  const char *given = luaL_optstring(L, 1, NULL);
  lua_settop(L, 1);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  char *dir = tm_lua_base_dir(L, &err), *file = dir ? tm_path_join(dir, "file") : NULL;
  const char *named = getenv(TM_WORKSPACE_VARIABLE);
  /* A path in the variable starts in the current directory, a path in a file in the file's folder.
   */
  char *cwd = dir ? getcwd(NULL, 0) : NULL;
  char *path = dir && given ? tm_path_absolute(dir, given) : NULL;
  char *meant = path ? tm_workspace_meant(tm_fs_real(), path, named, cwd ? cwd : dir) : NULL;
  char *found =
      dir ? tm_workspace_find(tm_fs_real(), file, meant ? meant : named, cwd ? cwd : dir, &err)
          : NULL;
  if (found)
    *held = strings("path", found, NULL, NULL);
  free(found);
  free(meant);
  free(path);
  free(cwd);
  free(file);
  free(dir);
  return answer(L, 2, held, &err);
}

/* ---- registered datasets ---- */

static struct tm_json *registered_tree(const struct tm_registered *r, const char *workspace)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *definition = tm_json_set(v, "definition", tm_json_copy(r->definition));
  tm_json_set(v, "type", tm_json_new_string(r->definition->tag));
  tm_json_set(definition, "registered", tm_json_new_string(r->name));
  tm_json_set(definition, "version", tm_json_new_int(r->version));
  tm_json_set(definition, "workspace", tm_json_new_string(workspace));
  tm_json_set(v, "description", tm_json_new_string(r->description));
  tm_json_set(v, "tags", r->tags ? tm_json_copy(r->tags) : tm_json_new(TM_JSON_OBJECT));
  return v;
}

/* The dataset at `at`, with the folder of its relative paths and its options in canonical form;
 * NULL and an error. */
static struct tm_dataset *read_dataset(lua_State *L, int at, struct tm_err *err)
{
  struct tm_json *v = tm_lua_to_json(L, at, err);
  char *dir = v ? tm_lua_base_dir(L, err) : NULL;
  struct tm_dataset *d = dir ? tm_plan_dataset(v, dir, err) : NULL;
  free(dir);
  tm_json_free(v);
  return d;
}

/* Reads and checks the options of register(); NULL and an error. */
static struct tm_json *read_options(lua_State *L, int at, struct tm_err *err)
{
  struct tm_json *v =
      lua_isnoneornil(L, at) ? tm_json_new(TM_JSON_OBJECT) : tm_lua_to_json(L, at, err);
  if (v && tm_params_check("dataset:register", v, err) == 0)
    return v;
  tm_json_free(v);
  return NULL;
}

static struct tm_json *register_dataset(const char *workspace, const char *name,
                                        const struct tm_dataset *d, const struct tm_json *options,
                                        struct tm_err *err)
{
  const struct tm_json *given = tm_json_get(options, "tags");
  struct tm_json *v = NULL, *tags = NULL;
  struct tm_registered out = { 0 };
  if (given)
    tags = tm_params_value(tm_params_find("dataset:register", "tags"), given, err);
  struct tm_registration r = { .fs = tm_fs_real(),
                               .name = name,
                               .dataset = d,
                               .description = tm_json_str(options, "description", NULL),
                               .tags = tags,
                               .create_new_version =
                                   tm_json_bool(options, "create_new_version", false),
                               .wall_ns = tm_clock_wall_ns() };
  int rc = tm_registry_add(&out, workspace, &r, err);
  if (rc >= 0)
    v = registered_tree(&out, workspace);
  if (rc > 0) /* an old version keeps its own */
    tm_json_set(v, "files", tm_json_new_int(out.identity.files));
  tm_registered_release(&out);
  tm_json_free(tags);
  return v;
}

/* register(workspace, name, dataset, options or nil) -> { definition, type, description, tags },
 * and `files` of a new version */
static int store_register(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 4);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *options = read_options(L, 4, &err);
  struct tm_dataset *d = options ? read_dataset(L, 3, &err) : NULL;
  if (d)
    *held = register_dataset(workspace, name, d, options, &err);
  tm_dataset_free(d);
  tm_json_free(options);
  return answer(L, 5, held, &err);
}

/* get(workspace, name, version as text or nil) -> as register() */
static int store_get(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  const char *given = luaL_optstring(L, 3, "latest");
  lua_settop(L, 3);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered r = { 0 };
  int64_t version;
  if (tm_registry_read_version(&version, given, &err) == 0 &&
      tm_registry_find(&r, workspace, name, version, &err) == 0)
    *held = registered_tree(&r, workspace);
  tm_registered_release(&r);
  return answer(L, 4, held, &err);
}

/* unregister(workspace, name): all versions. */
static int store_unregister(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  struct tm_err err = TM_ERR_NONE;
  return tm_registry_remove(workspace, name, 0, &err) < 0 ? tm_lua_raise(L, &err) : 0;
}

/* ---- datastores ---- */

/* datastore(workspace, name or nil) -> { name, path } */
static int store_datastore(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_optstring(L, 2, NULL);
  lua_settop(L, 2);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  struct tm_datastore d;
  if (tm_datastore_find(&d, tm_fs_real(), workspace, name, &err) == 0)
    *held = strings("name", d.name, "path", d.path);
  tm_datastore_release(&d);
  return answer(L, 3, held, &err);
}

/* datastores(workspace) -> list of names */
static int store_datastores(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  struct tm_datastore_list all = { 0 };
  if (tm_datastore_list(&all, workspace, &err) == 0) {
    *held = tm_json_new(TM_JSON_ARRAY);
    for (size_t i = 0; i < all.len; i++)
      tm_json_add(*held, tm_json_new_string(all.at[i].name));
  }
  tm_datastore_list_release(&all);
  return answer(L, 2, held, &err);
}

/* datasets(workspace) -> names of the registered datasets. */
static int store_datasets(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered_list all = { 0 };
  if (tm_registry_list(&all, workspace, NULL, &err) == 0) {
    *held = tm_json_new(TM_JSON_ARRAY);
    for (size_t i = 0; i < all.len; i++)
      tm_json_add(*held, tm_json_new_string(all.at[i].name));
  }
  tm_registered_list_release(&all);
  return answer(L, 2, held, &err);
}

/* add_datastore(workspace, name, path, overwrite) -> { name, path } */
static int store_add_datastore(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  const char *given = luaL_checkstring(L, 3);
  lua_settop(L, 4);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  char *dir = tm_lua_base_dir(L, &err), *path = dir ? tm_path_absolute(dir, given) : NULL;
  if (path && tm_datastore_add(tm_fs_real(), workspace, name, path, lua_toboolean(L, 4),
                               tm_clock_wall_ns(), &err) == 0)
    *held = strings("name", name, "path", path);
  free(path);
  free(dir);
  return answer(L, 5, held, &err);
}

static int store_set_default(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_datastore_set_default(tm_fs_real(), workspace, name, &err);
  return rc < 0 ? tm_lua_raise(L, &err) : 0;
}

static int store_remove_datastore(lua_State *L)
{
  const char *workspace = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2);
  struct tm_err err = TM_ERR_NONE;
  return tm_datastore_remove(workspace, name, &err) < 0 ? tm_lua_raise(L, &err) : 0;
}

/* absolute(path) -> an absolute path, from the folder where relative paths start. */
static int store_absolute(lua_State *L)
{
  const char *given = luaL_checkstring(L, 1);
  lua_settop(L, 1);
  struct tm_json **held = tm_lua_hold_tree(L);
  struct tm_err err = TM_ERR_NONE;
  char *dir = tm_lua_base_dir(L, &err), *path = dir ? tm_path_absolute(dir, given) : NULL;
  if (path)
    *held = tm_json_new_string(path);
  free(path);
  free(dir);
  return answer(L, 2, held, &err);
}

/* note(message): shown after the innermost line of the user's code, when the pipeline file has been
 * loaded; in a script at once. */
static int store_note(lua_State *L)
{
  const char *words = luaL_checkstring(L, 1);
  struct tm_buf where = TM_BUF_NONE;
  char place[PATH_MAX] = "";
  if (tm_lua_user_line(L, &where))
    snprintf(place, sizeof(place), "%s: ", where.data);
  tm_buf_release(&where);
  lua_getfield(L, LUA_REGISTRYINDEX, TM_LUA_NOTES);
  if (lua_istable(L, -1)) {
    lua_pushfstring(L, "%s%s", place, words);
    lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
  } else if (lua_toboolean(L, -1))
    fprintf(stderr, "tidemill: note: %s%s\n", place, words);
  return 0;
}

static const luaL_Reg store_functions[] = {
  { "workspace", store_workspace },
  { "register", store_register },
  { "get", store_get },
  { "unregister", store_unregister },
  { "datastore", store_datastore },
  { "datasets", store_datasets },
  { "datastores", store_datastores },
  { "add_datastore", store_add_datastore },
  { "set_default_datastore", store_set_default },
  { "remove_datastore", store_remove_datastore },
  { "absolute", store_absolute },
  { "note", store_note },
  { NULL, NULL },
};

int tm_lua_open_store(lua_State *L)
{
  luaL_newlib(L, store_functions);
  return 1;
}
