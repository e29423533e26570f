/* lib_image.h - the C half of tidemill.image. stdlib/tidemill/_meta/image_c.lua describes it. */
#ifndef TM_MODEL_LIB_IMAGE_H
#define TM_MODEL_LIB_IMAGE_H

#include <lua.h>

int tm_lua_open_image_c(lua_State *L);

#endif
