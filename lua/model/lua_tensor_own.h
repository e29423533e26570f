/* lua_tensor_own.h - shared by lua_tensor.c and lib_tensor.c. */
#ifndef TM_MODEL_LUA_TENSOR_OWN_H
#define TM_MODEL_LUA_TENSOR_OWN_H

#include <lua.h>

#include "model/tensor_ffi.h"

#define TM_TENSOR_META "tidemill.tensor" /* in the registry: the metatable of tensors */

#define TM_TENSOR_ENDED                                                                            \
  "this tensor shared memory that is gone: that of a data frame that ended when run() returned, "  \
  "or of an earlier step of a loop; keep t:copy() instead"

/* Pushes a tensor that is all zero; its environment is the table at `keep`. */
void tm_lua_push_tensor_handle(lua_State *L, int keep);

#endif
