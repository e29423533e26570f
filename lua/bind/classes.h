/* classes.h - one function of `require "tidemill.plan"`; stdlib/tidemill/_meta/plan.lua describes
 * it. */
#ifndef TM_BIND_CLASSES_H
#define TM_BIND_CLASSES_H

#include <lua.h>

int tm_lua_classes(lua_State *L);

#endif
