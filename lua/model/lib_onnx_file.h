/* lib_onnx_file.h - the C module tidemill.onnx_file_c, the C half of onnx.inspect. */
#ifndef TM_MODEL_LIB_ONNX_FILE_H
#define TM_MODEL_LIB_ONNX_FILE_H

#include <lua.h>

int tm_lua_open_onnx_file_c(lua_State *L);

#endif
