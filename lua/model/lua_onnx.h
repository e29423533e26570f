/* lua_onnx.h - what a model says about itself, and what it returns, as Lua values: for lib_onnx.c.
 * All may raise (memory).
 */
#ifndef TM_MODEL_LUA_ONNX_H
#define TM_MODEL_LUA_ONNX_H

#include <lua.h>

#include "model/model_session.h"

/* Pushes a table {inputs, outputs, providers, metadata}. */
void tm_lua_push_model(lua_State *L, const struct tm_loaded_model *m);
/* Pushes output `i`: a tensor with memory of its own, or the items of a sequence, or a map. False,
 * with an error, if its pieces cannot be joined; nothing is pushed. */
bool tm_lua_push_output(lua_State *L, const struct tm_results *results, size_t i,
                        struct tm_err *err);

#endif
