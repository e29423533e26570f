/* lib_tokenizer.h - tidemill.tokenizer_c, the C half of tidemill.tokenizer. */
#ifndef TM_MODEL_LIB_TOKENIZER_H
#define TM_MODEL_LIB_TOKENIZER_H

#include <lua.h>

int tm_lua_open_tokenizer_c(lua_State *L);

#endif
