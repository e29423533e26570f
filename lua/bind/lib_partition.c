/* lib_partition.c - plan.partition: the C half of dataset:partition_by().
 *
 * Errors raise at the innermost line of the user's code; then only userdata hold memory from
 * malloc.
 */
#include "lib_partition.h"

#include <stdlib.h>

#include "base/path.h"
#include "data/table/table_partition.h"
#include "hold.h"
#include "lib_store.h"
#include "plan/datasets.h"
#include "state.h"

static struct tm_dataset *read_dataset(lua_State *L, int at, const char *dir, struct tm_err *err)
{
  struct tm_json *v = tm_lua_to_json(L, at, err);
  struct tm_dataset *d = v ? tm_plan_dataset(v, dir, err) : NULL;
  tm_json_free(v);
  return d;
}

/* Pushes a userdata with the strings of the list at `at`, which keeps them. */
static char **push_keys(lua_State *L, int at, size_t *n)
{
  *n = lua_objlen(L, at);
  char **keys = lua_newuserdata(L, (*n + 1) * sizeof(*keys));
  for (size_t i = 0; i < *n; i++) {
    lua_rawgeti(L, at, (int)i + 1);
    keys[i] = (char *)luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  return keys;
}

/* partition(dataset, keys, target, base_dir or nil, overwrite) -> definition, notes or nil */
int tm_lua_partition(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  const char *target = luaL_checkstring(L, 3), *against = luaL_optstring(L, 4, NULL);
  lua_settop(L, 5);
  size_t n;
  char **keys = push_keys(L, 2, &n);           /* [6] */
  struct tm_json **held = tm_lua_hold_tree(L); /* [7] */
  struct tm_buf *notes = tm_lua_hold_buf(L);   /* [8] */
  struct tm_err err = TM_ERR_NONE;
  char *dir = tm_lua_base_dir(L, &err);
  struct tm_dataset *d = dir ? read_dataset(L, 1, dir, &err) : NULL;
  char *path = d ? tm_path_absolute(against ? against : dir, target) : NULL;
  struct tm_table_partition p = { .fs = tm_fs_real(),
                                  .dataset = d,
                                  .keys = keys,
                                  .keys_len = n,
                                  .target = path,
                                  .overwrite = lua_toboolean(L, 5) };
  if (d && !(*held = tm_table_partition(&p, notes, &err)))
    tm_err_wrap(&err, "dataset:partition_by");
  free(path);
  tm_dataset_free(d);
  free(dir);
  if (!*held) {
    tm_lua_let_go(L, 8);
    return tm_lua_raise(L, &err);
  }
  tm_lua_push_json(L, *held);
  if (notes->len > 0)
    lua_pushlstring(L, notes->data, notes->len);
  else
    lua_pushnil(L);
  tm_lua_let_go(L, 7);
  tm_lua_let_go(L, 8);
  return 2;
}
