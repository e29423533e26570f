/* lib_tensor.c - tidemill.tensor_c, the C half of tidemill.tensor (stdlib/tidemill/tensor.lua),
 * which has checked the arguments. */
#include "model/lua_tensor.h"

#include <lauxlib.h>

#include "data/tensor/tensor_ops.h"
#include "data/tensor/tensor_types.h"
#include "model/lua_tensor_own.h"

/* setup(metatable): the metatable of tensors, for the registry. */
static int tensor_setup(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushvalue(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, TM_TENSOR_META);
  return 0;
}

static int32_t check_shape(lua_State *L, int at, int64_t *shape)
{
  luaL_checktype(L, at, LUA_TTABLE);
  size_t rank = lua_objlen(L, at);
  luaL_argcheck(L, rank <= TM_TENSOR_MAX_RANK, at, "too many axes");
  for (size_t i = 0; i < rank; i++) {
    lua_rawgeti(L, at, (int)i + 1);
    lua_Number n = luaL_checknumber(L, -1);
    luaL_argcheck(L, n >= 0 && n <= 9007199254740992.0, at, "a size");
    shape[i] = (int64_t)n;
    lua_pop(L, 1);
  }
  return (int32_t)rank;
}

/* new(type's number, shape, bytes of strings or nil) -> tensor; and for strings where their bytes
 * go, as a light userdata */
static int tensor_new(lua_State *L)
{
  int64_t shape[TM_TENSOR_MAX_RANK];
  int32_t type = (int32_t)luaL_checkinteger(L, 1);
  luaL_argcheck(L, tm_tensor_type_name(type) != NULL, 1, "a type");
  int32_t rank = check_shape(L, 2, shape);
  if (type != TM_TENSOR_STRING) {
    tm_lua_tensor_new(L, (enum tm_tensor_type)type, rank, shape);
    return 1;
  }
  char *room = NULL;
  lua_Number bytes = luaL_optnumber(L, 3, 0);
  luaL_argcheck(L, bytes >= 0 && bytes <= 9007199254740992.0, 3, "a size");
  tm_lua_tensor_new_strings(L, rank, shape, (int64_t)bytes, &room);
  lua_pushlightuserdata(L, room);
  return 2;
}

/* new_handle(keep) -> a tensor, all zero, with the table `keep` as its environment */
static int tensor_new_handle(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TTABLE);
  tm_lua_push_tensor_handle(L, 1);
  return 1;
}

static const luaL_Reg tensor_functions[] = {
  { "setup", tensor_setup },
  { "new", tensor_new },
  { "new_handle", tensor_new_handle },
  { NULL, NULL },
};

int tm_lua_open_tensor_c(lua_State *L)
{
  luaL_newlib(L, tensor_functions);
  lua_pushlightuserdata(L, (void *)tm_tensor_ops());
  lua_setfield(L, -2, "ops");
  lua_pushliteral(L, TM_TENSOR_ENDED);
  lua_setfield(L, -2, "ended");
  return 1;
}
