/* lib_develop.h - `require "tidemill.develop_c"`: the C half of load_script(), mini_batches() and
 * rerun(), for developing entry scripts at a prompt (stdlib/tidemill/develop.lua; its functions:
 * _meta/develop_c.lua).
 */
#ifndef TM_PROMPT_LIB_DEVELOP_H
#define TM_PROMPT_LIB_DEVELOP_H

#include <lua.h>

int tm_lua_open_develop_c(lua_State *L);

#endif
