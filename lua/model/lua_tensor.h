/* lua_tensor.h - tensors between C and Lua.
 *
 * A tensor in Lua is a userdata with a struct tm_tensor_handle (tensor_ffi.h). The elements of a
 * new tensor lie in the same userdata, so that the collector and the memory limit count them. The
 * environment table of one over other memory has the owner of that memory: a column of a frame, the
 * tensor that it is a slice of.
 *
 *   t = tm_lua_tensor_new(L, TM_TENSOR_FLOAT32, 2, shape);   pushes it; fill t->data
 *   t = tm_lua_check_tensor(L, 1);                           an argument
 */
#ifndef TM_MODEL_LUA_TENSOR_H
#define TM_MODEL_LUA_TENSOR_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "data/tensor/tensor.h"

/* Pushes a new tensor, all zero (strings: empty), 64-byte aligned. For 2 GB or more, and if there
 * is not enough memory, raises at the innermost line of the script. The pointer is valid while the
 * tensor is alive. */
struct tm_tensor *tm_lua_tensor_new(lua_State *L, enum tm_tensor_type type, int32_t rank,
                                    const int64_t *shape);
/* Pushes a new tensor of strings, all empty, with room for all their bytes, which the caller fills
 * and points the strings to. */
struct tm_tensor *tm_lua_tensor_new_strings(lua_State *L, int32_t rank, const int64_t *shape,
                                            int64_t bytes, char **room);
/* Pushes a tensor over memory that the value at `owner` keeps alive. `ended`: *ended is 0 while the
 * memory may be read, and lives as long as `owner`; NULL: always. */
struct tm_tensor *tm_lua_tensor_over(lua_State *L, const struct tm_tensor *tensor, int owner,
                                     const int32_t *ended);

bool tm_lua_is_tensor(lua_State *L, int at);
/* Raises unless it is a tensor whose memory may be read. The pointer is valid while the value is
 * alive. */
const struct tm_tensor *tm_lua_check_tensor(lua_State *L, int at);

int tm_lua_open_tensor_c(lua_State *L); /* the C half of tidemill.tensor */

#endif
