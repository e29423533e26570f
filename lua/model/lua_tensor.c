/* lua_tensor.c - see lua_tensor.h.
 *
 *  (1) The collector does little work for one large allocation, and LuaJIT does not collect when a
 *      request is refused. So tensors make the collector work in proportion to their size, some MB
 *      at a time: such a step ends with its cycle, and many small ones would make more cycles. A
 *      tensor that is refused is tried again after a full collection.
 */
#include "model/lua_tensor.h"

#include <lauxlib.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "bind/hold.h"
#include "bind/state.h"
#include "data/tensor/tensor_types.h"
#include "model/lua_tensor_own.h"

#define ALIGNMENT 64
#define LARGE     32768
#define STEP      ((size_t)4 << 20) /* bytes of large tensors after which the collector works */

static const int32_t never = 0;
static const char owed_key = 0; /* its address names the bytes in the registry */

/* ---- memory ---- */

/* allocate(size as a light userdata) -> userdata */
static int allocate(lua_State *L)
{
  lua_newuserdata(L, (size_t)(uintptr_t)lua_touserdata(L, 1));
  return 1;
}

/* Pushes a userdata: 0; or an error: its status. */
static int try_to_allocate(lua_State *L, size_t size)
{
  lua_pushcfunction(L, allocate);
  lua_pushlightuserdata(L, (void *)(uintptr_t)size);
  return lua_pcall(L, 1, 1, 0);
}

static int raise_shape(lua_State *L, const char *before, int32_t type, int32_t rank,
                       const int64_t *shape, const char *after)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf *text = tm_lua_hold_buf(L);
  tm_tensor_add_shape(text, rank, shape);
  tm_err_set(&err, TM_EUSAGE, "%s %s %s%s", before, tm_tensor_type_name(type), tm_buf_str(text),
             after);
  tm_lua_let_go(L, -1);
  return tm_lua_raise(L, &err);
}

/* Keeps (1). */
static void charge(lua_State *L, size_t size)
{
  if (size < LARGE)
    return;
  lua_pushlightuserdata(L, (void *)&owed_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  size_t owed = (size_t)lua_tonumber(L, -1) + size;
  lua_pop(L, 1);
  if (owed >= STEP) {
    lua_gc(L, LUA_GCSTEP, (int)(owed / 1024));
    owed = 0;
  }
  lua_pushlightuserdata(L, (void *)&owed_key);
  lua_pushnumber(L, (lua_Number)owed);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

/* Pushes a userdata with room for a handle and `bytes`, aligned. Keeps (1). */
static struct tm_tensor_handle *push_memory(lua_State *L, int32_t type, int32_t rank,
                                            const int64_t *shape, int64_t bytes)
{
  size_t size = sizeof(struct tm_tensor_handle) + ALIGNMENT - 1 + (size_t)bytes;
  charge(L, size);
  int status = try_to_allocate(L, size);
  if (status == LUA_ERRMEM) {
    lua_pop(L, 1);
    lua_gc(L, LUA_GCCOLLECT, 0);
    status = try_to_allocate(L, size);
  }
  if (status == LUA_ERRMEM)
    raise_shape(L, "not enough memory for a tensor of", type, rank, shape, "");
  if (status != 0)
    lua_error(L);
  return lua_touserdata(L, -1);
}

/* ---- tensors ---- */

static void push_meta(lua_State *L)
{
  lua_getfield(L, LUA_REGISTRYINDEX, TM_TENSOR_META);
  if (!lua_isnil(L, -1))
    return;
  lua_pop(L, 1); /* the first tensor of this state comes from C */
  lua_getglobal(L, "require");
  lua_pushliteral(L, "tidemill.tensor");
  lua_call(L, 1, 0);
  lua_getfield(L, LUA_REGISTRYINDEX, TM_TENSOR_META);
}

/* Gives the userdata at the top its metatable, and the value at the top below it, a table, as its
 * environment; leaves the userdata. */
static void finish(lua_State *L)
{
  lua_insert(L, -2); /* [userdata, environment] */
  lua_setfenv(L, -2);
  push_meta(L);
  lua_setmetatable(L, -2);
}

static struct tm_tensor *push_new(lua_State *L, int32_t type, int32_t rank, const int64_t *shape,
                                  int64_t more, char **room)
{
  tm_require(tm_tensor_type_name(type) != NULL && rank >= 0 && rank <= TM_TENSOR_MAX_RANK);
  int64_t bytes = tm_tensor_shape_bytes(type, rank, shape);
  tm_require(more >= 0);
  if (bytes < 0 || bytes > TM_TENSOR_BYTES_MAX || more > TM_TENSOR_BYTES_MAX - bytes)
    raise_shape(L, "a tensor of", type, rank, shape, " has 2 GB or more; accepted: less than 2 GB");
  luaL_checkstack(L, 8, "a tensor");
  lua_createtable(L, 0, 0);
  struct tm_tensor_handle *h = push_memory(L, type, rank, shape, bytes + more);
  *h = (struct tm_tensor_handle) { .tensor = { .type = type, .rank = rank }, .ended = &never };
  if (rank > 0) /* otherwise `shape` may be NULL */
    memcpy(h->tensor.shape, shape, (size_t)rank * sizeof *shape);
  uintptr_t data = ((uintptr_t)(h + 1) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  h->tensor.data = (void *)data;
  memset(h->tensor.data, 0, (size_t)bytes);
  if (room != NULL)
    *room = (char *)data + bytes;
  finish(L);
  return &h->tensor;
}

struct tm_tensor *tm_lua_tensor_new(lua_State *L, enum tm_tensor_type type, int32_t rank,
                                    const int64_t *shape)
{
  return push_new(L, (int32_t)type, rank, shape, 0, NULL);
}

struct tm_tensor *tm_lua_tensor_new_strings(lua_State *L, int32_t rank, const int64_t *shape,
                                            int64_t bytes, char **room)
{
  return push_new(L, TM_TENSOR_STRING, rank, shape, bytes, room);
}

struct tm_tensor *tm_lua_tensor_over(lua_State *L, const struct tm_tensor *tensor, int owner,
                                     const int32_t *ended)
{
  luaL_checkstack(L, 8, "a tensor");
  lua_pushvalue(L, owner);
  lua_createtable(L, 0, 1);
  lua_insert(L, -2);
  lua_setfield(L, -2, "owner");
  struct tm_tensor_handle *h = lua_newuserdata(L, sizeof *h);
  *h = (struct tm_tensor_handle) { .tensor = *tensor, .ended = ended ? ended : &never };
  finish(L);
  return &h->tensor;
}

void tm_lua_push_tensor_handle(lua_State *L, int keep)
{
  lua_pushvalue(L, keep);
  struct tm_tensor_handle *h = lua_newuserdata(L, sizeof *h);
  *h = (struct tm_tensor_handle) { .ended = &never };
  finish(L);
}

bool tm_lua_is_tensor(lua_State *L, int at)
{
  return luaL_testudata(L, at, TM_TENSOR_META) != NULL;
}

const struct tm_tensor *tm_lua_check_tensor(lua_State *L, int at)
{
  struct tm_err err = TM_ERR_NONE;
  const struct tm_tensor_handle *h = luaL_testudata(L, at, TM_TENSOR_META);
  if (h != NULL && *h->ended == 0)
    return &h->tensor;
  if (h == NULL)
    tm_err_set(&err, TM_EUSAGE, "a %s was given; accepted: a tensor", luaL_typename(L, at));
  else
    tm_err_set(&err, TM_EUSAGE, TM_TENSOR_ENDED);
  tm_lua_raise(L, &err);
  return NULL;
}
