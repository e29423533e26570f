/* lib_onnx.h - the C module tidemill.onnx_c, the C half of tidemill.onnx. */
#ifndef TM_MODEL_LIB_ONNX_H
#define TM_MODEL_LIB_ONNX_H

#include <lua.h>

int tm_lua_open_onnx_c(lua_State *L);

#endif
